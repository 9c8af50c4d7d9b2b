//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestRewindBeneathAnotherSession: after a rewind, a reject of what another session has made of the same lines brings the person's lines back.
func TestRewindBeneathAnotherSession(t *testing.T) {
	t.Parallel()
	for _, accepts := range []bool{false, true} {
		w := world.New(t)
		w.Makes("printf 'one\\ntwo\\nmy five\\nsix\\n' >f")
		before := w.Get("f")
		w.Start()
		e := w.Opens()
		w.Plays(commands("printf 'one\\ntwo\\nfive by s1\\nextra by s1\\nsix\\n' >f")...)
		first := e.Turn(world.Obj{"prompt": "first"})
		if accepts {
			e.Decides("diff/accept", world.Obj{"all": true})
		}
		w.Plays(commands("sed -i 's/five by s1/FIVE BY S2/' f")...)
		e.Turn(world.Obj{"prompt": "of another session"})
		rewinds(e, first, nil)
		require.Equal(t, "one\ntwo\nFIVE BY S2\nsix\n", w.Get("f"))
		require.Contains(t, e.Diffs()["f"].Hunks[0].Lines, "-my five")
		e.Decides("diff/reject", world.Obj{"all": true})
		require.Equal(t, before, w.Get("f"))
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		require.Contains(t, w.Get("f"), "extra by s1")
	}
}

// TestRewindBeneathADeletion: after a rewind, a reject of what another session has deleted brings back the file from before both.
func TestRewindBeneathADeletion(t *testing.T) {
	t.Parallel()
	for _, accepts := range []bool{false, true} {
		w := world.New(t)
		w.Put("f", "one\ntwo\nthree\n")
		w.Start()
		e := w.Opens()
		w.Plays(commands("sed -i /two/d f")...)
		first := e.Turn(world.Obj{"prompt": "first"})
		if accepts {
			e.Decides("diff/accept", world.Obj{"all": true})
		}
		w.Plays(commands("rm f")...)
		e.Turn(world.Obj{"prompt": "of another session"})
		rewinds(e, first, nil)
		require.Equal(t, []string{"-one", "-two", "-three"}, e.Diffs()["f"].Hunks[0].Lines)
		e.Decides("diff/reject", world.Obj{"all": true})
		require.Equal(t, "one\ntwo\nthree\n", w.Get("f"))
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		e.Decides("diff/reject", world.Obj{"all": true})
		require.Equal(t, map[bool]string{true: "one\nthree\n", false: "one\ntwo\nthree\n"}[accepts], w.Get("f"))
	}
}

// TestRedoOfADecisionAfterARewind undoes a rewind and the accept after it, and makes both again: nothing is pending, as after the accept.
func TestRedoOfADecisionAfterARewind(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Makes("printf 'one\\nmy nine\\nten\\n' >f")
	w.Start()
	e := w.Opens()
	w.Plays(commands("sed -i 's/my nine/nine by t1/' f")...)
	first := e.Turn(world.Obj{"prompt": "first"})
	w.Plays(commands("sed -i 's/nine by t1/nine by t2/' f")...)
	second := e.Turn(world.Obj{"prompt": "second", "sessionId": first.SessionID})
	rewinds(e, second, nil)
	e.Decides("diff/accept", world.Obj{"path": "f"})
	for range 2 {
		for _, step := range []string{"diff/undo", "diff/undo", "diff/redo", "diff/redo"} {
			e.Must(step, world.Obj{"workspace": w.Root}, nil)
		}
		require.Empty(t, e.Diffs())
		require.Equal(t, "one\nnine by t1\nten\n", w.Get("f"))
	}
}

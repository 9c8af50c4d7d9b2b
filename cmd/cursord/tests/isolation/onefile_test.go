//go:build unix

package isolation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// does runs a turn of a new isolated session with a command.
func does(w *world.World, e *world.Editor, command string) *sessions.Session {
	w.T.Helper()
	s := e.Isolates()
	w.Plays(world.Lines(world.Shells("c", command))...)
	e.Ok(s)
	return s
}

// TestUndoOfAnAcceptOfADeletionAndARewrite accepts, in one step, the deletion of a file that a person has written since, and another session's
// rewriting of what the person wrote.
func TestUndoOfAnAcceptOfADeletionAndARewrite(t *testing.T) {
	bothKinds(t, testUndoOfAnAcceptOfADeletionAndARewrite)
}

func testUndoOfAnAcceptOfADeletionAndARewrite(t *testing.T) {
	w := newWorld(t)
	w.PutAll(world.Tree{"e": "o1\n", "k": "k\n"})
	w.Start()
	e := w.Opens()
	first := does(w, e, "rm e")
	w.Put("e", "p1\n")
	e.Diffs()
	second := does(w, e, `printf 'A1\nA2\n' >e`)
	was := shape(e.Diffs()["e"])
	for range 2 {
		e.Decides("diff/accept", world.Obj{"path": "e"})
		require.Equal(t, "A1\nA2\n", w.Get("e"))
		require.Empty(t, shape(e.Diffs()["e"]))
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		require.Equal(t, "p1\n", w.Get("e"), "the person's line is back")
		require.Equal(t, was, shape(e.Diffs()["e"]))
		require.Equal(t, "(absent)", w.Copied(first, "e"))
		require.Equal(t, "A1\nA2\n", w.Copied(second, "e"))
	}
	e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, "A1\nA2\n", w.Get("e"))
	require.Empty(t, shape(e.Diffs()["e"]))
}

// TestOneDecisionAboutAFileOfSeveralSessions decides at once what two isolated sessions and one in the work tree have made of a file.
func TestOneDecisionAboutAFileOfSeveralSessions(t *testing.T) {
	bothKinds(t, testOneDecisionAboutAFileOfSeveralSessions)
}

func testOneDecisionAboutAFileOfSeveralSessions(t *testing.T) {
	before := world.Numbered(30, nil)
	w, e, all, _ := threeInOneFile(t, func(line int, text string) []string {
		return world.Shells("c", fmt.Sprintf("sed -i 's/^line %d$/%s/' f", line, text))
	})
	shared, made := w.Get("f"), world.Numbered(30, map[int]string{5: "agent a\n", 15: "agent b\n", 25: "shared\n"})
	copied := func() string { return w.Copied(all[0], "f") + w.Copied(all[1], "f") }
	was, copies := shape(e.Diffs()["f"]), copied()
	require.Len(t, e.Diffs()["f"].Hunks, 3)
	for _, decision := range []struct {
		method, work, copies string
		params               world.Obj
	}{
		{"diff/accept", made, made + made, world.Obj{"all": true}},
		{"diff/accept", made, made + made, world.Obj{"hunks": world.HunkIDs(e.Diffs()["f"])}},
		{"diff/reject", before, before + before, world.Obj{"all": true}},
	} {
		out := e.Decides(decision.method, decision.params)
		require.Empty(t, out.Skipped)
		require.Equal(t, 3, out.Applied)
		decided := func() {
			t.Helper()
			require.Equal(t, decision.work, w.Get("f"))
			require.Empty(t, e.Diffs()["f"])
			require.Equal(t, decision.copies, copied())
		}
		decided()
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		undone := func() {
			t.Helper()
			require.Equal(t, shared, w.Get("f"))
			require.Equal(t, was, shape(e.Diffs()["f"]))
			require.Equal(t, copies, copied())
		}
		undone()
		e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
		decided()
		w.Kill()
		w.Start()
		e = w.Opens()
		decided()
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		undone()
	}
}

// TestUndoOfAnAcceptThatRemovedPendingLines accepts an isolated session's removal of lines that another agent has added in the work tree, and
// that are pending there.
func TestUndoOfAnAcceptThatRemovedPendingLines(t *testing.T) {
	bothKinds(t, testUndoOfAnAcceptThatRemovedPendingLines)
}

func testUndoOfAnAcceptThatRemovedPendingLines(t *testing.T) {
	for _, removed := range []string{"P1|P2", "P."} {
		w := newWorld(t)
		before := world.Numbered(8, nil)
		w.Put("f", before)
		w.Commits()
		w.Start()
		e := w.Opens()
		w.Plays(world.Lines(world.Edits("c", "f", before, strings.Replace(before, "line 4\n", "P1\nP2\nP3\nP4\n", 1)))...)
		e.Turn(nil)
		does(w, e, fmt.Sprintf("sed -Ei '/^(%s)$/d' f", removed))
		d := e.Diffs()["f"]
		was, at := shape(d), 0
		for i, h := range d.Hunks {
			if h.Isolated {
				at = i
			}
		}
		for range 2 {
			e.Decides("diff/accept", world.Obj{"hunks": []string{d.Hunks[at].ID}})
			require.NotContains(t, w.Get("f"), "P1\n")
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			require.Equal(t, was, shape(e.Diffs()["f"]), removed)
		}
		e.Decides("diff/reject", world.Obj{"all": true})
		require.Equal(t, before, w.Get("f"))
	}
}

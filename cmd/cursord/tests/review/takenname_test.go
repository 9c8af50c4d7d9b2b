//go:build unix

package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// TestPatchesWhereANameIsTakenAgain: a turn frees a name, and a later one gives it to another file. git apply -R takes what "cursord diff"
// writes, and the preview of a rewind is a patch that git apply takes and that makes what the rewind makes.
func TestPatchesWhereANameIsTakenAgain(t *testing.T) {
	t.Parallel()
	for _, turns := range [][]string{{"mv f z"}, {"mv f z", "rm z"}, {"mv f z; mv g f; mv z g"}, {"mv f z; sed -i s/3/three/ z"}, {"rm f"}} {
		t.Run(strings.Join(turns, ", "), func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Makes("seq 9 >f; seq 20 40 >g; seq 3 >x; cp -r . ../before")
			before := w.Listing()
			w.Start()
			e := w.Opens()
			w.Plays(commands(turns[0])...)
			turn := e.Turn(nil)
			for _, next := range append(turns[1:], "seq 50 55 >f") {
				w.Plays(commands(next)...)
				e.Turn(world.Obj{"sessionId": turn.SessionID})
			}
			makesBefore := func(patch, option string) {
				require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(w.Root), "patch"), []byte(patch), 0o644))
				w.Makes("cp -r . ../copy; cd ../copy; git apply " + option + " ../patch; diff -r . ../before; rm -r ../copy")
			}
			makesBefore(w.CursordOK("diff"), "-R")
			makesBefore(rewinds(e, turn, world.Obj{"dryRun": true}).Patch, "")
			rewinds(e, turn, nil)
			require.Equal(t, before, w.Listing())
		})
	}
}

// TestDiffNamesAMoveThatCannotGoBack: a person has made a file where the agent's moved file was.
func TestDiffNamesAMoveThatCannotGoBack(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n2\n3\n")
	w.Start()
	e := w.Opens()
	w.Plays(commands("mv f g")...)
	e.Turn(nil)
	_, said, _ := w.Cursord("diff")
	require.Empty(t, said)
	w.Put("f", "mine\n")
	_, said, _ = w.Cursord("diff")
	require.Equal(t, "g was moved from f, where another file is now: git apply -R does not take the patch; move that file away first\n", said)
}

// TestUndoOfAnAcceptWithoutItsLines: the lines that were accepted are gone. The undo is refused if that is so in all files; else it is about the
// other files, and so is its redo.
func TestUndoOfAnAcceptWithoutItsLines(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n")
	w.Put("g", "1\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c", "f", "1\n", "1\nagent\n"), world.Edits("d", "g", "1\n", "1\nagent\n"))...)
	e.Turn(nil)
	e.Decides("diff/accept", world.Obj{"all": true})
	here := world.Obj{"workspace": w.Root}
	w.Put("f", "1\n")
	for range 2 {
		e.Must("diff/undo", here, nil)
		require.Len(t, e.Diffs(), 1)
		require.Len(t, e.Diffs()["g"].Hunks, 1)
		e.Must("diff/redo", here, nil)
		require.Empty(t, e.Diffs())
	}
	w.Put("g", "1\n")
	err := e.Fails("diff/undo", here)
	require.Equal(t, api.KindConflict, err.Data.Kind)
	require.Contains(t, err.Message, "cannot be taken back: those lines of g have changed since")
	require.Equal(t, api.KindNotFound, e.Fails("diff/redo", here).Data.Kind)
}

// TestRejectOfAMoveGivesWay: a person has made a file where an agent had moved one away, and the agent has removed that one, too. The person's comes
// back.
func TestRejectOfAMoveGivesWay(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("x", "1\n2\n3\n")
	w.Start()
	e := w.Opens()
	w.Plays(commands("mv x a")...)
	turn := e.Turn(nil)
	w.Put("x", "mine\nalso mine\n")
	w.Plays(commands("rm x")...)
	e.Turn(world.Obj{"sessionId": turn.SessionID})
	then := w.Listing()
	out := e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, "mine\nalso mine\n", w.Get("x"))
	require.Equal(t, "1\n2\n3\n", w.Get("a"))
	require.Equal(t, 1, out.Applied)
	require.Len(t, out.Skipped, 1)
	require.Contains(t, out.Skipped[0].Message, "a cannot go to x")
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, then, w.Listing())
}

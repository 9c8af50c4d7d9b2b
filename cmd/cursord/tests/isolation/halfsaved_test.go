//go:build unix

package isolation

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// A person's save truncates the file and writes it in two parts. A look between them takes none of the agent's hunks out of
// the copy.
func TestIsolatedHunksAndASaveInTwoWrites(t *testing.T) {
	bothKinds(t, testIsolatedHunksAndASaveInTwoWrites)
}

func testIsolatedHunksAndASaveInTwoWrites(t *testing.T) {
	a := newApart(t)
	mine := strings.Replace(a.before, "line 28\n", "mine 28\n", 1)
	for _, cut := range []int{0, len("line 1\n") + 3, strings.Index(mine, "line 6\n"), len(mine) / 2} {
		f, err := os.Create(a.w.Path("f"))
		require.NoError(t, err)
		_, err = f.WriteString(mine[:cut])
		require.NoError(t, err)
		a.e.Diffs() // the daemon reads the disk
		require.Len(t, a.e.Diffs()["f"].Hunks, 3, "cut at %d", cut)
		_, err = f.WriteString(mine[cut:])
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Len(t, a.e.Diffs()["f"].Hunks, 3, "cut at %d", cut)
		a.copies("f", strings.Replace(a.after, "line 28\n", "mine 28\n", 1))
	}
	a.e.Decides("diff/accept", world.Obj{"all": true})
	require.Equal(t, strings.Replace(a.after, "line 28\n", "mine 28\n", 1), a.w.Get("f"))
}

// If a person did shorten the file, the copy follows once the file has been quiet, and the agent's added lines are still
// offered.
func TestIsolatedHunksOfAFileThatIsCutOff(t *testing.T) {
	bothKinds(t, testIsolatedHunksOfAFileThatIsCutOff)
}

func testIsolatedHunksOfAFileThatIsCutOff(t *testing.T) {
	a := newApart(t)
	end := strings.Index(a.before, "line 20\n")
	a.w.Put("f", a.before[:end])
	require.Eventually(t, func() bool {
		return len(a.e.Diffs()["f"].Hunks) == 2 && !strings.Contains(a.w.Copied(a.s, "f"), "line 22\n")
	}, 30*time.Second, 20*time.Millisecond)
	a.e.Decides("diff/accept", world.Obj{"all": true})
	require.Equal(t, a.after[:strings.Index(a.after, "line 20\n")], a.w.Get("f"))
}

// A remark names the changed line, not the context above it. It refuses a range beyond the hunk's lines.
func TestRemarkNamesTheChangedLine(t *testing.T) {
	bothKinds(t, testRemarkNamesTheChangedLine)
}

func testRemarkNamesTheChangedLine(t *testing.T) {
	w := newWorld(t)
	before := world.Numbered(20, nil)
	w.Put("f", before)
	w.Plays(world.Lines(world.Edits("c", "f", before, world.Numbered(20, map[int]string{10: "agent 10\n"})))...)
	w.Start()
	e := w.Opens()
	session := e.Turn(nil).SessionID
	h := e.Diffs()["f"].Hunks[0]
	err := e.Fails("diff/accept", world.Obj{"workspace": w.Root, "hunks": []string{h.ID}, "lines": world.Obj{"from": 0, "to": 9}})
	require.Contains(t, err.Message, "of 2 changed lines")
	e.Must("diff/comment", world.Obj{"workspace": w.Root, "hunk": h.ID, "text": "why ten?"}, nil)
	w.Plays(world.Done)
	e.Turn(world.Obj{"sessionId": session, "prompt": "go on"})
	runs := w.Runs()
	require.Contains(t, runs[len(runs)-1].Prompt, "on your change of f, line 10: why ten?")
}

// TestAnAcceptThatTheEditorUndoesAtOnce: the daemon may not look before the undo. The decision lasts all the same, as one that was undone:
// the editor's redo makes it again, also if half of the save is seen first, and a later undo brings all hunks back. Before, it counted as
// edits that the editor had not made, and the redo as typing: then the next undo lost a hunk.
func TestAnAcceptThatTheEditorUndoesAtOnce(t *testing.T) {
	t.Parallel()
	for _, report := range []string{"first", "beside", "last"} {
		t.Run("the undo is reported "+report, func(t *testing.T) {
			t.Parallel()
			testAnAcceptThatTheEditorUndoesAtOnce(t, report)
		})
	}
}

func testAnAcceptThatTheEditorUndoesAtOnce(t *testing.T, report string) {
	w := newWorld(t)
	u := w.AboutToUndo()
	if report != "last" {
		u.Doc.Set(u.Before)
	}
	if report == "first" {
		u.E.Diffs()
	}
	w.Put("f", u.Half)
	require.True(t, world.Comes(world.Patience, func() bool { return !strings.Contains(w.Copied(u.Session, "f"), "line 28\n") }))
	if report == "last" {
		u.Doc.Set(u.Before)
		u.E.Diffs()
	}
	u.Redoes()
}

//go:build unix

package isolation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// TestAnAcceptInAFileThatIsGone is refused if it would make a file of the changed lines alone, until the file is back.
func TestAnAcceptInAFileThatIsGone(t *testing.T) { bothKinds(t, testAnAcceptInAFileThatIsGone) }

func testAnAcceptInAFileThatIsGone(t *testing.T) {
	w := newWorld(t)
	w.PutAll(world.Tree{"a": "a\nb\nc\nd\n", "all": "old\n"})
	w.Commits()
	w.Plays(world.Lines(world.Edits("1", "a", "a\nb\nc\nd\n", "a\nB\nc\nd\n"), world.Edits("2", "all", "old\n", "new\n"))...)
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	e.Ok(s)
	w.Makes("mv a r; rm all")
	before := w.Listing()
	mark := world.HunkIDs(e.Diffs()["a"])
	err := e.Fails("diff/accept", world.Obj{"workspace": w.Root, "hunks": mark})
	require.Equal(t, api.KindConflict, err.Data.Kind)
	require.Equal(t, before, w.Listing())
	out := e.Decides("diff/accept", world.Obj{"all": true})
	require.Len(t, out.Skipped, 1)
	require.Contains(t, out.Skipped[0].Message, "a is gone from the work tree")
	require.Equal(t, "(absent)", w.Get("a"))
	require.Equal(t, "new\n", w.Get("all"), "this is all of the agent's file")

	w.Makes("mv r a")
	e.Decides("diff/accept", world.Obj{"all": true})
	require.Equal(t, "a\nB\nc\nd\n", w.Get("a"))
}

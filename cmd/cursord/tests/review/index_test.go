//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestDecisionsLeaveTheIndexAlone: the agent renames a file by "git mv". A reject gives the file its name back, and leaves what
// is staged to the person.
func TestDecisionsLeaveTheIndexAlone(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("old", "one\ntwo\nthree\n")
	w.Commits()
	w.Plays(world.Lines(world.Shells("s", "git mv old new"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	require.Len(t, e.Diffs(), 1)
	staged := w.Get(".git/index")
	e.Decides("diff/reject", world.Obj{"path": "new"})
	w.RequireTree(world.Tree{"old": "one\ntwo\nthree\n", "new": "(absent)"})
	require.Empty(t, e.Diffs())
	require.Equal(t, staged, w.Get(".git/index"))
	require.Equal(t, "RD old -> new\n?? old\n", w.Git("status", "--porcelain"))
	w.Git("restore", "--staged", "old", "new")
	require.Empty(t, w.Git("status", "--porcelain"), "what PROTOCOL.md says to do")
}

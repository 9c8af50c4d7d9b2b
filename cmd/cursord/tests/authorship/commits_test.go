//go:build unix

package authorship

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestACommitBesideATurn has a person commit the agent's text while its turn runs, and no call of it.
func TestACommitBesideATurn(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"f": "a\n", "g": "g\n"})
	w.Commits()
	w.Plays(world.Lines(world.Edits("c", "f", "a\n", "b\n"), []string{world.Waits("go")}, world.Edits("d", "g", "g\n", "G\n"))...)
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	e.Until("the first edit", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Path == "f" && len(n.Diff.Hunks) == 1 })
	w.Git("add", "f")
	w.Git("commit", "-q", "-m", "mine")
	w.Put("../go", "")
	e.Ends(turn.ID)
	require.Eventually(t, func() bool { return e.Diffs()["f"] == nil }, world.Patience, time.Millisecond, "it was committed")
	require.Contains(t, e.Diffs(), "g")
}

// TestACommitFromBeforeAHunk has a person commit, during a turn, the line that the agent writes only later: the hunk stays under review.
func TestACommitFromBeforeAHunk(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "a\n")
	w.Commits()
	w.Plays(world.Lines([]string{world.Waits("go")}, world.Edits("c", "f", "a\n", "b\n"))...)
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	require.True(t, world.Comes(world.Patience, func() bool { return len(w.Runs()) == 1 }))
	w.Put("f", "b\n")
	w.Git("commit", "-q", "-a", "-m", "mine")
	w.Put("f", "a\n")
	w.Put("../go", "")
	e.Ends(turn.ID)
	require.Len(t, e.Diffs()["f"].Hunks, 1)
}

//go:build linux

package life

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestManyWorkspacesAreWatched: the files under review of many workspaces take two instances of inotify, of which the system has few for a user.
func TestManyWorkspacesAreWatched(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Limits(t, "echo 2 >/proc/sys/user/max_inotify_instances")
	before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent 5\n"})
	w.Plays(world.Lines(world.Edits("c", "a/f", before, after))...)
	w.Start()
	e := w.Joins()
	const all = 8
	for range all {
		w.Elsewhere()
		w.Put("a/f", before)
		e.Follows()
		e.Turn(nil)
	}
	watching := e.Status().Watching
	require.Empty(t, watching.Polling)
	require.GreaterOrEqual(t, watching.Directories, 2*all)
	for _, n := range e.All() {
		require.NotEqual(t, "warning", n.Level, n.Message)
	}
}

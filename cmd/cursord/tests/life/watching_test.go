//go:build linux

package life

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestManyWorkspacesAreWatched: the files under review of many workspaces take three instances of inotify, of which the system has few for a user.
func TestManyWorkspacesAreWatched(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Limits(t, "echo 3 >/proc/sys/user/max_inotify_instances")
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

// TestWarningsOfOtherFolders: a folder that cannot be watched is the matter of those who work in it.
func TestWarningsOfOtherFolders(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Limits(t, "echo 0 >/proc/sys/user/max_inotify_instances")
	w.Put("f", "mine\n")
	w.Plays(world.Lines(world.Edits("c", "f", "mine\n", "agent's\n"))...)
	w.Start()
	here, elsewhere := w.Opens(), w.Joins()
	elsewhere.Must("initialize", world.Obj{}, nil)
	here.Turn(nil)
	here.Message("warning", "raise fs.inotify.max_user_instances")
	root := w.Root
	w.Elsewhere()
	elsewhere.Follows()
	w.Plays(world.Done)
	elsewhere.Turn(nil)
	for _, n := range elsewhere.All() {
		require.NotEqual(t, "log/message", n.Method, n.Message)
	}
	_, said, _ := w.Cursord("run", "x")
	require.NotContains(t, said, root)
	w.Root = root
	_, said, _ = w.Cursord("run", "x")
	require.Contains(t, said, root+" cannot be watched")
}

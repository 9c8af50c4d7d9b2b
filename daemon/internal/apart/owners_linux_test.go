package apart

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/treewatch"
)

// TestOwnersFollowTheWatch: what has come to a workspace since it was looked through is found, in folders that are watched and in others, and so is
// a file that was given to another user. A watch that is lost, or another one, is not believed.
func TestOwnersFollowTheWatch(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	full := func(name string) string { return filepath.Join(root, name) }
	put := func(name string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(full(name)), 0o755))
		require.NoError(t, os.WriteFile(full(name), nil, 0o644))
	}
	give := func(name string, to int) { require.NoError(t, os.Lchown(full(name), to, to)) }
	for _, name := range []string{"a/f", "a/b/f", "ignored/in/f", "sub/.git"} {
		put(name)
	}
	w := treewatch.New(root)
	cover := func(dirs ...string) {
		for _, dir := range dirs {
			require.True(t, w.Cover(dir))
		}
	}
	cover(".", "a", "a/b", "sub")
	k := NewOwners(func() *treewatch.Watch { return w })
	looks := func(foreign string, bare ...string) {
		t.Helper()
		found, err := k.look(t.Context(), root)
		require.NoError(t, err)
		if foreign == "" {
			require.Empty(t, found.Foreign)
			require.Equal(t, []string{full("sub/.git")}, found.GitFiles)
			require.True(t, k.by == w)
			require.Len(t, k.bare, len(bare))
			for _, dir := range bare {
				require.Contains(t, k.bare, full(dir))
			}
			return
		}
		require.Equal(t, full(foreign), found.Foreign)
		give(foreign, 0)
	}
	first := func() int64 { return k.full }
	looks("", "ignored", "ignored/in")
	began := first()
	looks("", "ignored", "ignored/in")
	require.Equal(t, began, first(), "not all was looked through again")

	for _, name := range []string{"a/b/f", "ignored/in/f", "ignored/in"} {
		give(name, 4242)
		looks(name)
		looks("", "ignored", "ignored/in")
	}
	put("new/in/f")
	looks("", "ignored", "ignored/in", "new", "new/in")
	give("new/in/f", 4242)
	looks("new/in/f")
	looks("", "ignored", "ignored/in", "new", "new/in")
	cover("new", "new/in")
	looks("", "ignored", "ignored/in")
	give("new/in/f", 4242)
	looks("new/in/f")
	require.NoError(t, os.RemoveAll(full("new")))
	require.NoError(t, os.RemoveAll(full("ignored/in")))
	looks("", "ignored")

	began = first()
	put("a/b/.git")
	found, err := k.look(t.Context(), root)
	require.NoError(t, err)
	require.Equal(t, []string{full("a/b/.git"), full("sub/.git")}, found.GitFiles)
	require.Equal(t, began, first())
	require.NoError(t, os.Remove(full("a/b/.git")))

	give("a", 4242) // the watch is lost by that
	looks("a")
	give("a/f", 4242)
	looks("a/f")
	w = treewatch.New(root)
	cover(".")
	give("a/f", 4242)
	looks("a/f")
	looks("", "a", "a/b", "ignored", "sub")
	cover("a", "a/b", "sub")
	looks("", "ignored")
	give("sub/.git", 4242)
	before := w
	defer before.Close()
	w = treewatch.New(root)
	defer w.Close()
	cover(".", "a", "a/b", "sub")
	looks("sub/.git")
	looks("", "ignored")
}

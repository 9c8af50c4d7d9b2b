package savewatch

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/dirwatch"
)

// TestSavesInFolders saves files in watched folders and in others.
func TestSavesInFolders(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := t.TempDir()
	for _, dir := range []string{"in", "other", "gone"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o755))
	}
	told := make(chan string, 100)
	f := WatchFolders([]string{root, filepath.Join(root, "in"), filepath.Join(root, "missing"), filepath.Join(root, "gone")}, func(paths []string) {
		for _, p := range paths {
			told <- p
		}
	})
	defer f.Close()
	next := func() string {
		select {
		case p := <-told:
			rel, err := filepath.Rel(root, p)
			require.NoError(t, err)
			return rel
		case <-time.After(30 * time.Second):
			t.Fatal("nothing is told")
			return ""
		}
	}
	save := func(name string) { require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("a"), 0o644)) }
	save("other/f")
	save("in/f")
	require.Equal(t, "in/f", next())
	require.NoError(t, os.Mkdir(filepath.Join(root, "in", "dir"), 0o755))
	require.NoError(t, os.RemoveAll(filepath.Join(root, "gone")))
	require.NoError(t, os.Rename(filepath.Join(root, "other", "f"), filepath.Join(root, "g")))
	require.Equal(t, "g", next())
	save("f")
	require.Equal(t, "f", next())
	f.Watch(filepath.Join(root, "other"))
	save("other/f")
	require.Equal(t, "other/f", next())
}

// TestSavesSince counts saves of a path without a wait: a caller that knows of a save finds it counted.
func TestSavesSince(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := t.TempDir()
	f := WatchFolders([]string{root}, func([]string) {})
	path := filepath.Join(root, "f")
	save := func() { require.NoError(t, os.WriteFile(path, []byte("a"), 0o644)) }
	require.Zero(t, f.Since(path, 0))
	save()
	require.Equal(t, 1, f.Since(path, 0))
	later := clock.Now()
	require.Zero(t, f.Since(path, later))
	require.NoError(t, os.Rename(path, path+"~"))
	require.NoError(t, os.Rename(path+"~", path))
	save()
	require.Equal(t, 2, f.Since(path, later))
	require.Equal(t, 3, f.Since(path, 0))
	for range 2 * recentSaves {
		save()
	}
	require.Equal(t, recentSaves, f.Since(path, 0))
	seen := f.Seen()
	save()
	f.Forget(path, seen)
	require.Equal(t, 1, f.Since(path, 0))
	f.Forget(path, f.Seen())
	require.Zero(t, f.Since(path, 0))
	f.mu.Lock()
	_, kept := f.recent[path]
	f.mu.Unlock()
	require.False(t, kept)
	save()
	require.Equal(t, 1, f.Since(path, 0))
	f.Close()
	save()
	require.Equal(t, 1, f.Since(path, 0))
	require.Zero(t, (*Folders)(nil).Since(path, 0))
	require.Zero(t, (*Folders)(nil).Seen())
	(*Folders)(nil).Forget(path, 0)
}

// TestManySaves saves more files than are remembered.
func TestManySaves(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := t.TempDir()
	f := WatchFolders([]string{root}, func([]string) {})
	defer f.Close()
	last := ""
	for i := range recentPaths + 1 {
		last = filepath.Join(root, strconv.Itoa(i))
		require.NoError(t, os.WriteFile(last, nil, 0o644))
	}
	require.Equal(t, 1, f.Since(last, 0))
	f.mu.Lock()
	defer f.mu.Unlock()
	require.LessOrEqual(t, len(f.recent), recentPaths)
}

// TestManyFolders watches no more folders than the limit.
func TestManyFolders(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	all := make([]string, MaxAllFolders+10)
	for i := range all {
		all[i] = dir
	}
	WatchFolders(all, func([]string) {}).Close()
	for i := range all {
		all[i] = filepath.Join(dir, time.Duration(i).String())
		require.NoError(t, os.Mkdir(all[i], 0o755))
	}
	f := WatchFolders(all, func([]string) {})
	defer f.Close()
	require.LessOrEqual(t, len(f.dirs), MaxAllFolders)
}

// TestLostSaves: once saves may have been missed, no folder counts as watched.
func TestLostSaves(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := t.TempDir()
	f := WatchFolders([]string{root}, func([]string) {})
	defer f.Close()
	is, _ := f.Watched(root)
	require.True(t, is)
	f.mu.Lock()
	f.paths([]dirwatch.Event{{Kind: unix.IN_Q_OVERFLOW}})
	f.mu.Unlock()
	f.Watch(root)
	is, bounded := f.Watched(root)
	require.False(t, is || bounded)
}

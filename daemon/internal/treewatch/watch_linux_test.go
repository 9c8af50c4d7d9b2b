package treewatch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func tree(t *testing.T) (w *Watch, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "c"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "f"), nil, 0o644))
	w = New(dir)
	require.NotNil(t, w)
	t.Cleanup(w.Close)
	for _, name := range []string{".", "a", "a/b"} {
		require.True(t, w.Cover(name), name)
		require.True(t, w.Cover(name), name)
	}
	require.False(t, w.Cover("none"))
	require.True(t, w.Covers("a/b"))
	require.False(t, w.Covers("c"))
	return w, dir
}

// TestChangesAreTold: each change is told to whoever asks since a moment before it.
func TestChangesAreTold(t *testing.T) {
	w, dir := tree(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		do   func() error
		told []string
	}{
		{func() error { return os.WriteFile(at("a/f"), []byte("text"), 0o644) }, []string{"a/f"}},
		{func() error { return os.Chmod(at("a/f"), 0o600) }, []string{"a/f"}},
		{func() error { return os.Rename(at("a/f"), at("g")) }, []string{"a/f", "g"}},
		{func() error { return os.Symlink("g", at("a/b/link")) }, []string{"a/b/link"}},
		{func() error { return os.Link(at("g"), at("a/h")) }, []string{"a/h"}},
		{func() error { return os.Remove(at("g")) }, []string{"g"}},
		{func() error { return os.Truncate(at("a/h"), 1) }, []string{"a/h"}},
		{func() error { return os.Mkdir(at("a/new"), 0o755) }, []string{"a/new"}},
		{func() error { return os.WriteFile(at("c/unwatched"), nil, 0o644) }, nil},
		{func() error { return os.RemoveAll(at("a/b")) }, []string{"a/b", "a/b/link"}},
	} {
		_, was, ok := w.Since(0)
		require.True(t, ok)
		require.NoError(t, c.do())
		told, now, ok := w.Since(was)
		require.True(t, ok, c.told)
		slices.Sort(told)
		require.Equal(t, c.told, told)
		told, _, ok = w.Since(now)
		require.True(t, ok)
		require.Empty(t, told)
	}
	require.False(t, w.Covers("a/b"), "it is gone")
	w.Touch("x")
	told, _, ok := w.Since(0)
	require.True(t, ok)
	require.Subset(t, told, []string{"a/f", "a/h", "g", "x"})
}

// TestLosses: after whatever it cannot follow, a watch knows nothing, and never again.
func TestLosses(t *testing.T) {
	defer goleak.VerifyNone(t)
	before := watched.Load()
	for name, do := range map[string]func(w *Watch, dir string) error{
		"closed": func(w *Watch, _ string) error { w.Close(); return nil },
		"moved": func(_ *Watch, dir string) error {
			return os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "c", "a"))
		},
		"moved over": func(_ *Watch, dir string) error {
			return unix.Rename(filepath.Join(dir, "c"), filepath.Join(dir, "a", "b"))
		},
		"permissions": func(_ *Watch, dir string) error { return os.Chmod(filepath.Join(dir, "a"), 0o711) },
		"the root":    func(_ *Watch, dir string) error { return os.Rename(dir, dir+".old") },
		"mounts":      func(w *Watch, _ string) error { w.mounts += "another"; return nil },
		"too many": func(w *Watch, _ string) error {
			for i := range changes + 1 {
				w.Touch(fmt.Sprint(i))
			}
			return nil
		},
		"overflow": func(w *Watch, dir string) error {
			w.mu.Lock() // nobody reads
			defer w.mu.Unlock()
			text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
			if err != nil {
				return err
			}
			most, err := strconv.Atoi(strings.TrimSpace(string(text)))
			for i := 0; i < most+10 && err == nil; i++ { // equal events that follow each other would be one
				err = os.Chmod(filepath.Join(dir, []string{"a/f", "g"}[i%2]), 0o600)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := tree(t)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "g"), nil, 0o644))
			_, now, ok := w.Since(0)
			require.True(t, ok)
			require.NoError(t, do(w, dir))
			for range 2 {
				_, _, ok = w.Since(now)
				require.False(t, ok)
			}
			require.False(t, w.Cover("c"))
			require.False(t, w.Covers("."))
			w.Touch("x")
			w.Close()
		})
	}
	require.Equal(t, before, watched.Load())
}

// TestNoWatch: where there is none, nothing is known.
func TestNoWatch(t *testing.T) {
	var w *Watch
	require.False(t, w.Cover("."))
	require.False(t, w.Covers("."))
	w.Touch("x")
	_, _, ok := w.Since(0)
	require.False(t, ok)
	w.Close()
}

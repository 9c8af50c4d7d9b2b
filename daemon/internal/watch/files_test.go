package watch

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// A watched is a Files; the test plays the reviewer's goroutine.
type watched struct {
	t    *testing.T
	fw   *Files
	jobs chan func()
	seen []func(string) bool

	polls []string // the messages about polling
}

func newWatched(t *testing.T, limits Limits) *watched {
	t.Helper()
	w := &watched{t: t, jobs: make(chan func(), 1000)}
	w.fw = &Files{
		Root: t.TempDir(), Limits: limits, Log: slog.New(slog.DiscardHandler),
		Post:  func(f func()) { w.jobs <- f },
		Look:  func(touched func(string) bool) { w.seen = append(w.seen, touched) },
		Polls: func(why string) { w.polls = append(w.polls, why) },
	}
	t.Cleanup(func() {
		w.fw.Close()
		goleak.VerifyNone(t)
	})
	return w
}

// file makes a file and returns its path.
func (w *watched) file(name string) string {
	w.t.Helper()
	path := filepath.Join(w.fw.Root, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.t, os.WriteFile(path, []byte("text"), 0o644))
	return path
}

// until runs the posted looks until one has touched path, and returns that one.
func (w *watched) until(path string) (touched func(string) bool) {
	w.t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		for i, touched := range w.seen {
			if touched(path) {
				w.seen = w.seen[i+1:]
				return touched
			}
		}
		select {
		case job := <-w.jobs:
			job()
		case <-deadline:
			w.t.Fatalf("no look at %s", path)
			return nil
		}
	}
}

func TestFilesArePolledWhereFoldersAreTooMany(t *testing.T) {
	w := newWatched(t, Limits{dirs: 2, Settle: time.Millisecond, poll: time.Millisecond})
	var paths []string
	for i := range 3 {
		paths = append(paths, w.file(fmt.Sprintf("%d/f", i)))
	}
	require.Len(t, w.fw.Want(paths[:2]), 2, "no room for the folder around them")
	require.Equal(t, State{Dirs: 2}, *w.fw.State.Load())
	require.Empty(t, w.fw.Want(paths))
	require.Contains(t, w.fw.State.Load().Polling, "3 folders, more than 2")
	require.Len(t, w.polls, 1)
	require.Contains(t, w.polls[0], "3 folders, more than 2")
	first := w.until(paths[0]) // the look sees earlier changes
	require.True(t, first(paths[1]) && first(paths[2]))
	require.NoError(t, os.WriteFile(paths[1], []byte("longer text"), 0o644))
	w.until(paths[1])
	require.NoError(t, os.Remove(paths[2]))
	w.until(paths[2])

	require.Empty(t, w.fw.Want(nil))
	require.Nil(t, w.fw.State.Load())
	require.Len(t, w.fw.Want(paths[:1]), 2, "with fewer, folders are watched again")
	require.Equal(t, State{Dirs: 2}, *w.fw.State.Load())
}

func TestWatchedFolders(t *testing.T) {
	w := newWatched(t, Limits{dirs: 10, Settle: time.Millisecond, poll: time.Hour})
	f, g, deep := w.file("a/f"), w.file("a/g"), filepath.Join(w.fw.Root, "not", "yet", "f")
	dir := filepath.Dir(f)
	require.Equal(t, map[string]bool{dir: true, w.fw.Root: true}, w.fw.Want([]string{f, g, deep}))
	require.NoError(t, os.WriteFile(g, []byte("other"), 0o644))
	require.False(t, w.until(g)(f), "only what changed is looked at")

	require.Equal(t, deep, w.file("not/yet/f"))
	w.until(deep)
	require.Equal(t, map[string]bool{filepath.Dir(deep): true, filepath.Join(w.fw.Root, "not"): true}, w.fw.Want([]string{f, deep}))

	// Another folder takes the folder's place.
	require.NoError(t, os.Rename(dir, dir+"2"))
	w.until(f)
	w.file("a/f")
	w.fw.Want([]string{f, deep})
	require.NoError(t, os.WriteFile(f, []byte("in the new folder"), 0o644))
	w.seen = nil
	w.until(f)

	// The system has lost events.
	w.seen = nil
	w.fw.changed(w.fw.watcher, nil, true)
	w.until(deep)
	require.Len(t, w.fw.Want([]string{f, deep}), 4)

	// The parent of the file's folder is replaced.
	require.NoError(t, os.Rename(filepath.Join(w.fw.Root, "not"), filepath.Join(w.fw.Root, "no")))
	w.seen = nil
	w.until(deep)

	require.True(t, Below(map[string]bool{"/a": true}, "/a/b/c"))
	require.False(t, Below(map[string]bool{"/a/b/c/d": true}, "/a/b/c"))
}

package savewatch

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/dirwatch"
)

// Folders reports saves of any file in some folders, as far as these can be watched. It may miss some.
type Folders struct {
	handle *dirwatch.Handle
	saved  func(paths []string)
	ended  chan struct{} // closed when its goroutine has ended

	mu      sync.Mutex             // held while saved is called
	closed  bool                   // guarded by mu
	dirs    map[dirwatch.ID]string // guarded by mu
	watched map[string]bool        // guarded by mu; the folders that are watched, by path
	bounded bool                   // guarded by mu; folders were left out because of MaxAllFolders alone
	lost    bool                   // guarded by mu; saves may have been missed in any folder
	recent  map[string][]int64     // guarded by mu; when the newest saves of a path were read, at most recentSaves
}

// Bounds of what Folders remember of saves; they forget all paths if there are more.
const (
	recentPaths = 1000
	recentSaves = 4
)

// WatchFolders begins to watch folders, given by their absolute paths, at most MaxAllFolders. It calls saved with the paths
// of saved files, one call at a time, each path once in a call. It returns nil if nothing can be watched.
func WatchFolders(dirs []string, saved func(paths []string)) *Folders {
	h, err := dirwatch.Saves.Open()
	if err != nil {
		return nil
	}
	f := &Folders{
		handle: h, saved: saved, ended: make(chan struct{}), dirs: map[dirwatch.ID]string{}, watched: map[string]bool{}, recent: map[string][]int64{},
	}
	f.watch(dirs...)
	go f.run()
	return f
}

// Watch watches another folder, given by its absolute path, as far as there is room.
func (f *Folders) Watch(dir string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watch(dir)
}

// Watched reports whether saves in a folder, given by its absolute path, are seen. If not, bounded says that MaxAllFolders may be why.
func (f *Folders) Watched(dir string) (is, bounded bool) {
	if f == nil {
		return false, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drain()
	return f.watched[dir] && !f.lost, f.bounded
}

// watch watches folders since a moment. f.mu must be held, unless nothing else knows f.
func (f *Folders) watch(dirs ...string) {
	for _, dir := range dirs {
		if f.bounded = f.bounded || len(f.dirs) >= MaxAllFolders; f.closed || len(f.dirs) >= MaxAllFolders {
			return
		}
		// A folder that no longer exists does not matter. If there is no room for more watches, the earlier folders are
		// watched. The modifications keep the system from making one event of two saves.
		id, err := f.handle.Add(dir, unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO|unix.IN_MODIFY|unix.IN_MOVE_SELF|unix.IN_ONLYDIR|unix.IN_DONT_FOLLOW)
		if errors.Is(err, unix.ENOSPC) {
			return
		}
		if err != nil {
			continue
		}
		f.dirs[id], f.watched[dir] = dir, true
	}
}

func (f *Folders) run() {
	defer close(f.ended)
	for range f.handle.Ready {
		f.mu.Lock()
		f.drain()
		f.mu.Unlock()
	}
}

// drain handles the events that have come. f.mu must be held.
func (f *Folders) drain() {
	if f.closed {
		return
	}
	if paths := f.paths(f.handle.Take()); len(paths) > 0 {
		f.saved(paths)
	}
}

// Since returns how many saves of a path, given by its absolute path without links, came at a moment of package clock or
// later, as far as they were seen and are remembered: at most recentSaves. A save's moment is the one at which it was read, so
// it may be earlier than that. Since must not be called by saved.
func (f *Folders) Since(path string, at int64) (n int) {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drain()
	for _, read := range f.recent[path] {
		if read >= at {
			n++
		}
	}
	return n
}

// Seen returns a moment: saves that came before the call of Seen were read by then. It must not be called by saved.
func (f *Folders) Seen() int64 {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drain()
	return clock.Now()
}

// Forget forgets the saves of a path that were read until a moment.
func (f *Folders) Forget(path string, until int64) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recent[path] = slices.DeleteFunc(f.recent[path], func(read int64) bool { return read <= until })
	if len(f.recent[path]) == 0 {
		delete(f.recent, path)
	}
}

// paths returns the files that events name, each once, and remembers their saves. f.mu must be held.
func (f *Folders) paths(events []dirwatch.Event) (paths []string) {
	seen := map[string]bool{}
	for _, ev := range events {
		switch dir, known := f.dirs[ev.ID]; {
		case ev.Kind&unix.IN_Q_OVERFLOW != 0:
			f.lost = true
		case ev.Kind&unix.IN_MOVE_SELF != 0:
			delete(f.watched, dir)
		case ev.Kind&unix.IN_IGNORED != 0:
			delete(f.watched, dir)
			delete(f.dirs, ev.ID)
		case known && ev.Name != "" && ev.Kind&(unix.IN_ISDIR|unix.IN_MODIFY) == 0:
			path := filepath.Join(dir, ev.Name)
			f.remember(path, ev.At)
			if !seen[path] {
				seen[path] = true
				paths = append(paths, path)
			}
		}
	}
	return paths
}

func (f *Folders) remember(path string, now int64) {
	old, known := f.recent[path]
	if !known && len(f.recent) >= recentPaths {
		clear(f.recent)
	}
	f.recent[path] = append(old[max(0, len(old)+1-recentSaves):], now)
}

// Close ends the watch. saved is not called after it has returned.
func (f *Folders) Close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.handle.Close()
	<-f.ended
}

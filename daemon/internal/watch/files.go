// Package watch reports that files of interest may have changed. It watches their folders, or polls the files every few
// seconds if the folders cannot be watched. Events that come together give one report, and a report may name a file that has
// not changed. No change after a folder is watched is missed. The package reads no contents.
package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"cursord/daemon/internal/dirwatch"
	"cursord/daemon/internal/filestat"
)

// Limits are the bounds of a Files.
type Limits struct {
	dirs   int           // most watched folders; with more, files are polled
	Settle time.Duration // time between the first event and the look
	poll   time.Duration // time between two looks, when polling
}

// DefaultLimits returns the limits of a daemon.
func DefaultLimits() Limits {
	return Limits{dirs: 200, Settle: 100 * time.Millisecond, poll: 2 * time.Second}
}

// maxNames bounds the changed names that are kept until a look; with more, the look is at all files.
const maxNames = 1000

// A Files reports to its owner that files may have changed. It watches their folders and never the files, because most editors
// replace a file when they save it, which would end a watch of it. If folders cannot be watched, it polls the files.
// Everything but drain runs in its owner's goroutine, through Post.
type Files struct {
	Root   string
	Limits Limits
	Log    *slog.Logger
	Post   func(func())                         // makes the owner run a function; must not block
	Look   func(touched func(path string) bool) // looks at the files for whose absolute paths touched returns true
	Polls  func(why string)                     // called when polling begins, and with "" when it ends

	watcher *dirwatch.Names // nil if nothing is watched
	drained chan struct{}   // closed when its drain has ended
	dirs    map[string]bool // watched folders
	Paths   []string        // files of interest, absolute
	failed  string          // why folders could not be watched; "" again when nothing is of interest
	poller  *time.Timer     // nil if nothing is polled
	stamps  map[string]filestat.Stat

	State atomic.Pointer[State]
}

// A State is a Files in the answer to daemon/status.
type State struct {
	Dirs    int
	Polling string // why; "": not
}

// Want sets the files of interest, by their absolute paths. It returns the folders that were not watched before: earlier
// changes there were not seen. also may name files outside of the root.
func (fw *Files) Want(paths []string, also ...string) (added map[string]bool) {
	if len(paths) == 0 {
		fw.Close()
		return nil
	}
	fw.Paths = slices.Concat(paths, also)
	if fw.failed == "" {
		// A folder may disappear before the watch of it begins.
		for range 3 {
			again, err := fw.watchDirs(&added)
			if err != nil {
				fw.failed = err.Error()
			}
			if !again {
				break
			}
		}
	}
	if fw.failed != "" {
		fw.startPolling(fw.failed)
		return nil
	}
	fw.stopPolling()
	fw.State.Store(&State{Dirs: len(fw.dirs)})
	return added
}

// watchDirs watches the nearest existing folders of the files of interest, and the folders that contain these. It returns an
// error if folders cannot be watched. again is true if a folder has disappeared meanwhile, so that the caller must try
// again.
func (fw *Files) watchDirs(added *map[string]bool) (again bool, err error) {
	dirs := map[string]bool{}
	for _, p := range fw.Paths {
		dirs[existingDir(fw.Root, p)] = true
	}
	if len(dirs) > fw.Limits.dirs {
		return false, fmt.Errorf("%d folders, more than %d", len(dirs), fw.Limits.dirs)
	}
	// A folder does not report that a folder which contains it was moved. Containing folders are watched as far as there is
	// room.
	if all := withParents(fw.Root, dirs); len(all) <= fw.Limits.dirs {
		dirs = all
	}
	if fw.watcher == nil {
		w, err := dirwatch.OpenNames()
		if err != nil {
			return false, err
		}
		fw.watcher, fw.drained, fw.dirs = w, make(chan struct{}), map[string]bool{}
		go fw.drain(w, fw.drained)
	}
	for dir := range fw.dirs {
		if !dirs[dir] {
			fw.forget(dir)
		}
	}
	for dir := range dirs {
		if fw.dirs[dir] {
			continue
		}
		if name := filestat.RemoteFS(dir); name != "" {
			return false, fmt.Errorf("%s is on %s", dir, name)
		}
		switch err := fw.watcher.Add(dir); {
		case errors.Is(err, fs.ErrNotExist) || filestat.NotDirectory(err):
			again = true
			continue
		case err != nil:
			return false, err
		}
		fw.dirs[dir] = true
		if *added == nil {
			*added = map[string]bool{}
		}
		(*added)[dir] = true
	}
	return again, nil
}

// existingDir returns the nearest existing folder of a path, root at most.
func existingDir(root, path string) string {
	dir := filepath.Dir(path)
	for dir != root && strings.HasPrefix(dir, root) {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// withParents adds the folders that contain folders below root, up to root.
func withParents(root string, dirs map[string]bool) map[string]bool {
	all := maps.Clone(dirs)
	for dir := range dirs {
		for dir != root && strings.HasPrefix(dir, root+string(filepath.Separator)) {
			dir = filepath.Dir(dir)
			all[dir] = true
		}
	}
	return all
}

// forget ends the watch of a folder.
func (fw *Files) forget(dir string) {
	fw.watcher.Remove(dir)
	delete(fw.dirs, dir)
}

// drain takes w's events until w is closed. It makes the owner look a moment after the first event, because a save causes
// several.
func (fw *Files) drain(w *dirwatch.Names, drained chan struct{}) {
	defer close(drained)
	names, all := map[string]bool{}, false
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	ticking := false
	for {
		select {
		case _, open := <-w.Ready:
			if !open {
				return
			}
			came, lost := w.Take()
			for _, name := range came {
				names[name] = true
			}
			if lost || len(names) > maxNames {
				names, all = map[string]bool{}, true
			}
			if !ticking && (lost || len(came) > 0) {
				ticking = true
				timer.Reset(fw.Limits.Settle)
			}
		case <-timer.C:
			ticking = false
			seen, whole := names, all
			names, all = map[string]bool{}, false
			fw.Post(func() { fw.changed(w, seen, whole) })
		}
	}
}

// changed handles the events of w since the last look.
func (fw *Files) changed(w *dirwatch.Names, names map[string]bool, all bool) {
	if fw.watcher != w {
		return
	}
	for dir := range maps.Clone(fw.dirs) {
		if all || Below(names, dir) {
			fw.forget(dir) // the folder may have been replaced or removed; Want watches the present one
		}
	}
	fw.Look(func(path string) bool { return all || Below(names, path) })
}

// Below reports whether names has a path or one of the folders that contain it.
func Below(names map[string]bool, path string) bool {
	for !names[path] {
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
	return true
}

func (fw *Files) startPolling(why string) {
	fw.closeWatcher()
	if fw.poller == nil {
		fw.Log.Warn("files under review are polled", "why", why)
		fw.Polls(why)
		fw.stamps = map[string]filestat.Stat{}
		fw.poller = time.AfterFunc(fw.Limits.poll, func() { fw.Post(fw.polled) })
	}
	fw.State.Store(&State{Polling: why})
}

// polled looks at the files that have changed since the last look.
func (fw *Files) polled() {
	if fw.poller == nil {
		return
	}
	touched, stamps := map[string]bool{}, make(map[string]filestat.Stat, len(fw.Paths))
	for _, p := range fw.Paths {
		s := filestat.Of(p)
		stamps[p] = s
		if old, known := fw.stamps[p]; !known || old != s {
			touched[p] = true
		}
	}
	fw.stamps = stamps
	fw.poller.Reset(fw.Limits.poll)
	if len(touched) > 0 {
		fw.Look(func(path string) bool { return touched[path] })
	}
}

func (fw *Files) stopPolling() {
	if fw.poller != nil {
		fw.poller.Stop()
		fw.poller, fw.stamps = nil, nil
		fw.Polls("")
	}
}

func (fw *Files) closeWatcher() {
	if fw.watcher == nil {
		return
	}
	fw.watcher.Close()
	<-fw.drained
	fw.watcher, fw.drained, fw.dirs = nil, nil, nil
}

// Close ends the watch; Want begins a new one.
func (fw *Files) Close() {
	fw.stopPolling()
	fw.closeWatcher()
	fw.Paths, fw.failed = nil, ""
	fw.State.Store(nil)
}

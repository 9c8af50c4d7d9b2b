package daemon

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

	"github.com/fsnotify/fsnotify"

	"cursord/daemon/internal/filestat"
)

// watchLimits are the bounds of a fsWatch.
type watchLimits struct {
	dirs   int           // watched at most; with more, files are polled
	settle time.Duration // between the first event and the look at the files
	poll   time.Duration // between two looks where nothing is watched
}

func defaultWatchLimits() watchLimits {
	return watchLimits{dirs: 200, settle: 100 * time.Millisecond, poll: 2 * time.Second}
}

// maxNames is how many changed names are kept apart until a look; with more, everything is looked at.
const maxNames = 1000

// A fsWatch tells the reviewer that files may have changed. It watches their folders, never the files: most editors
// replace a file when they save it, which ends a watch on it. Where folders cannot be watched, it polls the files.
// All but drain runs in the reviewer's goroutine.
type fsWatch struct {
	root   string
	limits watchLimits
	log    *slog.Logger
	post   func(func())                         // has the reviewer run a function, without blocking
	look   func(touched func(path string) bool) // at the files whose absolute paths are touched
	polls  func(why string)                     // told when polling begins, and with "" when it ends

	watcher *fsnotify.Watcher // nil while there is nothing to watch, or files are polled
	drained chan struct{}     // closed when its drain has ended
	dirs    map[string]bool   // watched
	paths   []string          // of interest, absolute
	failed  string            // why folders could not be watched; "" again when nothing is of interest
	poller  *time.Timer       // nil while nothing is polled
	stamps  map[string]filestat.Stat

	state atomic.Pointer[watchState]
}

// A watchState is what daemon/status tells of a fsWatch.
type watchState struct {
	dirs    int
	polling string // why; "": not
}

// want makes paths, which are absolute, the files of interest. It returns the folders that are watched from now on
// and were not before: what happened there until now was not seen.
// Files outside of the root may be among those that are of interest as well, if there are any.
func (fw *fsWatch) want(paths []string, also ...string) (added map[string]bool) {
	if len(paths) == 0 {
		fw.close()
		return nil
	}
	fw.paths = slices.Concat(paths, also)
	if fw.failed == "" {
		// A folder may go between the look for it and its watch.
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
	fw.state.Store(&watchState{dirs: len(fw.dirs)})
	return added
}

// watchDirs watches the nearest existing folders of what is of interest, and those around them. An error says that folders
// cannot be watched; again, that one has gone meanwhile.
func (fw *fsWatch) watchDirs(added *map[string]bool) (again bool, err error) {
	dirs := map[string]bool{}
	for _, p := range fw.paths {
		dirs[existingDir(fw.root, p)] = true
	}
	if len(dirs) > fw.limits.dirs {
		return false, fmt.Errorf("%d folders, more than %d", len(dirs), fw.limits.dirs)
	}
	// A folder does not report that one of those that it is in was moved. Those are watched as far as there is room.
	if all := withParents(fw.root, dirs); len(all) <= fw.limits.dirs {
		dirs = all
	}
	if fw.watcher == nil {
		w, err := fsnotify.NewWatcher()
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

// withParents adds the folders that folders below root are in, as far as root.
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

// forget ends the watch of a folder. It may have ended by itself, which is the only error.
func (fw *fsWatch) forget(dir string) {
	_ = fw.watcher.Remove(dir)
	delete(fw.dirs, dir)
}

// drain takes what w reports until w is closed, and has the reviewer look a moment after the first event: a save is
// several. It never calls w's methods, each of which may wait until drain has taken something.
func (fw *fsWatch) drain(w *fsnotify.Watcher, drained chan struct{}) {
	defer close(drained)
	names, all := map[string]bool{}, false
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	ticking := false
	tick := func() {
		if !ticking {
			ticking = true
			timer.Reset(fw.limits.settle)
		}
	}
	for events, errs := w.Events, w.Errors; events != nil || errs != nil; {
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			if names[ev.Name] = true; len(names) > maxNames {
				names, all = map[string]bool{}, true
			}
			tick()
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				fw.log.Warn("watching files", "err", err)
			}
			all = true // something was missed
			tick()
		case <-timer.C:
			ticking = false
			seen, whole := names, all
			names, all = map[string]bool{}, false
			fw.post(func() { fw.changed(w, seen, whole) })
		}
	}
}

// changed takes what w has seen.
func (fw *fsWatch) changed(w *fsnotify.Watcher, names map[string]bool, all bool) {
	if fw.watcher != w {
		return
	}
	for dir := range maps.Clone(fw.dirs) {
		if all || below(names, dir) {
			fw.forget(dir) // it may be another one now, or gone; want watches what is there
		}
	}
	fw.look(func(path string) bool { return all || below(names, path) })
}

// below reports whether a path or one of its folders is among names.
func below(names map[string]bool, path string) bool {
	for !names[path] {
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
	return true
}

func (fw *fsWatch) startPolling(why string) {
	fw.closeWatcher()
	if fw.poller == nil {
		fw.log.Warn("files under review are polled", "why", why)
		fw.polls(why)
		fw.stamps = map[string]filestat.Stat{}
		fw.poller = time.AfterFunc(fw.limits.poll, func() { fw.post(fw.polled) })
	}
	fw.state.Store(&watchState{polling: why})
}

// polled looks at the files that changed since the last time.
func (fw *fsWatch) polled() {
	if fw.poller == nil {
		return
	}
	touched, stamps := map[string]bool{}, make(map[string]filestat.Stat, len(fw.paths))
	for _, p := range fw.paths {
		s := filestat.Of(p)
		stamps[p] = s
		if old, known := fw.stamps[p]; !known || old != s {
			touched[p] = true
		}
	}
	fw.stamps = stamps
	fw.poller.Reset(fw.limits.poll)
	if len(touched) > 0 {
		fw.look(func(path string) bool { return touched[path] })
	}
}

func (fw *fsWatch) stopPolling() {
	if fw.poller != nil {
		fw.poller.Stop()
		fw.poller, fw.stamps = nil, nil
		fw.polls("")
	}
}

func (fw *fsWatch) closeWatcher() {
	if fw.watcher == nil {
		return
	}
	if err := fw.watcher.Close(); err != nil {
		fw.log.Warn("watching files", "err", err)
	}
	<-fw.drained
	fw.watcher, fw.drained, fw.dirs = nil, nil, nil
}

// close ends the watch; want begins a new one.
func (fw *fsWatch) close() {
	fw.stopPolling()
	fw.closeWatcher()
	fw.paths, fw.failed = nil, ""
	fw.state.Store(nil)
}

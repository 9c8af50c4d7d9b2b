package dirwatch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"

	"cursord/daemon/internal/filestat"
)

// Names gets the paths of what changes in some folders: not what happened there, and not how often. Any goroutine may use it. All Names of the
// process share one watcher.
type Names struct {
	Ready chan struct{} // holds a token when Take has something to return; closed by Close

	// Guarded by shared.mu.
	dirs   map[string]*place // by the path that it was added by
	names  map[string]bool
	lost   bool
	closed bool
}

// A place is a folder that is watched, whichever paths lead to it.
type place struct {
	path  string        // by which it is watched
	is    filestat.Stat // what tells the folder from others
	stale bool          // something has happened to the folder itself: its watch may have ended
	subs  map[*Names]string
}

// shared is the watcher of all Names. A method of the watcher may wait until collect has taken an event. So whoever calls one holds calls, which
// collect never takes, and not mu.
var shared struct {
	calls   sync.Mutex
	watcher *fsnotify.Watcher // guarded by calls; nil: nobody has Names
	ended   chan struct{}     // guarded by calls; closed when collect has ended

	mu     sync.Mutex
	all    map[*Names]struct{} // guarded by mu
	places map[string]*place   // guarded by mu; by path
}

// OpenNames returns Names that watch no folder yet.
func OpenNames() (*Names, error) {
	shared.calls.Lock()
	defer shared.calls.Unlock()
	if shared.watcher == nil {
		w, err := fsnotify.NewWatcher()
		if err != nil {
			return nil, ofInstances(err)
		}
		shared.watcher, shared.ended = w, make(chan struct{})
		go collect(w, shared.ended)
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.all == nil {
		shared.all, shared.places = map[*Names]struct{}{}, map[string]*place{}
	}
	n := &Names{Ready: make(chan struct{}, 1), dirs: map[string]*place{}, names: map[string]bool{}}
	shared.all[n] = struct{}{}
	return n, nil
}

// collect takes a watcher's events until it is closed.
func collect(w *fsnotify.Watcher, ended chan struct{}) {
	defer close(ended)
	for events, errs := w.Events, w.Errors; events != nil || errs != nil; {
		select {
		case ev, open := <-events:
			if open {
				tell(ev.Name)
			} else {
				events = nil
			}
		case _, open := <-errs: // an event was lost
			if open {
				loseAll()
			} else {
				errs = nil
			}
		}
	}
}

// tell gives a path to all who watch its folder, or the path itself.
func tell(path string) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	dir, base := filepath.Split(path)
	if in := shared.places[filepath.Clean(dir)]; in != nil {
		for n, as := range in.subs {
			n.note(filepath.Join(as, base))
		}
	}
	if itself := shared.places[path]; itself != nil {
		itself.stale = true
		itself.tell(nil)
	}
}

// tell gives a folder to all who watch it but one. shared.mu must be held.
func (p *place) tell(but *Names) {
	for n, as := range p.subs {
		if n != but {
			n.note(as)
		}
	}
}

func loseAll() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for n := range shared.all {
		n.lose()
	}
}

// note has Take return a name. shared.mu must be held.
func (n *Names) note(name string) {
	switch {
	case n.lost:
	case len(n.names) >= most:
		n.lose()
	default:
		n.names[name] = true
		n.ready()
	}
}

// lose has Take say that events were lost. shared.mu must be held.
func (n *Names) lose() {
	n.names, n.lost = map[string]bool{}, true
	n.ready()
}

func (n *Names) ready() {
	select {
	case n.Ready <- struct{}{}:
	default:
	}
}

// Take returns, in no order, the paths of what has changed since the last Take, by the paths of the folders that Add was given. If lost, events
// were lost, and what they named.
func (n *Names) Take() (names []string, lost bool) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	names, lost = slices.Collect(maps.Keys(n.names)), n.lost
	n.names, n.lost = map[string]bool{}, false
	return names, lost
}

// Add watches a folder. If there is another folder now at a path that was added before, that one is watched.
func (n *Names) Add(dir string) error {
	now := filestat.Of(dir) // a file system that does not answer holds up nobody else
	shared.calls.Lock()
	defer shared.calls.Unlock()
	if n.closed {
		return os.ErrClosed
	}
	p, watched := n.join(dir, filestat.Stat{Dev: now.Dev, Ino: now.Ino})
	if watched {
		return nil
	}
	_ = shared.watcher.Remove(p.path) // of a folder that was there before; it may have ended by itself
	if err := shared.watcher.Add(p.path); err != nil {
		n.leave(dir, true)
		return ofWatches(err)
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	p.tell(n) // between the two calls nobody had it watched
	return nil
}

// join makes n one of those who watch a folder. It reports whether the system watches that folder. shared.calls must be held.
func (n *Names) join(dir string, is filestat.Stat) (p *place, watched bool) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	p = shared.places[dir]
	if p == nil && is.Ino != 0 {
		for _, other := range shared.places { // by another path: the system watches a folder once
			if other.is == is {
				p = other
				break
			}
		}
	}
	if p == nil {
		p = &place{path: dir, subs: map[*Names]string{}}
		shared.places[dir] = p
	}
	watched = len(p.subs) > 0 && p.is == is && !p.stale
	p.is, p.stale = is, false
	if was := n.dirs[dir]; was != nil && was != p {
		delete(was.subs, n)
	}
	n.dirs[dir], p.subs[n] = p, dir
	return p, watched
}

// leave takes n from those who watch a folder, and returns it if nobody else does. With failed, the system does not watch it. shared.calls must
// be held.
func (n *Names) leave(dir string, failed bool) (unwatched *place) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	p := n.dirs[dir]
	if p == nil {
		return nil
	}
	delete(n.dirs, dir)
	if delete(p.subs, n); len(p.subs) > 0 {
		p.stale = p.stale || failed
		return nil
	}
	delete(shared.places, p.path)
	return p
}

// Remove ends the watch of a folder.
func (n *Names) Remove(dir string) {
	shared.calls.Lock()
	defer shared.calls.Unlock()
	if p := n.leave(dir, false); p != nil {
		_ = shared.watcher.Remove(p.path) // it may have ended by itself
	}
}

// Close ends all watches.
func (n *Names) Close() {
	shared.calls.Lock()
	defer shared.calls.Unlock()
	shared.mu.Lock()
	if n.closed {
		shared.mu.Unlock()
		return
	}
	n.closed = true
	delete(shared.all, n)
	last, dirs := len(shared.all) == 0, slices.Collect(maps.Keys(n.dirs))
	shared.mu.Unlock()
	if last {
		shared.watcher.Close()
		<-shared.ended
		shared.watcher = nil
	}
	for _, dir := range dirs {
		if p := n.leave(dir, false); p != nil && !last {
			_ = shared.watcher.Remove(p.path)
		}
	}
	shared.mu.Lock()
	close(n.Ready)
	shared.mu.Unlock()
}

//go:build !linux

package dirwatch

import (
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// A Handle watches folders for one user. Any goroutine may use it.
type Handle struct {
	Ready chan struct{} // holds a token when Take has something to return; closed by Close

	watcher *fsnotify.Watcher
	ended   chan struct{} // closed when its goroutine has ended

	mu    sync.Mutex
	names map[string]bool // guarded by mu
	lost  bool            // guarded by mu
}

// Open opens a handle.
func Open() (*Handle, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	h := &Handle{Ready: make(chan struct{}, 1), watcher: watcher, ended: make(chan struct{}), names: map[string]bool{}}
	go h.collect()
	return h, nil
}

// collect takes events until the watcher is closed. The watcher's methods may wait for that, so collect never waits for
// their callers.
func (h *Handle) collect() {
	defer close(h.ended)
	defer close(h.Ready)
	for events, errs := h.watcher.Events, h.watcher.Errors; events != nil || errs != nil; {
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			h.note(ev.Name)
		case _, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			h.note("")
		}
		select {
		case h.Ready <- struct{}{}:
		default:
		}
	}
}

// note has Take return a name; "" stands for events that were lost.
func (h *Handle) note(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if name == "" || len(h.names) >= most {
		h.names, h.lost = map[string]bool{}, true
	}
	if !h.lost {
		h.names[name] = true
	}
}

// Take returns, in no order, the paths of what has changed since the last Take. If lost, events were lost, and what they named.
func (h *Handle) Take() (names []string, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	names, lost = make([]string, 0, len(h.names)), h.lost
	for name := range h.names {
		names = append(names, name)
	}
	h.names, h.lost = map[string]bool{}, false
	slices.Sort(names)
	return names, lost
}

// Add watches a folder.
func (h *Handle) Add(dir string) error { return h.watcher.Add(dir) }

// Remove ends the watch of a folder.
func (h *Handle) Remove(dir string) { _ = h.watcher.Remove(dir) } // it may have ended by itself

// Close ends all watches.
func (h *Handle) Close() {
	h.watcher.Close()
	<-h.ended
}

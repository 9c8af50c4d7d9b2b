//go:build !linux

package savewatch

import (
	"sync"

	"github.com/fsnotify/fsnotify"
)

// A system watches folders; it does not report the ends of writes.
type system struct {
	watcher *fsnotify.Watcher
	ready   chan struct{} // holds a token when names or missed is set
	ended   chan struct{} // closed when both goroutines have ended

	mu     sync.Mutex
	names  map[string]bool // guarded by mu
	missed bool            // guarded by mu
}

// start makes a system and its goroutines. w.mu must be held.
func (w *Watch) start() (*system, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	s := &system{watcher: watcher, ready: make(chan struct{}, 1), ended: make(chan struct{}), names: map[string]bool{}}
	go s.run(w)
	go s.collect()
	return s, nil
}

// collect takes events until the watcher is closed. The watcher's methods may wait for that, so collect never waits for
// their callers.
func (s *system) collect() {
	defer close(s.ready)
	for events, errs := s.watcher.Events, s.watcher.Errors; events != nil || errs != nil; {
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			s.mu.Lock()
			s.names[ev.Name] = true
			s.mu.Unlock()
		case _, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			s.mu.Lock()
			s.missed = true
			s.mu.Unlock()
		}
		select {
		case s.ready <- struct{}{}:
		default:
		}
	}
}

func (s *system) run(w *Watch) {
	defer close(s.ended)
	for range s.ready {
		w.take(func() { s.drain(w) })
	}
}

// drain handles the events that have come. w.mu must be held.
func (s *system) drain(w *Watch) {
	s.mu.Lock()
	names, missed := s.names, s.missed
	s.names, s.missed = map[string]bool{}, false
	s.mu.Unlock()
	for name := range names {
		w.each(name, func(f *File) { f.saved(0) })
	}
	if missed {
		w.lose("")
	}
}

func (s *system) add(dir string) error { return s.watcher.Add(dir) }

func (s *system) remove(dir string) { _ = s.watcher.Remove(dir) } // it may have ended by itself

func (s *system) close() {
	s.watcher.Close()
	<-s.ended
}

//go:build !linux

package savewatch

import "cursord/daemon/internal/dirwatch"

// A system watches folders; it does not report the ends of writes.
type system struct {
	*dirwatch.Names
	ended chan struct{} // closed when its goroutine has ended
}

// start makes a system and its goroutine. w.mu must be held.
func (w *Watch) start() (*system, error) {
	n, err := dirwatch.OpenNames()
	if err != nil {
		return nil, err
	}
	s := &system{n, make(chan struct{})}
	go s.run(w)
	return s, nil
}

func (s *system) run(w *Watch) {
	defer close(s.ended)
	for range s.Ready {
		w.take(func() { s.drain(w) })
	}
}

// drain handles the events that have come. w.mu must be held.
func (s *system) drain(w *Watch) {
	names, lost := s.Take()
	for _, name := range names {
		w.each(name, func(f *File) { f.saved(0) })
	}
	if lost {
		w.lose("")
	}
}

func (s *system) add(dir string) error { return s.Add(dir) }

func (s *system) remove(dir string) { s.Remove(dir) }

func (s *system) close() {
	s.Close()
	<-s.ended
}

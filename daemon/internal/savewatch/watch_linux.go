package savewatch

import (
	"path/filepath"

	"golang.org/x/sys/unix"

	"cursord/daemon/internal/dirwatch"
)

// A system watches folders. The Watch's mutex guards its maps.
type system struct {
	*dirwatch.Handle
	paths map[dirwatch.ID]string // of folders
	ids   map[string]dirwatch.ID
	ended chan struct{} // closed when its goroutine has ended
}

const mask = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// start makes a system and the goroutine that takes its events. w.mu must be held.
func (w *Watch) start() (*system, error) {
	h, err := dirwatch.Saves.Open()
	if err != nil {
		return nil, err
	}
	s := &system{h, map[dirwatch.ID]string{}, map[string]dirwatch.ID{}, make(chan struct{})}
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
	if w.sys != s {
		return
	}
	for _, ev := range s.Take() {
		s.event(w, ev)
	}
}

func (s *system) event(w *Watch, ev dirwatch.Event) {
	dir, known := s.paths[ev.ID]
	switch {
	case ev.Kind&unix.IN_Q_OVERFLOW != 0:
		w.lose("")
	case !known:
	case ev.Kind&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_IGNORED|unix.IN_UNMOUNT) != 0:
		w.lose(dir)
		if delete(w.folders, dir); ev.Kind&unix.IN_IGNORED == 0 {
			s.remove(dir) // it may be elsewhere now
		}
		delete(s.paths, ev.ID)
		delete(s.ids, dir)
	default:
		w.each(filepath.Join(dir, ev.Name), func(f *File) {
			switch {
			case ev.Kind&(unix.IN_MODIFY|unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVED_FROM) != 0:
				f.begun = true
			case ev.Kind&unix.IN_MOVED_TO != 0, ev.Kind&unix.IN_CLOSE_WRITE != 0 && f.begun:
				f.saved(1)
			}
		})
	}
}

func (s *system) add(dir string) error {
	id, err := s.Add(dir, mask)
	if err == nil {
		s.paths[id], s.ids[dir] = dir, id
	}
	return err
}

func (s *system) remove(dir string) {
	id, known := s.ids[dir]
	if !known {
		return
	}
	delete(s.ids, dir)
	delete(s.paths, id)
	s.Remove(id)
}

func (s *system) close() {
	s.Close()
	<-s.ended
}

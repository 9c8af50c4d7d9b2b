package watch

import (
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"cursord/daemon/internal/dirwatch"
)

const mask = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE_SELF |
	unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// A folders watches folders for a Files.
type folders struct {
	*dirwatch.Handle

	mu    sync.Mutex             // guards both maps
	paths map[dirwatch.ID]string // of folders
	ids   map[string]dirwatch.ID
}

func watchFolders() (*folders, error) {
	h, err := dirwatch.Changes.Open()
	return &folders{Handle: h, paths: map[dirwatch.ID]string{}, ids: map[string]dirwatch.ID{}}, err
}

func (f *folders) add(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, err := f.Add(dir, mask)
	if err == nil {
		f.paths[id], f.ids[dir] = dir, id
	}
	return err
}

func (f *folders) remove(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := f.ids[dir]
	f.Remove(id)
	delete(f.ids, dir)
	delete(f.paths, id)
}

// take returns the paths of what has changed since it was called last. If lost, there is more.
func (f *folders) take() (names []string, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ev := range f.Take() {
		if dir, known := f.paths[ev.ID]; known {
			names = append(names, filepath.Join(dir, ev.Name))
		}
		lost = lost || ev.Kind&unix.IN_Q_OVERFLOW != 0
	}
	return names, lost
}

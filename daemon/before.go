package daemon

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"cursord/diffs"
)

// Bounds of a startImage. The agent needs seconds to its first write; what is not seen by then is not worth more.
const (
	startEntries = 50_000
	startTime    = 2 * time.Second
	startBytes   = 16 << 20  // contents in memory, per running turn
	startFile    = 256 << 10 // the largest content that is kept
)

// A startImage is what the workspace held when a turn began, as far as its bounds reach: the last resort for the
// before-image of a file whose tool call does not give one. It is made beside the agent's start.
type startImage struct {
	root string

	mu    sync.Mutex
	dirs  map[string]bool           // guarded by mu; folders that were read whole, relative, "." the root
	files map[string]*diffs.Content // guarded by mu; every entry of those; nil without content
}

// newStartImage begins to read; the folders nearest the root come first.
func newStartImage(root string) *startImage {
	s := &startImage{root: root, dirs: map[string]bool{}, files: map[string]*diffs.Content{}}
	go s.read()
	return s
}

func (s *startImage) read() {
	r, err := os.OpenRoot(s.root)
	if err != nil {
		return
	}
	defer r.Close()
	deadline := time.Now().Add(startTime)
	entries, kept := 0, 0
	for queue := []string{"."}; len(queue) > 0; queue = queue[1:] {
		dir := queue[0]
		list, err := fs.ReadDir(r.FS(), dir)
		if err != nil {
			continue
		}
		entries += len(list)
		if entries > startEntries || time.Now().After(deadline) {
			return
		}
		found := make(map[string]*diffs.Content, len(list))
		for _, e := range list {
			name := path.Join(dir, e.Name())
			found[name] = nil
			switch {
			case e.IsDir():
				if e.Name() != ".git" && e.Name() != "node_modules" {
					queue = append(queue, name)
				}
			case e.Type().IsRegular() && kept < startBytes:
				info, err := e.Info()
				if err != nil || info.Size() > startFile {
					continue
				}
				if img := readRooted(r, name); img.odd == "" && img.Exists {
					kept += len(img.Data)
					found[name] = &img.Content
				}
			}
		}
		s.mu.Lock()
		s.dirs[dir] = true
		for name, content := range found {
			s.files[name] = content
		}
		s.mu.Unlock()
	}
}

// at returns what a path held. It is not known if the path, or its absence, was not seen.
func (s *startImage) at(name string) (_ diffs.Content, known bool) {
	if filepath.IsAbs(name) {
		return diffs.Content{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if content, ok := s.files[name]; ok {
		if content == nil {
			return diffs.Content{}, false
		}
		return *content, true
	}
	return diffs.Content{}, s.absentLocked(name)
}

// absentLocked reports whether there was certainly nothing at a path. s.mu must be held.
func (s *startImage) absentLocked(name string) bool {
	for dir := path.Dir(name); ; name, dir = dir, path.Dir(dir) {
		if s.dirs[dir] {
			_, there := s.files[name]
			return !there
		}
		if dir == "." {
			return false
		}
	}
}

// missingDirs lists the folders of a path that were certainly not there, the innermost first.
func (s *startImage) missingDirs(name string) (dirs []string) {
	if filepath.IsAbs(name) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for dir := path.Dir(name); dir != "." && s.absentLocked(dir); dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

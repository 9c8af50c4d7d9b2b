package daemon

import (
	"os"
	"path"
	"path/filepath"
)

// A fileReader reads files of a workspace. It is made for many of one folder after each other, whose path is then resolved
// once. It is used by one goroutine.
type fileReader struct {
	root   *os.Root
	dir    string
	folder *os.Root // dir; nil if nothing can be read there
}

func newFileReader(root string) (*fileReader, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return &fileReader{root: r, dir: "."}, nil
}

func (r *fileReader) close() {
	r.leave()
	r.root.Close()
}

func (r *fileReader) leave() {
	if r.folder != nil {
		r.folder.Close()
		r.folder = nil
	}
}

// read reads a path as readRooted does.
func (r *fileReader) read(name string) image {
	dir, base := path.Split(name)
	if dir == "" {
		return readRooted(r.root, name)
	}
	if dir != r.dir {
		r.leave()
		if r.dir = dir; !beyondLink(r.root, name) {
			r.folder, _ = r.root.OpenRoot(filepath.FromSlash(path.Clean(dir)))
		}
	}
	if r.folder == nil {
		return readRooted(r.root, name) // says why
	}
	return readRooted(r.folder, base)
}

package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
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

// unknown returns why it is not known whether there is anything at a path; nil if that is known.
func (r *fileReader) unknown(name string) error {
	_, err := r.root.Lstat(filepath.FromSlash(name))
	if err == nil || errors.Is(err, fs.ErrNotExist) || filestat.NotDirectory(err) || beyondLink(r.root, name) {
		return nil
	}
	return paths.Cause(err)
}

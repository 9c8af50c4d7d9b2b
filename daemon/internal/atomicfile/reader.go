package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// A Reader reads files of a workspace. It is made for many of one folder after each other, whose path is then resolved
// once. It is used by one goroutine.
type Reader struct {
	root   *os.Root
	dir    string
	folder *os.Root // dir; nil if nothing can be read there
}

// NewReader opens a folder, until Close.
func NewReader(root string) (*Reader, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return &Reader{root: r, dir: "."}, nil
}

// Close closes the folder.
func (r *Reader) Close() {
	r.leave()
	r.root.Close()
}

func (r *Reader) leave() {
	if r.folder != nil {
		r.folder.Close()
		r.folder = nil
	}
}

// Read returns what a slash path below the folder holds, as Root.Read does.
func (r *Reader) Read(name string) State {
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

// Unknown returns why it is not known whether there is anything at a path; nil if that is known.
func (r *Reader) Unknown(name string) error {
	_, err := r.root.Lstat(filepath.FromSlash(name))
	if err == nil || errors.Is(err, fs.ErrNotExist) || filestat.NotDirectory(err) || beyondLink(r.root, name) {
		return nil
	}
	return paths.Cause(err)
}

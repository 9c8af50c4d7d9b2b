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

// A Reader reads files of one workspace. It resolves the path of a folder only once for successive files of that folder.
// Only one goroutine may use it.
type Reader struct {
	root   *os.Root
	dir    string
	folder *os.Root // dir; nil if nothing can be read there
	quick  quickly
}

// NewReader opens a workspace's folder, until Close.
func NewReader(root string) (*Reader, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return &Reader{root: r, dir: ".", quick: newQuickly(root)}, nil
}

// Close closes the folder.
func (r *Reader) Close() {
	r.leave()
	r.quick.close()
	r.root.Close()
}

func (r *Reader) leave() {
	if r.folder != nil {
		r.folder.Close()
		r.folder = nil
	}
}

// Read returns the state of a slash path below the folder, as Root.Read does.
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
		return readRooted(r.root, name) // its state has the reason
	}
	return readRooted(r.folder, base)
}

// An Entry is what a folder has at a name.
type Entry struct {
	Name  string
	Dir   bool
	Stat  filestat.Stat // of files and links; zero for others, and for what is gone
	Names uint64        // as filestat.Linked
	Data  []byte        // the content in that state, unless the state is racy; nil: it was not read
}

// Folder calls each with what is in a folder, "." is the root, and reads the contents of regular files up to a size; 0: of none. Data is that
// until each returns. Where the system has no quick way, or refuses something, it returns false; then each may have been called.
func (r *Reader) Folder(dir string, most int64, each func(Entry)) bool {
	return r.quick.folder(dir, most, each)
}

// ReadUnchanged returns the content of a regular file that is in a state and remains in it while it is read, until the next call. Of any
// other, and where the system has no quick way, it returns false: Read knows more.
func (r *Reader) ReadUnchanged(name string, is filestat.Stat) (data []byte, ok bool) {
	if !is.Mode.IsRegular() || is.Size > MaxSize {
		return nil, false
	}
	return r.quick.read(name, is)
}

// Unknown returns the reason why the existence of a path cannot be determined; nil if it can.
func (r *Reader) Unknown(name string) error {
	_, err := r.root.Lstat(filepath.FromSlash(name))
	if err == nil || errors.Is(err, fs.ErrNotExist) || filestat.NotDirectory(err) || beyondLink(r.root, name) {
		return nil
	}
	return paths.Cause(err)
}

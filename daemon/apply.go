package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"cursord/diffs"
)

// errChanged is returned by apply when the disk does not hold what it is expected to.
var errChanged = errors.New("the file changed on disk")

// apply makes the path hold want, if it still holds expect, and returns errChanged otherwise. A file is replaced as a
// whole: after a crash it is the old or the new one. It stays within the workspace whatever links say.
func apply(root, name string, expect image, want diffs.Content, mode fs.FileMode) error {
	if (image{Content: want}).same(expect) {
		return nil
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer r.Close()
	if !readRooted(r, name).same(expect) {
		return errChanged
	}
	switch {
	case !want.Exists:
		return r.Remove(filepath.FromSlash(name))
	case !expect.Exists:
		return create(r, name, want.Data, mode)
	}
	return replace(r, name, expect, want.Data)
}

// create writes a file that must not be there, with the folders it needs.
func create(r *os.Root, name string, data []byte, mode fs.FileMode) error {
	dir := path.Dir(name)
	if err := r.MkdirAll(filepath.FromSlash(dir), 0o777); err != nil {
		return err
	}
	temp, err := writeTemp(r, name, data, mode, nil)
	if err != nil {
		return err
	}
	defer r.Remove(temp)
	// A link never overwrites, as a rename would.
	if err := r.Link(temp, filepath.FromSlash(name)); errors.Is(err, fs.ErrExist) {
		return errChanged
	} else if err != nil {
		return err
	}
	return syncDir(r, dir)
}

// replace writes a file that is there.
func replace(r *os.Root, name string, expect image, data []byte) error {
	local := filepath.FromSlash(name)
	old, err := r.OpenFile(local, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer old.Close()
	info, err := old.Stat()
	if err != nil {
		return err
	}
	temp := ""
	if replaceable(old, info) {
		temp, err = writeTemp(r, name, data, info.Mode().Perm(), info)
		if err != nil && !errors.Is(err, errOwner) {
			return err
		}
	}
	// The last look before the write: what somebody saved since must not be lost.
	if !readRooted(r, name).same(expect) {
		if temp != "" {
			r.Remove(temp)
		}
		return errChanged
	}
	if temp == "" {
		return rewrite(r, local, data)
	}
	if err := r.Rename(temp, local); err != nil {
		r.Remove(temp)
		return err
	}
	return syncDir(r, path.Dir(name))
}

// rewrite writes in place, for a file whose links, owner or attributes a replacement would lose.
func rewrite(r *os.Root, local string, data []byte) error {
	f, err := r.OpenFile(local, os.O_WRONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// writeTemp writes data to a new file beside name, with the owner of like, if given; errOwner if that cannot be.
func writeTemp(r *os.Root, name string, data []byte, mode fs.FileMode, like fs.FileInfo) (temp string, err error) {
	temp = filepath.FromSlash(path.Join(path.Dir(name), "."+path.Base(name)+"."+newID()+".tmp"))
	if len(filepath.Base(temp)) > 255 {
		temp = filepath.FromSlash(path.Join(path.Dir(name), "."+newID()+".tmp"))
	}
	f, err := r.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close()
			r.Remove(temp)
			temp = ""
		}
	}()
	if _, err = f.Write(data); err != nil {
		return temp, err
	}
	if like != nil {
		if err = keepOwner(f, like); err != nil {
			return temp, err
		}
	}
	if err = f.Chmod(mode.Perm()); err != nil {
		return temp, err
	}
	if err = f.Sync(); err != nil {
		return temp, err
	}
	return temp, f.Close()
}

func syncDir(r *os.Root, dir string) error {
	d, err := r.Open(filepath.FromSlash(dir))
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	defer d.Close()
	return syncFolder(d)
}

var errOwner = errors.New("the owner cannot be kept")

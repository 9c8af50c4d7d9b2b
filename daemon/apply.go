package daemon

import (
	"bytes"
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

// apply makes the path hold want, if it still holds expect, and returns errChanged otherwise; mode is for a file that
// is not there and whose own is not known. A file is replaced as a whole: after a crash it is the old or the new one.
// It stays within the workspace whatever links say, and writes a link itself, never what it points to.
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
		return create(r, name, want, mode)
	case want.Target != "" || expect.Target != "":
		return exchange(r, name, expect, want, mode)
	case !bytes.Equal(want.Data, expect.Data):
		return replace(r, name, expect, want)
	}
	return chmod(r, name, expect, want)
}

// create writes a file or link that must not be there, with the folders it needs.
func create(r *os.Root, name string, want diffs.Content, mode fs.FileMode) error {
	dir := path.Dir(name)
	if err := r.MkdirAll(filepath.FromSlash(dir), 0o777); err != nil {
		return err
	}
	// Links, hard or symbolic, never overwrite, as a rename would.
	var err error
	if want.Target != "" {
		err = r.Symlink(want.Target, filepath.FromSlash(name))
	} else {
		var temp string
		if temp, err = writeTemp(r, name, want, mode, nil); err != nil {
			return err
		}
		defer r.Remove(temp)
		err = r.Link(temp, filepath.FromSlash(name))
	}
	if errors.Is(err, fs.ErrExist) {
		return errChanged
	} else if err != nil {
		return err
	}
	return syncDir(r, dir)
}

// exchange puts a file or a link in the place of the other, or a link in that of a link.
func exchange(r *os.Root, name string, expect image, want diffs.Content, mode fs.FileMode) error {
	var temp string
	var err error
	if want.Target != "" {
		temp = tempName(name)
		err = r.Symlink(want.Target, temp)
	} else {
		temp, err = writeTemp(r, name, want, mode, nil)
	}
	if err != nil {
		return err
	}
	if !readRooted(r, name).same(expect) {
		r.Remove(temp)
		return errChanged
	}
	if err := r.Rename(temp, filepath.FromSlash(name)); err != nil {
		r.Remove(temp)
		return err
	}
	return syncDir(r, path.Dir(name))
}

// chmod gives a file whose content stays its mode, and leaves what is not for review, like setuid, as it is.
func chmod(r *os.Root, name string, expect image, want diffs.Content) error {
	f, err := r.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || permissions(info.Mode()) != expect.Mode {
		return errChanged
	}
	return f.Chmod(info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) | fs.FileMode(want.Mode))
}

// replace writes a file that is there.
func replace(r *os.Root, name string, expect image, want diffs.Content) error {
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
		temp, err = writeTemp(r, name, want, info.Mode().Perm(), info)
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
		if err := rewrite(r, local, want.Data); err != nil || want.Mode == 0 || want.Mode == permissions(info.Mode()) {
			return err
		}
		return chmod(r, name, expect, want)
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

// tempName returns a name beside name that nothing has.
func tempName(name string) string {
	temp := "." + path.Base(name) + "." + newID() + ".tmp"
	if len(temp) > 255 {
		temp = "." + newID() + ".tmp"
	}
	return filepath.FromSlash(path.Join(path.Dir(name), temp))
}

// writeTemp writes want to a new file beside name, with the owner of like, if given; errOwner if that cannot be. It
// has mode unless want has one.
func writeTemp(r *os.Root, name string, want diffs.Content, mode fs.FileMode, like fs.FileInfo) (temp string, err error) {
	if want.Mode != 0 {
		mode = fs.FileMode(want.Mode)
	}
	temp = tempName(name)
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
	if _, err = f.Write(want.Data); err != nil {
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

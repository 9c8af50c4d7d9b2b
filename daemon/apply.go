package daemon

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"cursord/daemon/internal/filestat"
)

// errChanged is returned when the disk does not hold what it is expected to.
var errChanged = errors.New("the file changed on disk")

// errOccupied is returned when there is something in the way of what is to be made.
var errOccupied = errors.New("there is something at that path already")

// apply makes the path to of a change hold after, if it holds before, and returns errChanged otherwise. A file is
// replaced as a whole: after a crash it is the old or the new one, or, where it is written in place, can be made so. It
// writes a link itself, never what it points to.
func (t tree) apply(c *change) error {
	want := c.after
	if (image{Content: want}).same(c.before) {
		return nil
	}
	if !t.read(c.to).same(c.before) {
		return errChanged
	}
	switch {
	case !want.Exists:
		return t.delete(c)
	case !c.before.Exists:
		return t.make(c)
	case want.Target != "" || c.before.Target != "":
		return t.convert(c)
	case !bytes.Equal(want.Data, c.before.Data):
		return t.replace(c)
	}
	return t.chmod(c)
}

// make writes a file or link that must not be there, with the folders it needs.
func (t tree) make(c *change) error {
	if beyondLink(t.root, c.to) {
		return errOccupied
	}
	if err := t.makeRoom(c.to); err != nil {
		return err
	}
	var err error
	if c.after.Target != "" {
		err = t.symlink(c.after.Target, c.to)
	} else {
		var f *os.File
		if f, err = t.writeTemp(c, c.mode, nil); err != nil {
			return err
		}
		_ = f.Close() // it is synced
		if err = t.moveNew(c.temp, c.to); err != nil {
			_ = t.remove(c.temp)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return errChanged
	} else if err != nil {
		return err
	}
	t.syncDir(path.Dir(c.to))
	return nil
}

// convert puts a file or a link in the place of the other, or a link in that of a link.
func (t tree) convert(c *change) error {
	if c.after.Target == "" {
		f, err := t.writeTemp(c, c.mode, nil)
		if err != nil {
			return err
		}
		return t.swap(c, f)
	}
	if err := t.symlink(c.after.Target, c.temp); err != nil {
		return err
	}
	return t.swap(c, nil)
}

// chmod gives a file whose content stays its mode, and leaves what is not for review, like setuid, as it is.
func (t tree) chmod(c *change) error {
	f, err := t.open(c.to)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || c.before.Mode != 0 && c.before.Mode != permissions(info.Mode()) {
		return errChanged
	}
	if c.severs(info) {
		_ = f.Close() // it was open for reading
		return t.renew(c, info)
	}
	return t.setMode(f, keepSpecial(info.Mode())|fs.FileMode(c.after.Mode))
}

func keepSpecial(mode fs.FileMode) fs.FileMode {
	return mode & (fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

// replace writes a file that is there.
func (t tree) replace(c *change) error {
	old, err := t.open(c.to)
	if err != nil {
		return err
	}
	info, err := old.Stat()
	whole := err == nil && replaceable(old, info)
	_ = old.Close() // it was open for reading
	if err != nil {
		return err
	}
	if c.severs(info) {
		return t.renew(c, info)
	}
	if whole {
		f, err := t.writeTemp(c, info.Mode().Perm(), info)
		if err == nil {
			return t.swap(c, f)
		}
		if !errors.Is(err, errOwner) {
			return err
		}
	}
	return t.rewrite(c, info)
}

// renew puts a new file in the place of one that has names which are not to be written through.
func (t tree) renew(c *change, info fs.FileInfo) error {
	f, err := t.writeTemp(c, info.Mode().Perm(), info)
	if errors.Is(err, errOwner) {
		f, err = t.writeTemp(c, info.Mode().Perm(), nil)
	}
	if err != nil {
		return err
	}
	return t.swap(c, f)
}

// rewrite writes in place, for a file whose links, owner or attributes a replacement would lose.
func (t tree) rewrite(c *change, info fs.FileInfo) error {
	f, err := t.root.OpenFile(filepath.FromSlash(c.to), os.O_RDWR|filestat.NonBlocking, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_ = leaseAlone(f) // who opens it now waits; where that cannot be, the look is all there is
	if is, err := f.Stat(); err != nil || c.severs(is) {
		return errors.Join(errChanged, err)
	}
	now, err := io.ReadAll(io.LimitReader(f, int64(len(c.before.Data))+1))
	if err != nil {
		return err
	}
	if !t.is(c.to, f) || !bytes.Equal(now, c.before.Data) || permissions(info.Mode()) != c.before.Mode {
		return errChanged
	}
	err = t.overwrite(f, c.after.Data)
	if err == nil && !t.is(c.to, f) {
		err = errChanged // by another file, which is as it was saved
	}
	if err != nil {
		return errors.Join(err, t.overwrite(f, c.before.Data))
	}
	if c.after.Mode == 0 || c.after.Mode == permissions(info.Mode()) {
		return nil
	}
	if err := t.setMode(f, keepSpecial(info.Mode())|fs.FileMode(c.after.Mode)); err != nil {
		return errors.Join(err, t.overwrite(f, c.before.Data))
	}
	return nil
}

func (t tree) overwrite(f *os.File, data []byte) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := t.write(f, data); err != nil {
		return err
	}
	if err := t.truncate(f, len(data)); err != nil {
		return err
	}
	return t.sync(f)
}

// tempName returns a name beside name that nothing has.
func tempName(name string) string {
	temp := "." + path.Base(name) + "." + rand.Text() + ".tmp"
	if len(temp) > 255 {
		temp = "." + rand.Text() + ".tmp"
	}
	return path.Join(path.Dir(name), temp)
}

// writeTemp writes after to a new file at temp and returns it open, with the owner of like, if given; errOwner if that
// cannot be. It has mode unless after has one.
func (t tree) writeTemp(c *change, mode fs.FileMode, like fs.FileInfo) (*os.File, error) {
	if c.after.Mode != 0 {
		mode = fs.FileMode(c.after.Mode)
	}
	f, err := t.create(c.temp)
	if err != nil {
		return nil, err
	}
	err = t.write(f, c.after.Data)
	if err == nil && like != nil {
		err = keepOwner(f, like)
	}
	if err == nil {
		err = t.setMode(f, mode.Perm())
	}
	if err == nil {
		err = t.sync(f)
	}
	if err != nil {
		_ = f.Close() // as it was not written, there is nothing to lose
		_ = t.remove(c.temp)
		return nil, err
	}
	return f, nil
}

var errOwner = errors.New("the owner cannot be kept")

package atomicfile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"cursord/daemon/internal/filestat"
)

// ErrChanged is returned when a path does not have the expected content.
var ErrChanged = errors.New("the file changed on disk")

// ErrCreated is the ErrChanged of a path that has a file where none was expected.
var ErrCreated = fmt.Errorf("%w: it is there by now", ErrChanged)

// ErrOccupied is returned when a path where something new is to be made already has something.
var ErrOccupied = errors.New("there is already something at that path")

// apply makes the path to of a change hold after, if it holds before; otherwise it returns ErrChanged. A file is replaced as
// a whole: after a crash it is the old or the new one, or, if it is written in place, Resume can make it so. apply writes a
// link itself, never what the link points to.
func (t Root) apply(c *Change) error {
	want := c.After
	if (State{Content: want}).Same(c.Before) {
		return nil
	}
	if now := t.Read(c.To); !now.Same(c.Before) {
		if now.Exists && !c.Before.Exists {
			return ErrCreated
		}
		return ErrChanged
	}
	switch {
	case !want.Exists:
		return t.delete(c)
	case !c.Before.Exists:
		return t.make(c)
	case want.Target != "" || c.Before.Target != "":
		return t.convert(c)
	case !bytes.Equal(want.Data, c.Before.Data):
		return t.replace(c)
	}
	return t.chmod(c)
}

// make writes a file or link at a path where there must be nothing, with the folders it needs.
func (t Root) make(c *Change) error {
	if beyondLink(t.root, c.To) {
		return ErrOccupied
	}
	if err := t.makeRoom(c.To); err != nil {
		return err
	}
	var err error
	if c.After.Target != "" {
		err = t.symlink(c.After.Target, c.To)
	} else {
		var f *os.File
		if f, err = t.writeTemp(c, c.Mode, nil); err != nil {
			return err
		}
		_ = f.Close() // it is synced already
		if err = t.moveNew(c.Temp, c.To); err != nil {
			_ = t.remove(c.Temp)
		}
	}
	if errors.Is(err, fs.ErrExist) && t.Read(c.To).Exists {
		return ErrCreated
	} else if errors.Is(err, fs.ErrExist) {
		return ErrChanged
	} else if err != nil {
		return err
	}
	t.syncDir(path.Dir(c.To))
	return nil
}

// convert replaces a file by a link, a link by a file, or a link by a link.
func (t Root) convert(c *Change) error {
	if c.After.Target == "" {
		f, err := t.writeTemp(c, c.Mode, nil)
		if err != nil {
			return err
		}
		return t.swap(c, f)
	}
	if err := t.symlink(c.After.Target, c.Temp); err != nil {
		return err
	}
	return t.swap(c, nil)
}

// chmod sets the mode of a file whose content stays. It keeps bits that are not reviewed, such as setuid.
func (t Root) chmod(c *Change) error {
	f, err := t.open(c.To)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || c.Before.Mode != 0 && c.Before.Mode != permissions(info.Mode()) {
		return ErrChanged
	}
	if c.severs(info) {
		_ = f.Close() // it was open for reading
		return t.renew(c, info)
	}
	return t.setMode(f, keepSpecial(info.Mode())|fs.FileMode(c.After.Mode))
}

func keepSpecial(mode fs.FileMode) fs.FileMode {
	return mode & (fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

// replace writes a file that exists.
func (t Root) replace(c *Change) error {
	old, err := t.open(c.To)
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

// renew puts a new file in the place of a file whose other names must keep their content.
func (t Root) renew(c *Change, info fs.FileInfo) error {
	f, err := t.writeTemp(c, info.Mode().Perm(), info)
	if errors.Is(err, errOwner) {
		f, err = t.writeTemp(c, info.Mode().Perm(), nil)
	}
	if err != nil {
		return err
	}
	return t.swap(c, f)
}

// rewrite writes in place a file that would lose links, its owner or attributes if it were replaced.
func (t Root) rewrite(c *Change, info fs.FileInfo) error {
	f, err := t.root.OpenFile(filepath.FromSlash(c.To), os.O_RDWR|filestat.NonBlocking, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_ = leaseAlone(f) // others who open it now wait; without leases, the look below must suffice
	if is, err := f.Stat(); err != nil || c.severs(is) {
		return errors.Join(ErrChanged, err)
	}
	now, err := io.ReadAll(io.LimitReader(f, int64(len(c.Before.Data))+1))
	if err != nil {
		return err
	}
	if !t.is(c.To, f) || !bytes.Equal(now, c.Before.Data) || permissions(info.Mode()) != c.Before.Mode {
		return ErrChanged
	}
	err = t.overwrite(f, c.After.Data)
	if err == nil && !t.is(c.To, f) {
		err = ErrChanged // another file took the place; it stays as it was saved
	}
	if err != nil {
		return errors.Join(err, t.overwrite(f, c.Before.Data))
	}
	if c.After.Mode == 0 || c.After.Mode == permissions(info.Mode()) {
		return nil
	}
	if err := t.setMode(f, keepSpecial(info.Mode())|fs.FileMode(c.After.Mode)); err != nil {
		return errors.Join(err, t.overwrite(f, c.Before.Data))
	}
	return nil
}

func (t Root) overwrite(f *os.File, data []byte) error {
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

// TempName returns a new name beside name.
func TempName(name string) string {
	temp := "." + path.Base(name) + "." + rand.Text() + ".tmp"
	if len(temp) > 255 {
		temp = "." + rand.Text() + ".tmp"
	}
	return path.Join(path.Dir(name), temp)
}

// writeTemp writes after to a new file at temp and returns the file, open. If like is given, the file gets its owner, or
// writeTemp returns errOwner. The mode is mode, unless after has one.
func (t Root) writeTemp(c *Change, mode fs.FileMode, like fs.FileInfo) (*os.File, error) {
	if c.After.Mode != 0 {
		mode = fs.FileMode(c.After.Mode)
	}
	f, err := t.create(c.Temp)
	if err != nil {
		return nil, err
	}
	err = t.write(f, c.After.Data)
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
		_ = f.Close() // nothing was written, so nothing can be lost
		_ = t.remove(c.Temp)
		return nil, err
	}
	return f, nil
}

var errOwner = errors.New("the owner cannot be kept")

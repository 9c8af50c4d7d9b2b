package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"time"
)

// Somebody may save a file between the last look at it and its replacement. So the replaced file is not deleted but taken
// aside, by one exchange of two names, and looked at there, where nobody can open it by its name:
//
//  - It is what was expected, and nobody has it open for writing: it is deleted.
//  - It differs: it is put back, and the decision fails. If the system has leases, somebody who wants to write the new file
//    meanwhile waits, and then finds in it what was saved.
//  - It stays open for writing: it is put back, too.
//
// What is left: there are no leases outside of Linux, on network file systems, and for files of other users. There, writes
// are lost of a program that opened the file before and writes after that look, or that writes the new file before it is
// taken back. Without an exchange of names, a save between look and rename is lost, too.

// errBusy says that somebody has a file open.
var errBusy = errors.New("the file is open elsewhere")

// busyTime bounds the wait for somebody to close a file.
const busyTime = 50 * time.Millisecond

// A keptError means that a text that somebody saved could not be put back to its place.
type keptError struct{ at string }

func (e *keptError) Error() string {
	return "it was saved at the same moment; that version is in " + e.at
}

// swap replaces the expected file or link by the file at temp, which is open as f if it is not a link. It closes f.
func (t Root) swap(c *Change, f *os.File) error {
	guarded := f != nil && leaseAlone(f) == nil
	if f != nil {
		defer f.Close()
		if !guarded {
			_ = f.Close() // some systems cannot rename an open file
		}
	}
	err := ErrChanged
	if t.Read(c.To).Same(c.Before) {
		err = t.exchange(c.Temp, c.To)
		if errors.Is(err, errors.ErrUnsupported) {
			if err = t.rename(c.Temp, c.To); err == nil {
				t.syncDir(path.Dir(c.To))
				return nil
			}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrChanged
	}
	if err != nil {
		return errors.Join(err, t.remove(c.Temp))
	}
	out, old, err := t.taken(c)
	if old != nil {
		defer old.Close()
	}
	if err == nil {
		err = t.remove(c.Temp)
	}
	if err == nil {
		t.syncDir(path.Dir(c.To))
		return nil
	}
	if guarded && awaited(f) && out.Unreadable == "" && out.Exists && out.Target == "" {
		// A waiting program will write this file, wherever the file is then.
		if t.overwrite(f, out.Data) == nil && t.setMode(f, out.FileMode.Perm()|keepSpecial(out.FileMode)) == nil {
			return errors.Join(err, t.remove(c.Temp))
		}
	}
	if guarded {
		_ = f.Close()
	}
	return errors.Join(err, t.putBack(c, out))
}

// taken returns the state of the file at temp; a file is open, with a lease if the system has them. It returns ErrChanged if
// the file is not as expected, or changes.
func (t Root) taken(c *Change) (out State, old *os.File, err error) {
	for end := time.Now().Add(busyTime); ; time.Sleep(time.Millisecond) {
		if out = t.Read(c.Temp); out.Unreadable != "" || !out.Exists || out.Target != "" {
			break
		}
		if old, err = t.open(c.Temp); err != nil {
			return out, nil, err
		}
		err = leaseReading(old)
		if !errors.Is(err, errBusy) {
			out = t.Read(c.Temp) // nobody writes it now
			if err != nil || !awaited(old) {
				break
			}
		}
		_ = old.Close()
		old = nil
		if time.Now().After(end) {
			return out, nil, ErrChanged
		}
	}
	if !out.Same(c.Before) {
		return out, old, ErrChanged
	}
	return out, old, nil
}

// putBack moves the file at temp back to its place. If somebody has put a newer file there meanwhile, that one stays.
func (t Root) putBack(c *Change, out State) error {
	in := State{Content: c.After}
	for range 100 {
		if err := t.exchange(c.Temp, c.To); errors.Is(err, fs.ErrNotExist) {
			err = t.moveNew(c.Temp, c.To)
			if err == nil {
				return nil
			}
		} else if err != nil {
			return &keptError{c.Temp}
		}
		now := t.Read(c.Temp)
		if now.Same(in) {
			return t.remove(c.Temp)
		}
		in, out = out, now
	}
	return &keptError{c.Temp}
}

// delete removes a file or a link. It is first taken aside.
func (t Root) delete(c *Change) error {
	if err := t.moveNew(c.To, c.Temp); errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	} else if err != nil {
		return err
	}
	_, old, err := t.taken(c)
	if old != nil {
		defer old.Close()
	}
	if err == nil {
		err = t.remove(c.Temp)
	}
	if err == nil {
		t.syncDir(path.Dir(c.To))
		return nil
	}
	if t.moveNew(c.Temp, c.To) != nil { // there is a new one now
		return errors.Join(err, &keptError{c.Temp})
	}
	return err
}

// is reports whether a name belongs to an open file.
func (t Root) is(name string, f *os.File) bool {
	at, err1 := t.lstat(name)
	info, err2 := f.Stat()
	return err1 == nil && err2 == nil && os.SameFile(at, info)
}

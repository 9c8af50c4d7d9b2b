package daemon

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"

	"cursord/diffs"
)

// A change is what a decision does to a file of a tree: what is before, at from, becomes after, at to.
type change struct {
	from, to string
	temp     string // holds what is written until it is whole; of this change alone
	before   image
	after    diffs.Content
	mode     fs.FileMode // for a file whose own is not known
	dirs     []string    // that to needs and that are not there, the innermost first
	links    links       // through which to may be written in place
}

// writes reports whether there is anything to do on the disk.
func (c *change) writes() bool {
	return c.from != c.to || !c.before.same(image{Content: c.after})
}

// vacates reports whether nothing is left at from.
func (c *change) vacates() bool { return c.before.Exists && (c.from != c.to || !c.after.Exists) }

// carry carries a change out, or leaves the tree as it was and returns why: errChanged and errOccupied among others.
func (t tree) carry(c *change) error {
	moves := c.from != c.to && c.before.Exists
	var err error
	if moves {
		err = t.move(c.from, c.to, c.before)
	}
	if err == nil {
		if err = t.apply(c); err != nil && moves {
			err = errors.Join(err, t.move(c.to, c.from, c.before))
		}
	}
	if errors.Is(err, errChanged) && !moves && c.before.Exists && c.after.Exists && t.read(c.to).same(image{Content: c.after}) {
		err = nil // it was written by another name of the same file
	}
	if err != nil {
		t.removeEmpty(c.dirs)
	}
	return err
}

// move moves a file, or a link itself, to a path at which there is nothing, if it is still as expected; else it returns
// errChanged.
func (t tree) move(from, to string, expect image) error {
	if !t.read(from).same(expect) {
		return errChanged
	}
	if err := t.makeRoom(to); err != nil {
		return err
	}
	if err := t.moveNew(from, to); errors.Is(err, fs.ErrExist) {
		return errOccupied
	} else if err != nil {
		return err
	}
	if !t.read(to).same(expect) { // somebody saved it just before
		return errors.Join(errChanged, t.moveNew(to, from))
	}
	t.syncDir(path.Dir(to))
	t.syncDir(path.Dir(from))
	return nil
}

// A progress is how far a change came before the daemon died.
type progress int

const (
	untouched progress = iota
	carried
	foreign // somebody has written there since
)

// resume finds out how far a change came. One that was under way is carried out.
func (t tree) resume(c *change) (progress, error) {
	if err := t.clear(c); err != nil {
		return foreign, err
	}
	now, after := t.read(c.to), image{Content: c.after}
	moved := false
	if c.from != c.to && c.before.Exists {
		old := t.read(c.from)
		switch {
		case old.same(c.before) && !t.sameFile(c.from, c.to):
			return untouched, nil
		case old.same(c.before):
			if err := t.remove(c.from); err != nil {
				return foreign, err
			}
		}
		moved = true
	}
	switch {
	case now.same(after):
		return carried, nil
	case now.same(c.before) && !moved:
		return untouched, nil
	case now.same(c.before) || now.between(c.before, after):
		rest := *c
		rest.before = now
		if err := t.apply(&rest); err != nil {
			return foreign, err
		}
		return carried, nil
	}
	return foreign, nil
}

// between reports whether an image is what a file holds that is written in place: the start of after and the rest of
// before, or the content of after with the mode of before.
func (a image) between(before, after image) bool {
	if a.odd != "" || !a.Exists || !before.Exists || !after.Exists || a.Target != "" || before.Target != "" || after.Target != "" {
		return false
	}
	if a.Mode != before.Mode {
		return false
	}
	common := 0
	for common < min(len(a.Data), len(after.Data)) && a.Data[common] == after.Data[common] {
		common++
	}
	if len(a.Data) > len(before.Data) || bytes.Equal(a.Data, after.Data) {
		return common == len(a.Data)
	}
	return len(a.Data) == len(before.Data) && bytes.Equal(a.Data[common:], before.Data[common:])
}

// clear removes what a change left at its temp: what was to be written, or what was there before. Anything else is what
// somebody saved at that very moment, and goes back.
func (t tree) clear(c *change) error {
	left, now, after := t.read(c.temp), t.read(c.to), image{Content: c.after}
	switch {
	case left.odd == "" && !left.Exists:
		return nil
	case left.same(after), left.same(c.before):
		return t.remove(c.temp)
	case now.same(after) && now.Exists:
		if err := t.exchange(c.temp, c.to); err != nil {
			return err
		}
		return t.remove(c.temp)
	case now.same(after):
		return t.moveNew(c.temp, c.to)
	case left.odd == "" && left.Target == "" && bytes.HasPrefix(c.after.Data, left.Data):
		return t.remove(c.temp)
	}
	return &keptError{c.temp}
}

func (t tree) sameFile(a, b string) bool {
	x, err1 := t.lstat(a)
	y, err2 := t.lstat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

package atomicfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"

	"cursord/diffs"
)

// A Change is a decision's change of one file in a folder: the content Before at From becomes After at To. Paths are slash
// paths below the folder.
type Change struct {
	From, To string
	Temp     string // path of the new content until it is complete; only for this change (TempName)
	Before   State
	After    diffs.Content
	Mode     fs.FileMode // for a file whose own mode is unknown
	Dirs     []string    // folders that To needs and that do not exist, the innermost first
	Links    Links       // the file that may be written in place at To
	Tried    Tried       // not nil: Carry only tries
}

// Writes reports whether the change writes the disk.
func (c *Change) Writes() bool {
	moves := c.From != c.To && (c.Before.Exists || c.After.Exists) // of nothing, nothing is to be moved
	return moves || !c.Before.Same(State{Content: c.After})
}

// Vacates reports whether From has something before the change, and nothing after it.
func (c *Change) Vacates() bool { return c.Before.Exists && (c.From != c.To || !c.After.Exists) }

// Carry carries out a change. If it fails, the folder is as before; the errors include ErrChanged and ErrOccupied.
func (t Root) Carry(c *Change) error {
	if c.Tried != nil {
		return t.try(c)
	}
	moves := c.From != c.To && c.Before.Exists
	var err error
	if moves {
		err = t.move(c.From, c.To, c.Before)
	}
	if err == nil {
		if err = t.apply(c); err != nil && moves {
			err = errors.Join(err, t.move(c.To, c.From, c.Before))
		}
	}
	if errors.Is(err, ErrChanged) && !moves && c.Before.Exists && c.After.Exists && t.Read(c.To).Same(State{Content: c.After}) {
		err = nil // it was written through another name of the same file
	}
	if err != nil {
		t.RemoveEmpty(c.Dirs)
	}
	return err
}

// move moves a file, or a link itself, to an empty path. If the file is not as expected, it returns ErrChanged.
func (t Root) move(from, to string, expect State) error {
	if !t.Read(from).Same(expect) {
		return ErrChanged
	}
	if err := t.makeRoom(to); err != nil {
		return err
	}
	if err := t.moveNew(from, to); errors.Is(err, fs.ErrExist) {
		return ErrOccupied
	} else if err != nil {
		return err
	}
	if !t.Read(to).Same(expect) { // somebody saved it just before
		return errors.Join(ErrChanged, t.moveNew(to, from))
	}
	t.syncDir(path.Dir(to))
	t.syncDir(path.Dir(from))
	return nil
}

// A Progress is the state of a change when the daemon died.
type Progress int

const (
	Untouched Progress = iota // the files have their contents from before
	Carried                   // the files have their new contents
	Foreign                   // somebody has written the files since
)

// Resume determines the progress of a change. If the change had begun, it completes the change.
func (t Root) Resume(c *Change) (Progress, error) {
	if err := t.clear(c); err != nil {
		return Foreign, err
	}
	now, after := t.Read(c.To), State{Content: c.After}
	moved := false
	if c.From != c.To && c.Before.Exists {
		old := t.Read(c.From)
		switch {
		case old.Same(c.Before) && !t.sameFile(c.From, c.To):
			return Untouched, nil
		case old.Same(c.Before):
			if err := t.remove(c.From); err != nil {
				return Foreign, err
			}
		}
		moved = true
	}
	switch {
	case now.Same(after):
		return Carried, nil
	case now.Same(c.Before) && !moved:
		return Untouched, nil
	case now.Same(c.Before) || now.between(c.Before, after):
		rest := *c
		rest.Before = now
		if err := t.apply(&rest); err != nil {
			return Foreign, err
		}
		return Carried, nil
	}
	return Foreign, nil
}

// between reports whether a is a state in the middle of writing in place: the beginning of after and the rest of before, or
// the content of after with the mode of before.
func (a State) between(before, after State) bool {
	if a.Unreadable != "" || !a.Exists || !before.Exists || !after.Exists || a.Target != "" || before.Target != "" || after.Target != "" {
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

// clear removes the file that a change left at Temp, if it has the new or the old content. Any other content was saved at
// that moment, and goes back to its place.
func (t Root) clear(c *Change) error {
	left, now, after := t.Read(c.Temp), t.Read(c.To), State{Content: c.After}
	switch {
	case left.Unreadable == "" && !left.Exists:
		return nil
	case left.Same(after), left.Same(c.Before):
		return t.remove(c.Temp)
	case now.Same(after) && now.Exists:
		if err := t.exchange(c.Temp, c.To); err != nil {
			return err
		}
		return t.remove(c.Temp)
	case now.Same(after):
		return t.moveNew(c.Temp, c.To)
	case left.Unreadable == "" && left.Target == "" && bytes.HasPrefix(c.After.Data, left.Data):
		return t.remove(c.Temp)
	}
	return &keptError{c.Temp}
}

func (t Root) sameFile(a, b string) bool {
	x, err1 := t.lstat(a)
	y, err2 := t.lstat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// HalfWritten reports whether a change was carried out in place, at least in part, before somebody else changed the file:
// the beginning of the file is nearer to the new content than to the old one.
func (t Root) HalfWritten(c *Change) bool {
	if c.From != c.To || !c.Before.Exists || !c.After.Exists || c.Before.Target != "" || c.After.Target != "" {
		return false
	}
	now := t.Read(c.To)
	return now.Unreadable == "" && now.Exists && now.Target == "" && commonStart(now.Data, c.After.Data) > commonStart(now.Data, c.Before.Data)
}

func commonStart(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

package history

import "slices"

// This file is about edits that change a file as a whole.

// LastWhole returns the edit that was the last to change the file as a whole; ok is false if something else of the file as a whole was changed
// later, or nothing was.
func (f *File) LastWhole() (n int32, ok bool) {
	if f == nil || len(f.Ops) == 0 {
		return 0, false
	}
	last := f.Ops[len(f.Ops)-1]
	return last.By, last.Aspect == TheBody && !last.Lost
}

// Had reports whether the file held something that is no text before an edit.
func (f *File) Had(b Body) bool {
	return f != nil && slices.ContainsFunc(f.Ops, func(op Op) bool { return op.Aspect == TheBody && op.Was.same(b) })
}

// Latest reports whether no lines were written or removed after those of an edit, and nobody has changed these.
func (f *File) Latest(by int32) bool {
	mine, others := int32(0), int32(0)
	note := func(a Author) {
		if a.By == by {
			mine = max(mine, a.Group)
		} else {
			others = max(others, a.Group)
		}
	}
	for _, r := range f.Runs {
		note(r.Author)
	}
	for _, g := range f.Dead {
		for _, d := range g.Lines {
			note(d.wrote())
			note(d.removed())
		}
	}
	return mine > others && !slices.Contains(f.Touched, by)
}

// removesOthers reports whether an edit that changes the file as a whole removes lines that others have written.
func (t *taking) removesOthers(op Op) bool {
	if op.Aspect != TheBody || op.Was.Kind != Text || t.step.Is.Kind == Text {
		return false
	}
	for _, e := range t.step.Edits {
		for i := range e.Removed {
			if by := t.c.f.run(e.From + i).By; by != op.By {
				return true
			}
		}
	}
	return false
}

// deadBefore returns the lines that were dead when an edit made the file anew; a person has removed the file since. made is the place of that edit
// among the operations.
func (f *File) deadBefore(made int) (dead []Grave) {
	last, group := int32(0), int32(-1) // the edit that had removed the file, and its latest group
	for _, o := range f.Ops[:max(made, 0)] {
		if o.Aspect == TheBody {
			last = o.By
		}
	}
	for _, g := range f.Dead {
		for _, d := range g.Lines {
			if d.Del == last {
				group = max(group, d.DelGroup)
			}
		}
	}
	for _, g := range f.Dead {
		lines := slices.DeleteFunc(slices.Clone(g.Lines), func(d Dead) bool { return d.DelGroup > group })
		if len(lines) > 0 {
			dead = append(dead, Grave{g.At, lines})
		}
	}
	return dead
}

// Made reports whether some edits were the first to make a content without lines, of which others have made something else.
func (f *File) Made(by func(int32) bool, b Body) bool {
	made := false
	if f == nil {
		return false
	}
	for _, op := range f.Ops {
		if op.Aspect != TheBody {
			continue
		}
		if op.Was.same(b) {
			return made
		}
		made = by(op.By)
	}
	return false
}

// RemovedText reports whether some edits have removed a text.
func (f *File) RemovedText(by func(int32) bool) bool {
	return f != nil && slices.ContainsFunc(f.Ops, func(op Op) bool { return op.Aspect == TheBody && op.Was.Kind == Text && by(op.By) })
}

// HeldLast reports whether the last edit that changed the file as a whole has removed a text of these lines.
func (f *File) HeldLast(lines []string) bool {
	n, whole := f.LastWhole()
	if !whole || len(lines) == 0 {
		return false
	}
	for _, g := range f.Dead {
		for _, d := range g.Lines {
			if d.Del != n {
				continue
			}
			if len(lines) == 0 || trim(d.Text) != trim(lines[0]) {
				return false
			}
			lines = lines[1:]
		}
	}
	return len(lines) == 0
}

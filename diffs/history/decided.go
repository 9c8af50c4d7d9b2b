package history

import "slices"

// Decided returns the history without the note that nobody had decided about dead lines, where in, given the present line behind them,
// holds: a person has accepted what is there instead.
func (f *File) Decided(in func(at int) bool) *File {
	return f.mark(func(at int, d Dead) bool { return d.Pending && !in(at) })
}

// PendingAs returns the history with the notes that Decided has removed from old.
func (f *File) PendingAs(old *File) *File {
	if f == nil || old == nil {
		return f
	}
	pending := map[Dead]int{}
	for _, g := range old.Dead {
		for _, d := range g.Lines {
			if d.Pending {
				d.Pending, d.Rejected, d.Again = false, false, 0
				pending[d]++
			}
		}
	}
	return f.mark(func(_ int, d Dead) bool {
		was := d.Pending
		d.Pending, d.Rejected, d.Again = false, false, 0
		pending[d]--
		return was || pending[d] >= 0
	})
}

// mark returns the history with another Pending of its dead lines; f itself if none changes.
func (f *File) mark(pending func(at int, d Dead) bool) *File {
	if f == nil {
		return nil
	}
	marked, changed := *f, false
	marked.Dead = slices.Clone(f.Dead)
	for i, g := range f.Dead {
		for k, d := range g.Lines {
			if now := pending(g.At, d); now != d.Pending {
				if changed = true; &marked.Dead[i].Lines[0] == &g.Lines[0] {
					marked.Dead[i].Lines = slices.Clone(g.Lines)
				}
				marked.Dead[i].Lines[k].Pending = now
			}
		}
	}
	if !changed {
		return f
	}
	return &marked
}

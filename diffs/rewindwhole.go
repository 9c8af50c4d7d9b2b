package diffs

import (
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/weave"
)

// beneathWhole returns the review from before the last change of the file as a whole: its creation, its removal, or a change between a text and a
// content without lines. It returns nil if that change is not pending, is one of the edits that are taken back (of has them), or is not known any
// more, or if somebody has changed the file since.
func (r *Review) beneathWhole(of map[int32]bool) *Review {
	n, whole := r.past.LastWhole()
	if !whole || of[n] || !r.wholeBy(n) {
		return nil
	}
	under := r.Copy()
	if _, left, _, err := under.without(map[int32]bool{n: true}); err != nil || left != (Left{}) {
		return nil
	}
	return under
}

// wholeBy reports whether all that the file is now is pending, of edit n.
func (r *Review) wholeBy(n int32) bool {
	lines := r.is && (r.whole == nil || r.limits.kind(r.whole.now) == Modified)
	switch {
	case r.op.ID != 0 && !slices.Contains(r.op.Edits, n), r.whole != nil && (r.whole.touched || r.whole.forked):
		return false
	case !lines || r.whole != nil && r.op.ID == 0:
		return r.op.ID != 0
	case !r.past.Latest(n):
		return false
	}
	present := r.present().lines
	for i := range present {
		if by, moved := r.past.Of(i); by != n || moved || r.whole == nil && present[i].Ins != n {
			return false
		}
	}
	return len(present) > 0
}

// putOver applies the last edit of r, which has changed the file as a whole, to another beginning, and makes r the result.
func (r *Review) putOver(under *Review) {
	n, _ := r.past.LastWhole()
	now, op := r.Current(), r.op.ID
	under.Observe(now, &r.sources.of([]int32{n})[0])
	if op != 0 && under.op.ID != 0 {
		under.op.ID = op
	}
	*r = *under
}

// revived returns the lines of a text that was removed as a whole, pending, as they were before that; nil if these are not the lines that a rewind
// brings back. of has the edits that are taken back.
func (r *Review) revived(of map[int32]bool, back *history.Back) []weave.Atom {
	if r.whole != nil || r.is || !r.was || back.Body.Kind != history.Text {
		return nil
	}
	atoms, rest := make([]weave.Atom, 0, len(r.weave.Atoms)), r.weave.Atoms
	pass := func() bool { // takes over the removed lines up to one that lives again
		for len(rest) > 0 && !of[rest[0].Del] {
			atoms, rest = append(atoms, rest[0]), rest[1:]
		}
		return len(rest) > 0 && of[rest[0].Del]
	}
	next := r.weave.Next
	dead := 0 // of the dead lines before a line, those that were looked at
	for _, p := range back.Lines {
		if p.From != p.To {
			return nil
		}
		if p.Pending && slices.Contains(r.sources.numbers, p.Ins) {
			for ; dead < len(p.Behind); dead++ {
				if d := p.Behind[dead]; len(rest) > 0 && !of[rest[0].Del] && rest[0].Del == d.Del && weave.TrimEnd(rest[0].Text) == weave.TrimEnd(d.Text) {
					atoms, rest = append(atoms, rest[0]), rest[1:]
				}
			}
			next++
			atoms = append(atoms, weave.Atom{Text: p.Text, ID: next, Ins: p.Ins})
			continue
		}
		if !pass() || weave.TrimEnd(rest[0].Text) != weave.TrimEnd(p.Text) {
			return nil
		}
		a := rest[0]
		a.Del = 0
		atoms, rest = append(atoms, a), rest[1:]
	}
	if pass() {
		return nil // more lines than the rewind brings back
	}
	r.weave.Next = next
	return atoms
}

// without returns op without some edits.
func (op fileOp) without(of map[int32]bool) fileOp {
	op.Edits = slices.DeleteFunc(slices.Clone(op.Edits), func(n int32) bool { return of[n] })
	return op
}

// beneath returns how many lines are pending as removed by others than the edits that of has, which have not written them, either. Where others have
// removed a text, only those count that a person has typed since.
func (r *Review) beneath(of map[int32]bool) (lines int) {
	type line struct {
		text string
		del  int32
	}
	mine := map[line]int{}
	for _, g := range r.past.Graves() {
		for _, d := range g.Lines {
			if of[d.Ins] {
				mine[line{weave.TrimEnd(d.Text), d.Del}]++
			}
		}
	}
	removed := r.past.RemovedText(func(n int32) bool { return !of[n] })
	for _, a := range r.weave.Atoms {
		if a.Del == 0 || of[a.Del] || removed && (!a.User || r.past.RemovedText(func(n int32) bool { return n == a.Del })) {
			continue
		}
		if k := (line{weave.TrimEnd(a.Text), a.Del}); mine[k] > 0 {
			mine[k]--
		} else {
			lines++
		}
	}
	return lines
}

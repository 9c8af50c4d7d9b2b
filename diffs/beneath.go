package diffs

import (
	"slices"
	"strings"

	"cursord/diffs/history"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// A Side is what a person's other text, which is not in the review, has in a place of the present text.
type Side struct {
	Over []uint64 // the place: what Over has returned
	Mine []string // the person's lines
}

// Over returns the ids of some lines of the present text, counted from 0, and of the pending deletions among and beside them. They name the
// place also when lines around it have changed.
func (r *Review) Over(from, to int) (ids []uint64) {
	line := 0
	for i := range r.weave.Atoms {
		a := &r.weave.Atoms[i]
		if a.Del == 0 {
			line++
		}
		if a.Del == 0 && from < line && line <= to || a.Del != 0 && from <= line && line <= to {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// PutBeneath makes a person's lines what the edits in a place have replaced: a reject of the hunks there brings them back, and not the
// lines from before both. Settled lines stay. Current does not change. It returns the ids of the pending lines in the place, which may now be
// beside other hunks; nil, and nothing changes, if there are none.
func (r *Review) PutBeneath(s Side) []uint64 {
	start, end := r.span(s.Over)
	if r.whole != nil || r.op.ID != 0 || start == end {
		return nil
	}
	n, at, old := int32(0), []int(nil), []string(nil)
	for i := start; i < end; i++ {
		a := &r.weave.Atoms[i]
		if n = max(n, a.Ins, a.Del); a.Ins == 0 {
			at, old = append(at, i), append(old, a.Text)
		}
	}
	if n == 0 {
		return nil
	}
	r.forget()
	before := r.shape().sum()
	var out []weave.Atom
	i, j := start, 0
	upTo := func(atom, line int) {
		for ; j < line; j++ {
			out = append(out, r.put(s.Mine[j], n))
		}
		for ; i < atom; i++ {
			if r.weave.Atoms[i].Del == 0 {
				out = append(out, r.weave.Atoms[i])
			}
		}
	}
	linetext.Common(old, s.Mine, func(k, line int) {
		upTo(at[k], line)
		out, i, j = append(out, r.weave.Atoms[i]), i+1, line+1
	})
	upTo(end, len(s.Mine))
	kept := make(map[uint64]bool)
	for _, a := range out {
		kept[a.ID] = true
	}
	over := r.overwritten(start, end, out, kept)
	r.weave.Atoms = slices.Replace(r.weave.Atoms, start, end, out...)
	r.past = r.past.Beneath(over).Place(r.tombstones())
	r.weave.Repair()
	r.weave.Normalise()
	if r.was && r.weave.Same() {
		r.weave.SettleBack()
	}
	if r.shape().sum() != before {
		r.rev++
	}
	var pending []uint64
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; kept[a.ID] && a.Pending() {
			pending = append(pending, a.ID)
		}
	}
	return pending
}

// overwritten returns what the history has to know of PutBeneath, which puts out, with the ids in kept, in the place of the atoms from start to end.
func (r *Review) overwritten(start, end int, out []weave.Atom, kept map[uint64]bool) (o history.Overwritten) {
	for _, a := range r.weave.Atoms[:start] {
		if a.Del == 0 {
			o.From++
		}
	}
	had := map[uint64]bool{}
	for _, a := range r.weave.Atoms[start:end] {
		had[a.ID] = true
		o.Edits = append(o.Edits, a.Ins, a.Del)
		if a.Del != 0 && !kept[a.ID] {
			o.Gone = append(o.Gone, a.Text)
		}
	}
	o.To = o.From
	for _, a := range out {
		switch {
		case a.Del == 0:
			o.To++
		case !had[a.ID]:
			o.Mine = append(o.Mine, history.Tombstone{Text: a.Text, Del: a.Del, First: o.To})
		}
	}
	return o
}

func (r *Review) put(text string, n int32) weave.Atom {
	return weave.Atom{Text: strings.Clone(text), ID: r.weave.ID(), Del: n, User: true}
}

// span returns the atoms from the first to the last of some ids.
func (r *Review) span(ids []uint64) (start, end int) {
	chosen := idSet(ids)
	for i := range r.weave.Atoms {
		if chosen[r.weave.Atoms[i].ID] {
			if end == 0 {
				start = i
			}
			end = i + 1
		}
	}
	return start, end
}

// hunksWith returns the ids of the hunks of text that have one of some atoms.
func (r *Review) hunksWith(atoms map[uint64]bool) (ids []uint64) {
	for _, p := range r.list() {
		if p.what == aRun && slices.ContainsFunc(r.weave.Atoms[p.start:p.end], func(a weave.Atom) bool { return atoms[a.ID] }) {
			ids = append(ids, p.id)
		}
	}
	return ids
}

func idSet(ids []uint64) map[uint64]bool {
	set := make(map[uint64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

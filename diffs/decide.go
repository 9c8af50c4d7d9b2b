package diffs

import (
	"fmt"
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// A Range selects changed lines of a hunk, counted from 0 without the context; To is exclusive.
type Range struct{ From, To int }

// A selection is what a decision is about: atoms by index, and the other parts of a file.
type selection struct {
	atoms []bool
	parts [parts]bool // aRun is not used
	over  bool        // an accept removes the person's lines in the same places
}

// goes reports whether a decision removes atom i, which is a. A person's line in the same place stays, unless it is to go.
func (s *selection) goes(i int, a *weave.Atom, accept bool) bool {
	return s.atoms[i] && (accept && a.Ins == 0 && (s.over || !a.Both) || !accept && a.Del == 0)
}

// Decide accepts or rejects hunks, with all hunks linked to them, as one step. With lines, which need a single hunk, it
// decides only these of its changed lines. It may return ErrNotFound, ErrRange, ErrBaselineUnknown, ErrUserChanged or
// ErrBaselineGone, and then nothing has changed. An accept leaves Current as it is, a reject leaves Baseline.
func (r *Review) Decide(ids []uint64, accept bool, lines *Range) (Decision, error) {
	pieces := r.list()
	sel, err := r.choose(pieces, ids, lines)
	if err != nil {
		return Decision{}, err
	}
	return r.decide(pieces, sel, accept)
}

// Decidable returns the error that Decide would return for a hunk, or nil.
func (r *Review) Decidable(id uint64, accept bool) error {
	sel, err := r.choose(r.list(), []uint64{id}, nil)
	if err != nil {
		return err
	}
	return r.allowed(sel, accept)
}

func (r *Review) allowed(sel selection, accept bool) error {
	w := r.whole
	switch {
	case accept && sel.parts[theOp] && w != nil && w.forked:
		return ErrUserChanged
	case accept && r.isPart():
		return ErrBaselineGone
	case accept:
	case sel.parts[theUnknown]:
		return ErrBaselineUnknown
	case sel.parts[theOp] && w != nil && w.touched:
		return ErrUserChanged
	}
	return nil
}

// choose returns what ids and lines select, without linked hunks.
func (r *Review) choose(pieces []piece, ids []uint64, lines *Range) (selection, error) {
	sel := selection{atoms: make([]bool, len(r.weave.Atoms))}
	if len(ids) == 0 {
		return sel, fmt.Errorf("%w: none was named", ErrNotFound)
	}
	if lines != nil && len(ids) != 1 {
		return sel, fmt.Errorf("%w: it needs one hunk, not %d", ErrRange, len(ids))
	}
	wanted := make(map[uint64]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	for _, p := range pieces {
		if !wanted[p.id] {
			continue
		}
		delete(wanted, p.id)
		if lines != nil {
			all, err := r.chooseLines(sel.atoms, p, *lines)
			if err != nil {
				return sel, err
			}
			if !all {
				continue
			}
		}
		sel.parts[p.what] = true
		for i := p.start; i < p.end; i++ {
			sel.atoms[i] = true
		}
	}
	for _, id := range ids {
		if wanted[id] {
			return sel, fmt.Errorf("%w: %d", ErrNotFound, id)
		}
	}
	return sel, nil
}

// chooseLines selects changed lines of a piece, and reports whether these are all of its lines.
func (r *Review) chooseLines(sel []bool, p piece, lines Range) (all bool, err error) {
	changed := r.changed(p)
	if lines.From < 0 || lines.From >= lines.To || lines.To > len(changed) {
		return false, fmt.Errorf("%w: lines %d to %d of %d changed lines", ErrRange, lines.From, lines.To, len(changed))
	}
	n := 0
	for _, i := range changed[lines.From:lines.To] {
		if i >= 0 {
			sel[i] = true
			n++
		}
	}
	if n == 0 {
		return false, fmt.Errorf("%w: it selects only the end of the line before", ErrRange)
	}
	return n == p.end-p.start, nil
}

// decide adds to a selection what is linked with it, logs it and carries it out.
func (r *Review) decide(pieces []piece, sel selection, accept bool) (Decision, error) {
	r.forget()
	if err := r.allowed(sel, accept); err != nil {
		return Decision{}, err
	}
	was, before := r.present(), r.beforeFollowing()
	r.close(sel.atoms, pieces)
	d := Decision{
		Accept: accept, Before: r.mark(), Op: sel.parts[theOp], Unknown: sel.parts[theUnknown],
		Mode: sel.parts[theMode], Move: sel.parts[theMove], Over: sel.over,
	}
	for _, p := range pieces {
		chosen := p.what != aRun && sel.parts[p.what]
		if slices.Contains(sel.atoms[p.start:p.end], true) {
			chosen = true
			d.Runs = append(d.Runs, r.log(p, sel, accept))
		}
		if chosen {
			d.Hunks = append(d.Hunks, p.id)
		}
	}
	past := r.past
	if accept {
		r.past = past.Decided(r.gaps(sel))
	}
	r.decideAtoms(sel, accept, d.Runs)
	if d.Unknown {
		r.unknown = fileOp{}
	}
	if d.Op {
		r.decideOp(accept, &d)
	}
	r.settleExistence()
	r.decideAttrs(accept, d.Mode, d.Move)
	if !accept || r.past != past || d.ChangesBoth() {
		if was := past.Marshal(); len(was) <= mostPast {
			d.Past = was
		}
	}
	if !accept || d.ChangesBoth() {
		r.follow(was, history.Decision, 0)
	}
	r.rev++
	d.After, d.Last = r.shape().sum(), r.weave.Next
	if before != nil {
		r.carry(before, func(former *Review) bool {
			_, err := former.decideAs(before, sel, accept)
			return err == nil
		})
	}
	return d, nil
}

// gaps returns a function that reports whether a selection has a line right before or behind the place in front of a present line.
func (r *Review) gaps(sel selection) func(line int) bool {
	line, in := 0, map[int]bool{}
	for i, a := range r.weave.Atoms {
		in[line] = in[line] || sel.atoms[i]
		if a.Del == 0 {
			line++
			in[line] = sel.atoms[i]
		}
	}
	return func(line int) bool { return in[line] }
}

// mostPast bounds the history that a decision keeps, in bytes: each decision about a file would have one.
const mostPast = 64 << 10

// decideAtoms carries out a decision on lines, and notes in runs where they are now.
func (r *Review) decideAtoms(sel selection, accept bool, runs []decidedRun) {
	inherit := make(map[string]bool) // the user's lines that this removes, and that the agent's copy keeps
	if accept {
		for i := range r.weave.Atoms {
			if a := &r.weave.Atoms[i]; sel.goes(i, a, accept) && a.User {
				inherit[linetext.Key(a.Text)] = true
			}
		}
		delete(inherit, "")
	}
	kept := make([]weave.Atom, 0, len(r.weave.Atoms))
	next := 0
	for i, a := range r.weave.Atoms {
		if next < len(runs) && i == runs[next].start {
			runs[next].At = len(kept)
		}
		switch {
		case !sel.atoms[i]:
			kept = append(kept, a)
		case sel.goes(i, &a, accept):
		case accept && a.Ins != 0:
			a.Ins = 0
			a.User = a.User || len(inherit) > 0 && inherit[linetext.Key(a.Text)]
			kept = append(kept, a)
		default:
			a.Del, a.Both = 0, false
			kept = append(kept, a)
		}
		if next < len(runs) && i == runs[next].end-1 {
			runs[next].Len = len(kept) - runs[next].At
			next++
		}
	}
	r.weave.Atoms = kept
}

// decideOp carries out a decision on the file's creation, deletion or whole change.
func (r *Review) decideOp(accept bool, d *Decision) {
	r.op = fileOp{}
	if w := r.whole; w != nil {
		lost := r.lost(weave.Current)
		if accept {
			lost = r.lost(weave.Baseline)
			w.base, w.baseID = w.now, w.nowID
		} else {
			w.now, w.nowID = w.base, w.baseID
		}
		d.Lost, w.touched, w.forked = &lost, false, false
		w.classify(r.limits)
	}
	switch {
	case accept && (r.is || r.whole != nil || len(r.weave.Atoms) == 0): // else it keeps a person's lines in a file that was deleted
		r.was = r.is
	case !r.is:
		r.is, r.isPath = true, r.wasPath
	default:
		r.is = r.was
	}
}

package diffs

import (
	"slices"

	"cursord/diffs/internal/weave"
)

// Replace accepts hunks in the place of the lines that HunksBeside names as Beside, which Decide keeps. These lines go from both sides, and
// Undo brings them back. The errors are those of Decide; hunks without such lines are only accepted.
func (r *Review) Replace(ids []uint64) (Decision, error) {
	pieces := r.list()
	sel, err := r.choose(pieces, ids, nil)
	if err != nil {
		return Decision{}, err
	}
	sel.over = true
	r.widen(pieces, sel, func(a *weave.Atom) bool { return a.Both })
	return r.decide(pieces, sel, true)
}

// widen adds to the pieces that are selected the settled lines right beside them that are to go, and selects these.
func (r *Review) widen(pieces []piece, sel selection, goes func(*weave.Atom) bool) {
	taken := 0 // up to here by the pieces before
	for k := range pieces {
		p := &pieces[k]
		if p.what != aRun || !sel.atoms[p.start] {
			continue
		}
		for p.start > max(p.contextFrom, taken) && goes(&r.weave.Atoms[p.start-1]) {
			p.start--
			sel.atoms[p.start] = true
		}
		for p.end < p.contextTo && goes(&r.weave.Atoms[p.end]) {
			sel.atoms[p.end] = true
			p.end++
		}
		taken = p.end
	}
}

// ChangesBoth reports whether the decision has changed both sides: Replace has removed settled lines, or an accept has kept a person's line
// that the edit's side lacked.
func (d *Decision) ChangesBoth() bool {
	for _, run := range d.Runs {
		for i := range run.Atoms {
			if a := &run.Atoms[i]; a.settled() || d.Accept && a.Decided && !a.Gone && a.Del != 0 && a.Ins == 0 {
				return true
			}
		}
	}
	return false
}

// settled reports whether the line was settled and the decision removed it.
func (a *decidedAtom) settled() bool { return a.Gone && a.Ins == 0 && a.Del == 0 }

// IsBeside reports whether a hunk has lines that Replace would remove.
func (r *Review) IsBeside(id uint64) bool {
	for _, p := range r.list() {
		if p.id == id && (p.what == aRun || p.what == theOp) {
			own := slices.ContainsFunc(r.weave.Atoms[p.start:p.end], func(a weave.Atom) bool { return a.Both })
			return own || r.besideFrom(p.start, p.contextFrom) < p.start || r.besideTo(p.end, p.contextTo) > p.end
		}
	}
	return false
}

// HunksBeside is Hunks with all lines of Beside among the context, however many.
func (r *Review) HunksBeside() []Hunk { return r.hunks(true) }

// besideFrom returns where the person's settled lines of the same place right before atom i begin, not before from.
func (r *Review) besideFrom(i, from int) int {
	for i > from && r.weave.Atoms[i-1].Both {
		i--
	}
	return i
}

// besideTo returns where the person's settled lines of the same place from atom i on end, not after to.
func (r *Review) besideTo(i, to int) int {
	for i < to && r.weave.Atoms[i].Both {
		i++
	}
	return i
}

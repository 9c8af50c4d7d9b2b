package diffs

import (
	"errors"
	"fmt"
	"slices"
)

// Copy returns a copy of the review; the two are independent.
func (r *Review) Copy() *Review {
	c := *r
	c.weave.Atoms = slices.Clone(r.weave.Atoms)
	c.sources = sources{slices.Clone(r.sources.by), slices.Clone(r.sources.numbers)}
	for _, op := range []*fileOp{&c.op, &c.unknown, &c.chmod, &c.renamed} {
		op.Edits = slices.Clone(op.Edits)
	}
	if r.whole != nil {
		w := *r.whole
		c.whole = &w
	}
	return &c
}

// DecideFrom decides in r the hunks of other, a copy that has changed differently since, as far as both have them. lines are
// as with Decide. It returns ErrNotFound if r has nothing of them, or an error of Decide's.
func (r *Review) DecideFrom(other *Review, ids []uint64, accept bool, lines *Range) (Decision, error) {
	pieces := other.list()
	theirs, err := other.choose(pieces, ids, lines)
	if err != nil {
		return Decision{}, err
	}
	other.close(theirs.atoms, pieces)
	d, err := r.decideAs(other, theirs, accept)
	if errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%w: %v", ErrNotFound, ids)
	}
	return d, err
}

// decideAs is DecideFrom for a selection in other with all linked hunks.
func (r *Review) decideAs(other *Review, theirs selection, accept bool) (Decision, error) {
	mine, found := r.selected(other, theirs)
	if !found {
		return Decision{}, ErrNotFound
	}
	return r.decide(r.list(), mine, accept)
}

// selected returns what a selection in other is in r. A whole hunk takes along the deletions in its place that other lacks, because a person
// has deleted or changed those lines as well.
func (r *Review) selected(other *Review, theirs selection) (mine selection, found bool) {
	chosen := make(map[uint64]bool)
	for i := range other.weave.Atoms {
		if theirs.atoms[i] {
			chosen[other.weave.Atoms[i].ID] = true
		}
	}
	mine = selection{atoms: make([]bool, len(r.weave.Atoms)), over: theirs.over}
	for what := theUnknown; what <= theOp; what++ {
		if theirs.parts[what] && r.fileOp(what).ID != 0 && r.fileOp(what).ID == other.fileOp(what).ID {
			mine.parts[what], found = true, true
		}
	}
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; a.Pending() && (mine.parts[theOp] || chosen[a.ID]) {
			mine.atoms[i], found = true, true
		}
	}
	here, there := r.weave.Places(), other.weave.Places()
	id := func(i int) uint64 { return other.weave.Atoms[i].ID }
	for _, p := range other.list() {
		if p.what != aRun || slices.Contains(theirs.atoms[p.start:p.end], false) {
			continue
		}
		from, to := r.weave.Gap(here, len(other.weave.Atoms), id, p.start, p.end)
		for i := from; i < to; i++ {
			if a := &r.weave.Atoms[i]; a.Del != 0 {
				if _, both := there[a.ID]; !both {
					mine.atoms[i], found = true, true
				}
			}
		}
	}
	return mine, found
}

// ForOthers returns a decision that was made in a copy of r, so that it can be undone in other copies: each numbers new lines from r's
// last id on.
func (r *Review) ForOthers(d Decision) Decision {
	d.Last = min(d.Last, r.weave.Next)
	return d
}

// Supersede gives r, an earlier state of the same review, a higher revision than other's.
func (r *Review) Supersede(other *Review) { r.rev = max(r.rev, other.rev) + 1 }

// Beyond returns how many lines are pending in r but not in other, a copy that has changed differently since. A file that is
// not reviewed by lines counts as 1.
func (r *Review) Beyond(other *Review) (lines int) {
	if r.whole != nil || other.whole != nil {
		if r.Pending() && !other.Pending() {
			return 1
		}
		return 0
	}
	pending := other.pendingIDs()
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; a.Pending() && !pending[a.ID] {
			lines++
		}
	}
	return lines
}

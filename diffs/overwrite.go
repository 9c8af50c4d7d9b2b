package diffs

import (
	"slices"

	"cursord/diffs/internal/weave"
)

// A Place says where the changed lines of a hunk are in the present text, counted from 0. To is exclusive; it equals From if
// all of them are deleted.
type Place struct {
	ID       uint64
	From, To int
}

// Places returns the places of the hunks that have lines in the present text, or would have some after a reject, in file
// order.
func (r *Review) Places() []Place {
	if r.whole != nil || !r.is {
		return nil
	}
	return r.placesBy(func(a weave.Atom) bool { return a.Del == 0 })
}

// OldPlaces is Places for the baseline.
func (r *Review) OldPlaces() []Place {
	if r.whole != nil || !r.was {
		return nil
	}
	return r.placesBy(func(a weave.Atom) bool { return a.Ins == 0 })
}

func (r *Review) placesBy(there func(weave.Atom) bool) (places []Place) {
	at, line := 0, 0
	count := func(to int) int {
		for ; at < to; at++ {
			if there(r.weave.Atoms[at]) {
				line++
			}
		}
		return line
	}
	for _, p := range r.list() {
		if p.what == aRun || p.what == theOp {
			from := count(p.start)
			places = append(places, Place{p.id, from, count(p.end)})
		}
	}
	return places
}

// Overwrite is Observe by a person who has saved over changes of edits. It first rejects the hunks that the save removes, as
// a decision that Undo can take back. Of unseen hunks, which the person's text never had, it rejects all that are gone,
// and deletions of lines that the person has changed; of seen ones, only those in whose place the person has typed nothing
// else. Where a rejected hunk has a side, the decision is about that. It returns false if there are none.
func (r *Review) Overwrite(now Content, unseen, seen []uint64, sides ...Side) (d Decision, rejects bool) {
	later := r.Copy()
	later.Observe(now, nil)
	if r.op.ID != 0 && r.is && !r.was && r.whole == nil && later.op.ID == 0 {
		// A file that the agent has created exists in both: only its lines go.
		both := now
		both.Data = append([]byte(r.weave.Text(weave.Current)), now.Data...)
		r.Observe(both, nil)
		unseen, seen = nil, nil
		for _, p := range r.list() {
			unseen = append(unseen, p.id)
		}
	}
	var gone []uint64
	if r.op.ID != 0 && r.was && !r.is && now.Exists { // the person had the deleted file in an editor
		gone = append(gone, r.op.ID)
	}
	for _, p := range r.list() {
		switch {
		case slices.Contains(gone, p.id):
		case slices.Contains(unseen, p.id) && (r.gone(p, later) || !r.inserts(p) && r.replaced(p, later)),
			slices.Contains(seen, p.id) && r.gone(p, later) && !r.replaced(p, later):
			gone = append(gone, p.id)
		}
	}
	if len(gone) > 0 {
		var err error
		d, err = r.rejectSides(gone, sides)
		rejects = err == nil
	}
	r.Observe(now, nil)
	return d, rejects
}

// rejectSides rejects hunks, after it has put the sides of those beneath them that are rejected as a whole.
func (r *Review) rejectSides(hunks []uint64, sides []Side) (Decision, error) {
	chosen, err := r.choose(r.list(), hunks, nil)
	if err != nil {
		return Decision{}, err
	}
	var lines []uint64
	for i := range r.weave.Atoms {
		if chosen.atoms[i] {
			lines = append(lines, r.weave.Atoms[i].ID)
		}
	}
	for _, s := range sides {
		if !slices.ContainsFunc(r.hunksWith(idSet(s.Over)), func(id uint64) bool { return !slices.Contains(hunks, id) }) {
			lines = append(lines, r.PutBeneath(s)...)
		}
	}
	sel := selection{atoms: make([]bool, len(r.weave.Atoms)), parts: chosen.parts}
	r.add(&sel, lines)
	return r.decide(r.list(), sel, false)
}

// inserts reports whether a piece has pending insertions.
func (r *Review) inserts(p piece) bool {
	return slices.ContainsFunc(r.weave.Atoms[p.start:p.end], func(a weave.Atom) bool { return a.Ins != 0 })
}

// gone reports whether a later state has none of the lines that a piece added pending; for a piece that only deletes,
// whether nothing of it is pending.
func (r *Review) gone(p piece, later *Review) bool {
	if p.what != aRun {
		return p.what == theOp && later.op.ID != r.op.ID
	}
	pending := later.pendingIDs()
	adds, left, added := false, false, false
	for i := p.start; i < p.end; i++ {
		a := &r.weave.Atoms[i]
		adds = adds || a.Ins != 0
		if pending[a.ID] {
			left, added = true, added || a.Ins != 0
		}
	}
	return adds && !added || !left
}

// replaced reports whether a later state has new lines in the place of a piece.
func (r *Review) replaced(p piece, later *Review) bool {
	id := func(i int) uint64 { return r.weave.Atoms[i].ID }
	from, to := later.weave.Gap(later.weave.Places(), len(r.weave.Atoms), id, p.start, p.end)
	for i := from; i < to; i++ {
		if later.weave.Atoms[i].ID > r.weave.Next {
			return true
		}
	}
	return false
}

func (r *Review) pendingIDs() map[uint64]bool {
	pending := make(map[uint64]bool)
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; a.Pending() {
			pending[a.ID] = true
		}
	}
	return pending
}

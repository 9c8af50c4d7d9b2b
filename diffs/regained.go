package diffs

import (
	"slices"

	"cursord/diffs/internal/weave"
)

// Typed returns the lines that a person has typed in a text since r.
func (r *Review) Typed(now Content) map[string]bool {
	later := r.Copy()
	later.Observe(now, nil)
	typed := make(map[string]bool)
	for i := range later.weave.Atoms {
		if a := &later.weave.Atoms[i]; a.ID > r.weave.Next && !a.Pending() {
			typed[a.Text] = true
		}
	}
	return typed
}

// Regained reports whether a text has lines again that d has rejected in r, in their place. typed is what Typed has returned for the
// text: lines that are not among them may be others with the same words.
func (r *Review) Regained(d Decision, now Content, typed map[string]bool) bool {
	var ids []uint64
	for _, run := range d.Runs {
		for _, a := range run.Atoms {
			if !d.Accept && a.Gone && typed[a.Text] {
				ids = append(ids, a.ID)
			}
		}
	}
	later := r.Copy()
	if len(ids) == 0 || later.Undo(d) != nil {
		return false
	}
	later.Observe(now, nil)
	pending := later.pendingIDs()
	for _, id := range ids {
		if pending[id] {
			return true
		}
	}
	return false
}

// Deletes reports whether an edit since has deleted lines that d, a reject, has brought back.
func (r *Review) Deletes(d Decision) bool {
	restored := make(map[uint64]bool)
	for _, run := range d.Runs {
		for _, a := range run.Atoms {
			restored[a.ID] = !d.Accept && a.Decided && a.Del != 0
		}
	}
	return slices.ContainsFunc(r.weave.Atoms, func(a weave.Atom) bool { return a.Del != 0 && restored[a.ID] })
}

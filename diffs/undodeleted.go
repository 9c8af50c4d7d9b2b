package diffs

import "slices"

// keptThrough reports whether d has accepted a deletion that an agent made in a copy, the file stayed because a person had written in it, and
// nobody but people has changed it after that.
func (r *Review) keptThrough(d Decision) bool {
	return d.Op && d.Accept && d.Before.Was && !d.Before.Is && r.copied && r.op.ID == 0 && !r.weave.Pending() &&
		slices.ContainsFunc(d.Runs, func(run decidedRun) bool {
			return slices.ContainsFunc(run.Atoms, func(a decidedAtom) bool { return !a.Gone })
		})
}

// deleteAgain makes the deletion pending again that d had accepted. Both have changed the lines that a person has written since.
func (r *Review) deleteAgain(d Decision) {
	r.is, r.op, r.isPath = false, d.Before.Op, d.Before.IsPath
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; a.Del == 0 {
			a.Del, a.Both = slices.Max(r.op.Edits), true
		}
	}
}

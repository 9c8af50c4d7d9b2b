package diffs

import (
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/weave"
)

// ObserveBaseline tells the review that a person has changed the baseline's file: for an agent that works in a copy, that is
// the file in the workspace. It is Observe by a person, seen from the other side.
//
// What the person typed is settled on both sides, and what the person deleted is gone from both, so Current may change too,
// and the caller then writes the copy. A change of the agent's that the person has made by hand is no longer pending. The
// agent's additions stay pending, as a creation if the file is gone. A file that the agent deleted and the person changed
// stays deleted, and both have changed it. A binary, large or linked file that both have changed keeps the agent's content, which can then be rejected
// but not accepted. It reports whether the review changed.
//
// Several changes count as one: each new content is merged into the review from before the first one. So the review is as it was once
// the file is. What the agent writes and what is decided in the meantime is brought there too, if it can be (carry). But what makes the baseline like Current leaves nothing pending.
func (r *Review) ObserveBaseline(now Content) (changed bool) {
	r.forget()
	r.copied = true
	before, was, from, pending := r.shape().sum(), r.present(), -1, r.Pending()
	dead := slices.Clone(r.weave.Atoms)
	remoded := now.Mode != 0 && now.Mode != r.wasMode && r.file(weave.Baseline)
	if now.Exists != r.was || now.Exists && (remoded || !r.holds(weave.Baseline, now.body())) {
		from = r.goBack(now)
	}
	r.observeBaseline(now.Exists, now.body())
	if now.Mode != 0 && now.Mode != r.wasMode && r.file(weave.Baseline) {
		r.wasMode, r.isMode = now.Mode, now.Mode
	}
	r.settleAttrs()
	r.comeFrom(from)
	if r.shape().sum() == before {
		return false
	}
	r.follow(was, history.Person, 0)
	if r.Pending() {
		r.forgo(dead)
	} else if pending { // the person has all of the present content
		r.past = r.past.Decided(func(int) bool { return true })
	}
	r.rev++
	return true
}

// forgo notes which lines that were pending as removed, among the atoms from before, a person has removed from the baseline, and which are
// pending again.
func (r *Review) forgo(before []weave.Atom) {
	had, has := map[uint64]bool{}, map[uint64]bool{}
	for _, a := range r.weave.Atoms {
		has[a.ID] = true
	}
	var dead, back []history.Tombstone
	var gone []bool
	for _, a := range before {
		if a.Del != 0 {
			had[a.ID] = true
			dead, gone = append(dead, history.Tombstone{Text: a.Text, Del: a.Del}), append(gone, !has[a.ID])
		}
	}
	for _, a := range r.weave.Atoms {
		if a.Del != 0 && !had[a.ID] {
			back = append(back, history.Tombstone{Text: a.Text, Del: a.Del})
		}
	}
	r.past = r.past.Forgone(dead, gone, back)
}

func (r *Review) observeBaseline(exists bool, b body) {
	if exists == r.was && (!exists || r.holds(weave.Baseline, b)) {
		return // and the last decision can be undone exactly
	}
	r.leaveWhole()
	unknown := r.unknown
	switch {
	case r.whole == nil && exists && r.limits.kind(b) == Modified:
		r.observeBaseText(b.text)
	case exists == r.is && (!exists || r.holds(weave.Current, b)), !r.is, r.op.ID == 0 && !r.weave.Pending():
		r.settle(exists, b, true)
		r.unknown = unknown
	case r.whole == nil && !exists:
		r.observeBaseAbsent()
	default:
		if r.whole == nil {
			r.enterWhole()
		}
		w := r.whole
		w.base, w.baseID, w.forked, r.was = b, r.weave.ID(), exists, exists
		w.classify(r.limits)
	}
}

// holds reports whether a side exists and holds b.
func (r *Review) holds(s weave.Side, b body) bool {
	if r.whole == nil {
		return !b.link && r.weave.Is(s, b.text)
	}
	return r.body(s) == b
}

func (r *Review) observeBaseText(text string) {
	if !r.was && !r.is {
		r.settle(true, body{text: text}, true)
		return
	}
	if !r.was {
		r.was, r.op = true, fileOp{}
	}
	r.weave.NoteLineEnd(text)
	r.weave.Repair()
	if r.is && r.weave.Is(weave.Current, text) {
		r.weave.SettleForward()
		return
	}
	fresh := r.weave.Next
	r.weave.Splice(weave.Baseline, weave.LineDiff(r.weave.Text(weave.Baseline), text), 0)
	for i := range r.weave.Atoms {
		if a := &r.weave.Atoms[i]; !r.is && a.ID > fresh { // the agent has deleted the file
			a.Del, a.Both = slices.Max(r.op.Edits), true
		}
	}
	if i := r.weave.Last(weave.Baseline); i >= 0 && weave.LacksEOL(r.weave.Atoms[i].Text) && !weave.LacksEOL(text) {
		r.weave.Atoms[i].Text += r.weave.LineEnd() // the present text ends with this line, and the baseline went on after it until now
	}
	r.weave.RepairLines(false)
	r.weave.Meet(fresh, func(a *weave.Atom) bool { return a.Ins == 0 }, weave.BareTexts)
	r.weave.RepairLines(false)
	r.weave.Normalise()
	if r.is && r.weave.Pending() && r.weave.Same() {
		r.weave.SettleForward()
	}
	r.settleExistence()
}

// contestAgain marks the lines that a person has put into the baseline, behind atom at, since a reject of a run that is about to be undone: both
// have changed that place.
func (r *Review) contestAgain(run *decidedRun, last uint64, at int, place map[uint64]int, change map[int]weave.Atom) {
	by, adds, gone := int32(0), false, false
	for _, a := range run.Atoms {
		_, here := place[a.ID]
		by, adds, gone = max(by, a.Ins, a.Del), adds || a.Ins != 0, gone || a.Del != 0 && !here
	}
	for i := at + 1; gone && i < len(r.weave.Atoms) && r.weave.Atoms[i].ID > last && !r.weave.Atoms[i].Pending(); i++ {
		if a := r.weave.Atoms[i]; a.User {
			if a.Both = true; !adds {
				a.Del = by
			}
			change[i] = a
		}
	}
}

// observeBaseAbsent keeps the agent's additions to a text that is gone.
func (r *Review) observeBaseAbsent() {
	r.weave.Repair()
	op := fileOp{}
	kept := make([]weave.Atom, 0, len(r.weave.Atoms))
	for _, a := range r.weave.Atoms {
		if a.Ins != 0 {
			op.add(a.Ins)
			kept = append(kept, a)
		}
	}
	if len(kept) == 0 {
		r.settle(false, body{}, true)
		return
	}
	op.ID = r.weave.ID()
	r.weave.Atoms, r.was, r.op = kept, false, op
	r.weave.Repair()
}

package diffs

import "cursord/diffs/history"

// ObserveBaseline tells the review that a person has changed the baseline's file: for an agent that works in a copy, that is
// the file in the workspace. It is Observe by a person, seen from the other side.
//
// What the person typed is settled on both sides, and what the person deleted is gone from both, so Current may change too,
// and the caller then writes the copy. A change of the agent's that the person has made by hand is no longer pending. The
// agent's additions stay pending, as a creation if the file is gone. A file that the agent deleted and the person changed
// exists again. A binary, large or linked file that both have changed keeps the agent's content, which can then be rejected
// but not accepted. It reports whether the review changed.
//
// Several changes count as one: each new content is merged into the review from before the first one. So the review is as it was once
// the file is. What the agent writes and what is decided in the meantime is brought there too, if it can be (carry). But what makes the baseline like Current leaves nothing pending.
func (r *Review) ObserveBaseline(now Content) (changed bool) {
	r.forget()
	before, was, from, pending := r.shape().sum(), r.present(), -1, r.Pending()
	remoded := now.Mode != 0 && now.Mode != r.wasMode && r.file(baseline)
	if now.Exists != r.was || now.Exists && (remoded || !r.holds(baseline, now.body())) {
		from = r.goBack(now)
	}
	r.observeBaseline(now.Exists, now.body())
	if now.Mode != 0 && now.Mode != r.wasMode && r.file(baseline) {
		r.wasMode, r.isMode = now.Mode, now.Mode
	}
	r.settleAttrs()
	r.comeFrom(from)
	if r.shape().sum() == before {
		return false
	}
	r.follow(was, history.Person, 0)
	if pending && !r.Pending() { // the person has all of the present content
		r.past = r.past.Decided(func(int) bool { return true })
	}
	r.rev++
	return true
}

func (r *Review) observeBaseline(exists bool, b body) {
	if exists == r.was && (!exists || r.holds(baseline, b)) {
		return // and the last decision can be undone exactly
	}
	r.leaveWhole()
	unknown := r.unknown
	switch {
	case r.whole == nil && exists && r.limits.kind(b) == Modified:
		r.observeBaseText(b.text)
	case exists == r.is && (!exists || r.holds(current, b)), !r.is, r.op.ID == 0 && !r.weave.pending():
		r.settle(exists, b, true)
		r.unknown = unknown
	case r.whole == nil && !exists:
		r.observeBaseAbsent()
	default:
		if r.whole == nil {
			r.enterWhole()
		}
		w := r.whole
		w.base, w.baseID, w.forked, r.was = b, r.id(), exists, exists
		w.classify(r.limits)
	}
}

// holds reports whether a side exists and holds b.
func (r *Review) holds(s side, b body) bool {
	if r.whole == nil {
		return !b.link && r.weave.is(s, b.text)
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
	r.noteLineEnd(text)
	r.repair()
	if r.is && r.weave.is(current, text) {
		r.settleForward()
		return
	}
	fresh := r.next
	r.splice(baseline, lineDiff(r.weave.text(baseline), text), 0)
	if i := r.last(baseline); i >= 0 && lacksEOL(r.atoms[i].text) && !lacksEOL(text) {
		r.atoms[i].text += r.lineEnd() // the present text ends with this line, and the baseline went on after it until now
	}
	r.repairLines(false)
	r.meet(fresh, func(a *atom) bool { return a.ins == 0 }, bareTexts)
	r.repairLines(false)
	r.normalise()
	if r.is && r.weave.pending() && r.same() {
		r.settleForward()
	}
	r.settleExistence()
}

// observeBaseAbsent keeps the agent's additions to a text that is gone.
func (r *Review) observeBaseAbsent() {
	r.repair()
	op := fileOp{}
	kept := make([]atom, 0, len(r.atoms))
	for _, a := range r.atoms {
		if a.ins != 0 {
			op.add(a.ins)
			kept = append(kept, a)
		}
	}
	if len(kept) == 0 {
		r.settle(false, body{}, true)
		return
	}
	op.ID = r.id()
	r.atoms, r.was, r.op = kept, false, op
	r.repair()
}

// settleForward makes the present text the baseline.
func (w *weave) settleForward() {
	kept := w.atoms[:0]
	for _, a := range w.atoms {
		if a.del == 0 {
			a.ins = 0
			kept = append(kept, a)
		}
	}
	clear(w.atoms[len(kept):])
	w.atoms = kept
}

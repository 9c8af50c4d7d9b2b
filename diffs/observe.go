package diffs

import (
	"slices"
	"strings"

	"cursord/diffs/history"
	"cursord/diffs/internal/weave"
)

// Begin begins a new review where nothing is pending; else it does nothing. It takes in the content now, which is older than
// the edits to come, and its author. The lines are in the baseline then, whoever typed them.
func (r *Review) Begin(now Content, by *Source) {
	if r.Pending() {
		return
	}
	if r.Observe(now, by); r.Pending() {
		return
	}
	for i := range r.weave.Atoms {
		r.weave.Atoms[i].User = false
	}
}

// Observe takes in the file's present content and its author: an edit of the agent, or a person if by is nil. It
// reports whether the review changed, which is possible even if the file did not.
func (r *Review) Observe(now Content, by *Source) (changed bool) {
	r.forget()
	before, edits, n, was, mine := r.shape().sum(), r.sources, int32(0), r.present(), r.beforeFollowing()
	if by != nil {
		n, was.removed = r.sources.edit(*by), r.removed()
		if r.whole != nil || now.Exists != r.is || now.Mode != r.isMode || r.limits.kind(now.body()) != Modified {
			was.pending = r.undecided()
		}
	}
	r.observe(now.Exists, now.body(), n)
	r.observeAttrs(now.Mode, n)
	if r.shape().sum() == before {
		r.sources = edits
		return false
	}
	r.formers = nil
	who := history.Person
	if by != nil {
		who = history.Agent
	}
	r.follow(was, who, n)
	r.rev++
	if mine != nil && by != nil {
		r.carry(mine, func(former *Review) bool {
			old, own := mine.Current(), former.Current()
			text, ok := mergedEdits(string(old.Data), string(own.Data), string(now.Data))
			ok = ok && old.Exists && own.Exists && now.Exists && own.Target == "" && old.Target == ""
			if ok && former.limits.classify(text) == Modified {
				former.Observe(Content{Exists: true, Data: []byte(text), Mode: now.Mode}, by)
			}
			return ok
		})
	}
	return true
}

func (r *Review) observe(exists bool, b body, n int32) {
	r.leaveWhole()
	if r.whole == nil && r.limits.kind(b) != Modified {
		if n == 0 {
			r.settle(true, b, true)
			return
		}
		r.enterWhole()
	}
	switch {
	case r.whole != nil:
		r.observeWhole(exists, b, n)
	case exists:
		r.observeText(b.text, n)
	case r.is:
		r.observeAbsent(n)
	}
}

// observeAbsent takes in the deletion of a text.
func (r *Review) observeAbsent(n int32) {
	if n == 0 || !r.was {
		r.settle(false, body{}, false)
		return
	}
	r.weave.Repair()
	kept := make([]weave.Atom, 0, len(r.weave.Atoms))
	for _, a := range r.weave.Atoms {
		if a.Ins != 0 {
			continue
		}
		if a.Both = false; a.Del == 0 {
			a.Del = n
		}
		kept = append(kept, a)
	}
	r.weave.Atoms, r.is = kept, false
	r.op = fileOp{ID: r.weave.ID(), Edits: []int32{n}}
}

func (r *Review) observeText(text string, n int32) {
	switch {
	case !r.is && n == 0 && !r.was:
		r.settle(true, body{text: text}, true) // the user's deletion is final
		return
	case !r.is && r.was:
		r.is, r.op = true, fileOp{}
	case !r.is:
		r.is, r.op = true, fileOp{ID: r.weave.ID(), Edits: []int32{n}}
	case !r.was && n != 0 && !r.weave.Is(weave.Current, text):
		r.op.add(n)
	}
	r.weave.NoteLineEnd(text)
	r.weave.Repair()
	if r.was && r.weave.Is(weave.Baseline, text) {
		r.weave.SettleBack()
		return
	}
	if n == 0 {
		r.endLastLine(text)
	}
	before := slices.Clone(r.weave.Atoms)
	if !r.take(text, n, n == 0) {
		r.weave.Atoms = before
		r.take(text, n, false)
	}
	if r.was && r.weave.Pending() && r.weave.Same() {
		r.weave.SettleBack()
	}
	r.settleExistence()
}

// take makes text the present text, by edit n or, for 0, by a person; lift applies only to a person's. It returns false if
// that would make a person's text pending.
func (r *Review) take(text string, n int32, lift bool) bool {
	fresh := r.weave.Next
	var mark, end *weave.Lifting
	if !r.weave.Is(weave.Current, text) {
		if lift {
			text, mark = r.weave.LiftMark(text)
			text, end = r.weave.LiftEnd(text)
		}
		splices := weave.LineDiff(r.weave.Text(weave.Current), text)
		if n == 0 {
			r.weave.Pair(splices)
		}
		r.weave.Splice(weave.Current, splices, n)
	}
	// Typing a deleted line again undoes its deletion, also if it is the last line and has no line end.
	undone := func() {
		if n == 0 {
			r.weave.Meet(fresh, func(a *weave.Atom) bool { return a.Del != 0 }, weave.Texts)
		}
	}
	undone()
	r.weave.Repair()
	undone()
	r.weave.Repair() // the typed lines may now follow the baseline's last line
	r.weave.Normalise()
	if !r.weave.Lower(end) || !r.weave.Lower(mark) {
		return false
	}
	if end != nil || mark != nil {
		r.weave.Repair()
	}
	return true
}

// endLastLine takes in that a person has ended the last line, which an edit brought, or has removed its end, as editors do
// by themselves. The line stays the edit's.
func (r *Review) endLastLine(text string) {
	i := r.weave.Last(weave.Current)
	if i < 0 || r.weave.Atoms[i].Ins == 0 {
		return
	}
	a := &r.weave.Atoms[i]
	bare := strings.TrimRight(a.Text, "\r\n")
	lines := weave.LineDiff(r.weave.Text(weave.Current), text)
	if len(lines) == 0 || bare == "" {
		return
	}
	for _, l := range lines[len(lines)-1].Lines {
		if l != a.Text && strings.TrimRight(l, "\r\n") == bare && weave.LacksEOL(l) != weave.LacksEOL(a.Text) {
			a.Text = strings.Clone(l)
			return
		}
	}
}

// settleExistence ends a creation once the file holds a settled line, and a deletion once it holds any line.
func (r *Review) settleExistence() {
	if r.op.ID == 0 || r.whole != nil {
		return
	}
	if !r.was && r.weave.Last(weave.Baseline) >= 0 {
		r.was, r.op = true, fileOp{}
	}
	if !r.is && r.weave.Last(weave.Current) >= 0 {
		r.is, r.op, r.isPath = true, fileOp{}, r.wasPath
	}
}

// leaveWhole returns to lines, from the text that the last decision left.
func (r *Review) leaveWhole() {
	if w := r.whole; w != nil && r.op.ID == 0 && r.unknown.ID == 0 && r.limits.kind(w.base) == Modified {
		r.settle(r.is, w.base, false)
	}
}

// enterWhole gives up the lines and keeps the two contents.
func (r *Review) enterWhole() {
	w := &whole{base: r.body(weave.Baseline), now: r.body(weave.Current)}
	w.baseID = r.weave.ID()
	w.nowID = w.baseID
	if r.Pending() {
		w.nowID = r.weave.ID()
	}
	if r.op.ID == 0 && r.weave.Pending() {
		r.op = fileOp{ID: r.weave.ID()}
	}
	for _, a := range r.weave.Atoms {
		if n := a.Ins + a.Del; n != 0 {
			r.op.add(n)
		}
	}
	r.weave.Atoms, r.whole = nil, w
}

func (r *Review) observeWhole(exists bool, b body, n int32) {
	w := r.whole
	lines := r.limits.kind(w.base) == Modified && r.limits.kind(b) == Modified
	switch {
	case exists == r.is && b == w.now:
	case exists == r.was && b == w.base:
		unknown := r.unknown
		r.settle(exists, b, false)
		r.unknown = unknown
	case n != 0 && w.touched:
		// The agent overwrites what the person has left: a reject must bring that back.
		unknown := r.unknown
		r.settle(r.is, w.now, true)
		r.observe(exists, b, n)
		r.unknown = unknown
	case n == 0 && (!exists || !r.is || lines || r.op.ID == 0 && r.unknown.ID == 0), n != 0 && !exists && !r.was:
		r.settle(exists, b, n == 0)
	case n == 0:
		w.touched = r.op.ID != 0
		if r.op.ID == 0 {
			w.base, w.baseID, r.was = b, r.weave.ID(), exists // only the unknown change is pending
		}
		r.setWhole(exists, b)
	case lines:
		base, unknown := w.base, r.unknown
		r.settle(r.was, base, false)
		r.unknown = unknown
		r.observe(exists, b, n)
	default:
		if r.op.ID == 0 {
			r.op.ID = r.weave.ID()
		}
		r.op.add(n)
		r.setWhole(exists, b)
	}
}

func (r *Review) setWhole(exists bool, b body) {
	w := r.whole
	w.now, w.nowID, r.is = b, r.weave.ID(), exists
	if r.op.ID == 0 {
		w.nowID = w.baseID
	}
	w.classify(r.limits)
}

func (w *whole) classify(l Limits) {
	base, now := l.kind(w.base), l.kind(w.now)
	w.kind = Modified
	for _, k := range []Kind{Symlink, Large, Binary} {
		if base == k || now == k {
			w.kind = k
		}
	}
}

// add adds edit n.
func (op *fileOp) add(n int32) {
	if !slices.Contains(op.Edits, n) {
		op.Edits = append(op.Edits, n)
	}
}

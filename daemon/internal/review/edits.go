package review

import (
	"slices"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
)

// This file makes decisions by edits of documents that clients have open and saved, and follows an editor's own undo and
// redo.

// holdAll turns choices into choices of buffers, for files that the client has open and saved, if the client asks for edits.
func (r *Reviewer) holdAll(choices []*choice, dec api.Decision) {
	for _, c := range choices {
		if !dec.AsEdits || c.buffer != nil || len(c.ids) == 0 || !c.f.writesReal(dec.Accept) {
			continue
		}
		trial := c.f.review.Copy()
		if _, err := trial.Decide(c.ids, dec.Accept, linesOf(dec.Lines)); err != nil {
			continue
		}
		if b := r.hold(dec.Client, c.f, trial); b != nil {
			c.buffer, c.review = b, b.review
		}
	}
}

// holdStep is hold for an undo or a redo.
func (r *Reviewer) holdStep(client api.ClientID, f *file, d diffs.Decision, undo bool) *buffer {
	trial, err := f.review.Copy(), error(nil)
	if undo {
		err = trial.Undo(d)
	} else {
		_, err = trial.Redo(d)
	}
	if err != nil {
		return nil
	}
	return r.hold(client, f, trial)
}

// hold returns a buffer of a file that a client has open and saved, so that edits of the buffer can make the text of the
// review then. It returns nil if edits cannot make that text.
func (r *Reviewer) hold(client api.ClientID, f *file, then *diffs.Review) *buffer {
	was, now := f.real(), f.realOf(then)
	switch {
	case f.outside() || len(f.buffers) > 0 || then.Path() != f.review.Path() || then.OldPath() != f.review.OldPath():
	case !was.Exists || !now.Exists || was.Target != "" || now.Target != "" || was.Mode != now.Mode || !utf8.Valid(now.Data):
	case r.setup.Documents.Edit(client, r.absolute(f), was, now):
		r.syncBuffers(f)
		if b := f.buffers[client]; b != nil && b.review != nil {
			return b
		}
	}
	return nil
}

// letGo drops a client's buffers that hold has made, if no edits were made for them.
func (r *Reviewer) letGo(client api.ClientID, files ...*file) {
	for _, f := range files {
		if b := f.buffers[client]; b != nil && b.doc.Editing && !b.sent {
			r.setup.Documents.Saved(b.doc)
			delete(f.buffers, client)
			r.viewed[f.path] = true
		}
	}
}

// sums returns the sums of the texts that choices may be about to change; "" for a choice that writes no text.
func sums(choices []*choice, accept bool) []string {
	all := make([]string, len(choices))
	for i, c := range choices {
		switch {
		case len(c.ids) == 0 || !c.f.writesReal(accept):
		case c.buffer != nil:
			all[i] = decisionlog.Sum(c.buffer.text(c.f))
		case c.f.real().Exists:
			all[i] = decisionlog.Sum(string(c.f.real().Data))
		}
	}
	return all
}

// changed returns the sums of the texts before and after a choice was decided; "" if the decision left the text as it was,
// for example a decision about a mode. Only a changed text can come back by an editor's undo and redo.
func (c *choice) changed(sum string, edits *api.DocumentEdits) (was, then string) {
	switch {
	case c.buffer == nil:
		then = decisionlog.Sum(string(c.f.real().Data))
	case edits == nil:
		return "", ""
	case c.buffer.coming != nil:
		then = c.buffer.coming.after
	}
	if sum == then {
		return "", ""
	}
	return sum, then
}

// decidedBy notes the decision whose edits are on their way to the buffer. step is true for an undo or a redo.
func (b *buffer) decidedBy(g *decisionlog.Group, step bool) {
	b.groups = append(b.groups, g.N)
	t := b.coming
	if t == nil {
		return
	}
	t.group, t.undo, t.step = g.N, g.Undone, step
	if t.before == "" { // no edits are on their way
		b.done, b.undone = append(b.done, *t), nil
		b.stem, b.coming = b.then, nil
	}
}

// arrived takes in the client's next text after edits were sent to it, in a report or on disk; old is the text for which
// they were made.
func (b *buffer) arrived(r *Reviewer, f *file, old, now string) {
	t := b.coming
	switch b.coming = nil; {
	case threeway.Nearer(now, string(f.realOf(b.review).Data), old):
		b.done, b.undone, b.stem = append(b.done, *t), nil, b.then
	case t.step:
		r.setUndone(f, []uint64{t.group}, !t.undo)
	default:
		r.forgetDecisions(f, []uint64{t.group})
	}
}

// stemOf returns the file's review with the decisions that a buffer has taken back, and then those in done; nil if there are
// none.
func (r *Reviewer) stemOf(f *file, b *buffer, done []turn) *diffs.Review {
	if len(done)+len(b.back) == 0 {
		return nil
	}
	review := f.review.Copy()
	step := func(n uint64, undo bool) {
		g := r.log.Numbered(n)
		if g == nil {
			return
		}
		for _, part := range g.Files {
			// An error means that the file's review no longer has the lines. They count as ordinary text.
			if f.decidedIn(part) && undo {
				_ = review.Undo(part.Decision)
			} else if f.decidedIn(part) {
				_, _ = review.Redo(part.Decision)
			}
		}
	}
	for _, n := range b.back {
		step(n, !b.again)
	}
	for _, t := range done {
		step(t.group, t.undo)
	}
	return review
}

// turnBack notices that the editor has undone or redone a decision in the buffer: the text is the one from before or after
// it. It returns false for any other text.
func (b *buffer) turnBack(r *Reviewer, f *file) bool {
	sum := decisionlog.Sum(b.text(f))
	if i := lastTurn(b.done, func(t turn) bool { return t.before == sum }); i >= 0 {
		for _, t := range slices.Backward(b.done[i:]) {
			b.undone = append(b.undone, t)
			r.setUndone(f, []uint64{t.group}, !t.undo)
		}
		b.done = b.done[:i:i]
	} else if i := lastTurn(b.undone, func(t turn) bool { return t.after == sum }); i >= 0 {
		for _, t := range slices.Backward(b.undone[i:]) {
			b.done = append(b.done, t)
			r.setUndone(f, []uint64{t.group}, t.undo)
		}
		b.undone = b.undone[:i:i]
	} else {
		return false
	}
	b.stem = r.stemOf(f, b, b.done)
	return true
}

func lastTurn(turns []turn, fits func(turn) bool) int {
	for i, t := range slices.Backward(turns) {
		if fits(t) {
			return i
		}
	}
	return -1
}

// takeBack notices that the editor's undo has brought back the text from before decisions that are on disk, or its redo the
// text after decisions that are undone there. The review makes the same steps.
func (r *Reviewer) takeBack(f *file, b *buffer) {
	text, again := b.text(f), false
	parts, groups := r.log.Behind(f.decidedIn, decisionlog.Sum(text), b.back)
	if len(parts) == 0 {
		again = true
		parts, groups = r.log.Ahead(f.decidedIn, decisionlog.Sum(text), b.back)
	}
	if len(parts) == 0 {
		return
	}
	review, err := f.review.Copy(), error(nil)
	for _, part := range parts {
		if !again {
			err = review.Undo(part.Decision)
		} else {
			_, err = review.Redo(part.Decision)
		}
		if err != nil {
			return
		}
	}
	if string(f.realOf(review).Data) != text {
		return
	}
	r.setUndone(f, without(b.back, groups), b.again)
	r.setUndone(f, without(groups, b.back), !again)
	b.stem, b.back, b.again = review, groups, again
}

func without(list, others []uint64) []uint64 {
	return slices.DeleteFunc(slices.Clone(list), func(n uint64) bool { return slices.Contains(others, n) })
}

// setUndone marks decisions in the log, for one file, as undone or as made again.
func (r *Reviewer) setUndone(f *file, groups []uint64, undone bool) {
	for _, n := range groups {
		g, ops := r.log.SetUndone(n, f.decidedIn, undone)
		switch r.ops = append(r.ops, ops...); {
		case g == nil:
		case g.Undone:
			r.setup.Loop.ForgetRejections(n)
		case !undone:
			r.keepRejections(g)
		}
	}
}

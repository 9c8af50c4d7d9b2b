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
	case len(c.taken) > 0:
		return c.was, c.then
	case c.buffer == nil:
		then = decisionlog.Sum(string(c.f.real().Data))
	case edits == nil:
		return "", ""
	case c.buffer.coming != nil:
		then = c.buffer.coming.After
	}
	if sum == then {
		return "", ""
	}
	return sum, then
}

// decidedBy notes the decision that a buffer's change was made for. again is true for an undo or a redo.
func (b *buffer) decidedBy(g *decisionlog.Group, part decisionlog.File, again bool) {
	t := b.coming
	t.Group, t.Decision, t.Conflicts, t.Undo, t.Again = g.N, part.Decision, part.Conflicts, g.Undone, again
	if t.Before == "" { // no edits are on their way
		b.steps.Add(*t)
		b.coming = nil
	}
}

// arrived takes in the client's next text after edits were sent to it, in a report or on disk; old is the text for which
// they were made.
func (r *Reviewer) arrived(f *file, b *buffer, old, now string) {
	t := *b.coming
	b.coming = nil
	if b.review != nil && threeway.Nearer(now, string(f.realOf(b.review).Data), old) {
		b.steps.Add(t)
		return
	}
	r.unmake(f, t)
	if !t.Again {
		r.forget(f, t)
	}
}

// retrace notices that the editor's own undo or redo has led to a text from before or after decisions, in the buffer or on disk.
func (r *Reviewer) retrace(f *file, b *buffer) {
	text := b.text(f)
	sum := decisionlog.Sum(text)
	back, again, found := b.steps.Find(sum)
	for _, t := range back {
		f.reopen(t.Conflicts, !t.Undo)
		r.unmake(f, t)
	}
	for _, t := range again {
		f.reopen(t.Conflicts, t.Undo)
		r.setUndone(f, t.Group, t.Undo)
	}
	if found {
		return
	}
	for _, undo := range []bool{true, false} {
		steps := r.log.Path(f.decidedIn, sum, undo)
		if r.retraceAccepts(f, b, steps) {
			return
		}
		if len(steps) == 0 || string(f.realOf(decisionlog.Stem(b.stem(f), steps)).Data) != text {
			continue
		}
		for _, t := range steps {
			r.setUndone(f, t.Group, t.Undo)
		}
		b.steps.Add(steps...)
		return
	}
}

// leave takes back in the log what a buffer that no longer exists has decided, or taken back. Decisions of a client that has closed the
// text are forgotten; one that has loaded it anew can make them again.
func (r *Reviewer) leave(f *file, b *buffer, closed bool) {
	if t := b.coming; t != nil { // the client did not make its edits
		r.unmake(f, *t)
		if !t.Again {
			r.forget(f, *t)
		}
	}
	for _, t := range slices.Backward(b.steps.Made()) {
		r.unmake(f, t)
	}
	for _, t := range b.steps.All() {
		if closed && !t.Again {
			r.forget(f, t)
		}
	}
}

// unmake notes in the log that a step was taken back.
func (r *Reviewer) unmake(f *file, t decisionlog.Step) { r.setUndone(f, t.Group, !t.Undo) }

// forget removes a file from a decision that was made only in a buffer.
func (r *Reviewer) forget(f *file, t decisionlog.Step) {
	r.ops = append(r.ops, r.log.Without(t.Group, f.decidedIn)...)
}

// setUndone marks a decision in the log, for one file, as undone or as made again.
func (r *Reviewer) setUndone(f *file, n uint64, undone bool) {
	g, ops := r.log.SetUndone(n, f.decidedIn, undone)
	switch r.ops = append(r.ops, ops...); {
	case g == nil:
	case g.Undone:
		r.setup.Loop.ForgetRejections(n)
	case !undone:
		r.keepRejections(g)
	}
}

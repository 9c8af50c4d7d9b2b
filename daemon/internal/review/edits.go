package review

import (
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/daemon/internal/unsaved"
	"cursord/diffs"
)

// This file makes decisions by edits of documents that clients have open and saved, and follows an editor's own undo and
// redo.

// holdAll turns choices into choices of buffers, for files that the client has open and saved, if the client asks for edits.
func (r *Reviewer) holdAll(choices []*choice, dec api.Decision) {
	for _, c := range choices {
		if !dec.AsEdits || c.buffer != nil || len(c.ids) == 0 || !c.f.WritesReal(dec.Accept) {
			continue
		}
		trial := c.f.Review.Copy()
		if _, err := c.decide(trial, dec); err != nil {
			continue
		}
		if b := r.hold(dec.Client, c.f, trial); b != nil {
			c.buffer, c.review = b, b.Review
		}
	}
}

// holdStep is hold for an undo or a redo.
func (r *Reviewer) holdStep(client api.ClientID, f *file, d diffs.Decision, undo bool) *unsaved.Buffer {
	trial, err := f.Review.Copy(), error(nil)
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
func (r *Reviewer) hold(client api.ClientID, f *file, then *diffs.Review) *unsaved.Buffer {
	was, now := f.Real(), f.RealOf(then)
	switch {
	case f.outside() || len(f.Buffers) > 0 || then.Path() != f.Review.Path() || then.OldPath() != f.Review.OldPath():
	case !was.Exists || !now.Exists || was.Target != "" || now.Target != "" || was.Mode != now.Mode || !utf8.Valid(now.Data):
	case r.setup.Documents.Edit(client, r.absolute(f), was, now):
		r.syncBuffers(f)
		if b := f.Buffers[client]; b != nil && b.Review != nil {
			return b
		}
	}
	return nil
}

// letGo drops a client's buffers that hold has made, if no edits were made for them.
func (r *Reviewer) letGo(client api.ClientID, files ...*file) {
	for _, f := range files {
		if b := f.Buffers[client]; b != nil && b.Doc.Editing && !b.EditsInFlight {
			r.setup.Documents.Saved(b.Doc)
			delete(f.Buffers, client)
			r.viewed[f.path] = true
		}
	}
}

// sums returns the sums of the texts that choices may be about to change; "" for a choice that writes no text.
func sums(choices []*choice, accept bool) []string {
	all := make([]string, len(choices))
	for i, c := range choices {
		if len(c.ids) > 0 {
			all[i] = c.f.SumBefore(c.buffer, accept)
		}
	}
	return all
}

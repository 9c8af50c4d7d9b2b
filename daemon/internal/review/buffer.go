package review

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
	"cursord/sessions"
)

// A buffer is a file under review as a client has it, unsaved. The file's own review goes on to follow the disk; the
// buffer's is a copy of it that has seen the buffer's text, as a person's. What is typed is thus nowhere taken for
// something that is on disk, and what happens to the disk meanwhile is not taken for something that was typed:
//
//   - The buffer changes: its review is made anew from the file's, so that typing something and taking it back in the
//     editor is nothing.
//   - The agent, or anybody, writes the file: the file's review observes that, and the buffer's is made anew. Where the
//     buffer lacks what was written, the client sees that as its own change, which it is: saving the buffer overwrites
//     the file. Neither text is changed by the other.
//   - An accept is an agreement about lines, and is made in the file's review, for the lines that the buffer still has.
//   - A reject changes the buffer alone, by edits for the client to apply; the file and its review are as they were.
//     When the buffer is saved, its review becomes the file's.
//   - The buffer is closed without a save: it is forgotten, with what was rejected in it.
type buffer struct {
	doc     *documents.Document
	review  *diffs.Review // nil if the text is not known
	stem    *diffs.Review // what the review is made anew from, if not the file's: something was decided in the buffer
	coming  *stem         // what is to be the stem once the edits are made
	undo    []stem        // what it was before each decision, with the text of then, to which the editor's undo leads back
	rev     uint64        // of the file's review, when the buffer's was made
	sent    bool          // edits are on their way to the client; doc does not have them
	decided bool          // the review is not just the file's with the text
	groups  []uint64      // decisions made, or taken back, in the buffer
	changes uint64

	beneath   *threeway.Beneath // nil while nothing is pending on disk
	conflicts []conflict
	diff      *sessions.Diff // its part of what the client sees of the path
}

// A stem is what a buffer's review is made anew from.
type stem struct {
	text   [sha256.Size]byte // of the buffer
	review *diffs.Review     // nil: the file's
}

// text returns what the client has in the file's form.
func (b *buffer) text(f *file) string { return editorfile.LikeFile(b.doc.Text, f.real().Data) }

// of returns the file as the buffer shows it.
func (b *buffer) of(f *file) *file {
	shown := *f
	shown.review = b.review
	return &shown
}

// syncBuffers brings the buffers of a file whose review is loaded up to date with the review and the documents.
func (r *Reviewer) syncBuffers(f *file) {
	docs := r.setup.Documents.Unsaved(r.absolute(f))
	if len(docs) == 0 && len(f.buffers) == 0 {
		return
	}
	disk := f.real()
	held := map[api.ClientID]bool{}
	for _, doc := range docs {
		if doc.Held && disk.Exists && editorfile.LikeFile(doc.Text, disk.Data) == string(disk.Data) {
			r.setup.Documents.Saved(doc)
			continue
		}
		held[doc.Client] = true
		b := f.buffers[doc.Client]
		if b == nil {
			b = &buffer{}
			if f.buffers == nil {
				f.buffers = map[api.ClientID]*buffer{}
			}
			f.buffers[doc.Client] = b
		}
		r.syncBuffer(f, b, doc)
	}
	for client, b := range f.buffers {
		if !held[client] {
			delete(f.buffers, client)
			r.viewed[f.path] = true
			if !r.setup.Documents.Has(client, b.doc.Path) {
				r.forgetDecisions(f, b.groups)
			}
		}
	}
}

func (r *Reviewer) syncBuffer(f *file, b *buffer, doc *documents.Document) {
	fresh := b.doc != doc // the client has said something; also that edits were not made, and all is as it was
	b.doc = doc
	if fresh {
		b.sent = false
	}
	if !doc.Held {
		b.review, b.diff = nil, nil
		return
	}
	moved := b.review == nil || b.rev != f.review.Rev()
	switch {
	case !moved && !fresh:
		return // as it was, or with the edits that are on their way
	case !moved && string(f.realOf(b.review).Data) == b.text(f):
		if b.coming != nil { // the edits have come back
			b.undo = append(b.undo, stem{b.coming.text, b.stem})
			b.stem, b.coming = b.coming.review, nil
		}
		b.show(r, f, b.review)
		return
	case moved:
		b.stem, b.undo = nil, nil
	default:
		b.stepBack(sha256.Sum256([]byte(b.text(f))))
	}
	b.coming = nil
	b.remake(r, f)
}

// stepBack takes in that a text came back that a decision in the buffer had changed: the editor has undone it.
func (b *buffer) stepBack(text [sha256.Size]byte) {
	for i, u := range slices.Backward(b.undo) {
		if u.text == text {
			b.stem, b.undo = u.review, b.undo[:i]
			return
		}
	}
}

// remake makes the buffer's review from its text.
func (b *buffer) remake(r *Reviewer, f *file) {
	from := f.review
	if b.stem != nil {
		from = b.stem
	}
	review := from.Copy()
	f.observeReal(review, diffs.Content{Exists: true, Data: []byte(b.text(f))})
	b.rev, b.decided = f.review.Rev(), b.stem != nil
	b.show(r, f, review)
}

// show makes review the buffer's, and sends the client the view if it looks different.
func (b *buffer) show(r *Reviewer, f *file, review *diffs.Review) {
	b.review = review
	diff := r.diffOf(b.of(f))
	if !b.decided { // else it lacks what was rejected
		diff.DiskOnly = f.review.Beyond(review)
	}
	b.conflicts = nil
	if !b.sent {
		b.lookBeneath(f, b.text(f))
	}
	r.addConflicts(f, b, diff)
	if b.diff != nil && diffshape.SameDiff(diff, b.diff) {
		return
	}
	b.changes++
	b.diff = diff
	r.viewed[f.path] = true
}

// seen returns the review of a file as a client sees it.
func (f *file) seen(client api.ClientID) *diffs.Review {
	if b := f.buffers[client]; b != nil && b.review != nil {
		return b.review
	}
	return f.review
}

// buffer returns the client's buffer of a file, or nil if decisions are about the disk. It is an error if the client
// cannot decide: because it is another one that holds the file unsaved, and the disk beneath that must not change, or
// because its own text is not known for certain.
func (r *Reviewer) buffer(f *file, client api.ClientID, writes bool) (*buffer, error) {
	var first *buffer
	for _, b := range f.buffers {
		if first == nil || b.doc.Order < first.doc.Order {
			first = b
		}
	}
	b := f.buffers[client]
	conflict := func(message, hint string) error {
		return &api.Error{Kind: api.KindConflict, Message: f.path + message, Hint: hint, Diff: r.shown(client, f.path)}
	}
	switch {
	case first == nil || b == nil && !writes:
		return nil, nil
	case b == nil:
		return nil, conflict(" has unsaved changes in an editor", "save it there, or decide there")
	case b != first:
		return nil, conflict(" has unsaved changes in more than one editor", "save it in one of them, and load it in the others")
	case b.review == nil:
		return nil, conflict(" has unsaved changes that are too large to be kept here", "save it and try again")
	case b.sent:
		return nil, conflict(" is about to change by the edits of an earlier decision", "try again when they are applied")
	}
	return b, nil
}

// decideInBuffer is carryOut for a choice in a buffer. What would write the file returns the edits that the client is to
// apply.
func (r *Reviewer) decideInBuffer(c *choice, dec api.Decision) (diffs.Decision, *api.DocumentEdits, error) {
	f, b, accept, lines := c.f, c.buffer, dec.Accept, linesOf(dec.Lines)
	if slices.ContainsFunc(c.ids, func(id uint64) bool { return b.conflict(id) != nil }) {
		return r.decideConflicts(c, dec)
	}
	if f.writesReal(accept) {
		var done diffs.Decision
		edits, err := r.changeBuffer(f, b, func(review *diffs.Review) (err error) {
			done, err = review.Decide(c.ids, accept, lines)
			return err
		})
		return done, edits, err
	}
	undo := f.keep()
	done, err := f.review.DecideFrom(b.review, c.ids, accept, lines)
	wrote := err == nil && f.tree.isolated()
	for _, u := range b.undo {
		if u.review != nil {
			_, _ = u.review.DecideFrom(b.review, c.ids, accept, lines) // an error says that it does not have the lines
		}
	}
	if b.stem != nil {
		// What was taken back in the buffer is undecided there alone.
		there, stemErr := b.stem.DecideFrom(b.review, c.ids, accept, lines)
		if err != nil {
			done, err = there, stemErr
		}
	}
	if err != nil {
		return done, nil, r.decisionError(f, err)
	}
	if wrote {
		if err := r.write(f, r.change(f, c.disk)); err != nil {
			undo()
			return done, nil, err
		}
	}
	if b.decided { // what was decided in the buffer before stays so
		review := b.review.Copy()
		if _, err = review.Decide(c.ids, accept, lines); err == nil {
			b.rev = f.review.Rev()
			b.show(r, f, review)
			return done, nil, nil
		}
	}
	b.remake(r, f)
	return done, nil, nil
}

// changeBuffer has change change the buffer's review, and returns what that means for its text.
func (r *Reviewer) changeBuffer(f *file, b *buffer, change func(*diffs.Review) error) (*api.DocumentEdits, error) {
	review := b.review.Copy()
	if err := change(review); err != nil {
		return nil, r.stepError(f, err)
	}
	now, was := f.realOf(review), f.realOf(b.review)
	if review.Path() != b.review.Path() || review.OldPath() != b.review.OldPath() || was.Exists && now.Exists && now.Mode != was.Mode {
		return nil, &api.Error{
			Kind: api.KindConflict, Message: f.path + " has unsaved changes, and the decision would change its name or mode",
			Hint: "save it and try again", Diff: r.shown(b.doc.Client, f.path),
		}
	}
	if !now.Exists || !utf8.Valid(now.Data) {
		return nil, &api.Error{
			Kind: api.KindConflict, Message: fmt.Sprintf("%s has unsaved changes, and the decision would make it no text", f.path),
			Hint: "save or close it and try again", Diff: r.shown(b.doc.Client, f.path),
		}
	}
	before := sha256.Sum256([]byte(b.text(f)))
	b.decided = true
	b.show(r, f, review)
	edits := b.edit(f, string(now.Data))
	if edits == nil {
		b.stem = review.Copy()
		return nil, nil
	}
	b.coming = &stem{before, review.Copy()}
	return edits, nil
}

// stepInBuffer takes a reject back, or makes it again, in a buffer.
func (r *Reviewer) stepInBuffer(f *file, b *buffer, undo bool, d *diffs.Decision) (edits *api.DocumentEdits, back func(), err error) {
	before := *b
	back = func() { *b = before }
	edits, err = r.changeBuffer(f, b, func(review *diffs.Review) (err error) {
		if undo {
			return review.Undo(*d)
		}
		*d, err = review.Redo(*d)
		return err
	})
	if err == nil && undo {
		b.stem = b.review.Copy()
	}
	return edits, back, err
}

// forgetDecisions takes a file out of decisions that were made in a buffer that is gone.
func (r *Reviewer) forgetDecisions(f *file, groups []uint64) {
	for _, n := range groups {
		r.ops = append(r.ops, r.log.Without(n, f.decidedIn)...)
	}
}

package review

import (
	"fmt"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
	"cursord/sessions"
)

// A buffer is a file under review as a client has it, unsaved. The file's own review follows the disk. The buffer's review
// is a copy of it that has taken in the buffer's text as a person's. So typed text does not count as a content of the disk,
// and changes of the disk do not count as typed:
//
//   - When the buffer changes, its review is made anew from the file's. So typing something and removing it again in the
//     editor changes nothing.
//   - When anybody writes the file, the file's review takes that in, and the buffer's is made anew. If the buffer lacks
//     the written lines, the client sees that as its own change, because saving the buffer overwrites the file. Neither
//     text is changed by the other.
//   - An accept is about lines, and is made in the file's review, for the lines that the buffer still has.
//   - A reject changes only the buffer, by edits for the client to apply; the file and its review stay as they were.
//     When the buffer is saved, its review becomes the file's.
//   - When the buffer is closed without a save, it is forgotten, with the rejects made in it.
type buffer struct {
	doc     *documents.Document
	review  *diffs.Review     // nil if the text is not known
	rev     uint64            // the revision of the file's review from which review was made
	steps   decisionlog.Steps // the decisions that the text has and the file lacks, and the other way round
	coming  *decisionlog.Step // the step whose edits are on their way to the client; review has it, and doc does not
	sent    bool              // edits are on their way to the client; doc does not have them
	changes uint64

	beneath   *threeway.Beneath // nil while nothing is pending on disk
	conflicts []conflict
	overlaps  int            // changes of the disk that are not an agent's, of lines that the text changes too
	diff      *sessions.Diff // the buffer's part of the diff that the client sees of the path
}

// text returns the client's text in the file's form.
func (b *buffer) text(f *file) string { return editorfile.LikeFile(b.doc.Text, f.real().Data) }

// of returns the file as the buffer shows it: with the buffer's review.
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
		if doc.Held && !doc.Editing && disk.Exists && editorfile.LikeFile(doc.Text, disk.Data) == string(disk.Data) {
			r.setup.Documents.Saved(doc)
			continue
		}
		held[doc.Client] = true
		r.bufferOf(f, doc)
	}
	for client, b := range f.buffers {
		if !held[client] {
			delete(f.buffers, client)
			r.viewed[f.path] = true
			r.leave(f, b, !r.setup.Documents.Has(client, b.doc.Path))
		}
	}
}

// bufferOf brings a document's buffer up to date.
func (r *Reviewer) bufferOf(f *file, doc *documents.Document) {
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

func (r *Reviewer) syncBuffer(f *file, b *buffer, doc *documents.Document) {
	fresh := b.doc != doc // the client has sent something, perhaps only that it did not make the edits
	moved := b.review == nil || b.rev != f.review.Rev()
	old := ""
	if b.doc != nil {
		old = b.text(f)
	}
	b.doc = doc
	if fresh {
		b.sent = false
	}
	switch {
	case !doc.Held:
		b.review, b.diff = nil, nil
		return
	case !moved && !fresh:
		return // the text is unchanged, or edits of it are on their way
	}
	same := b.review != nil && b.text(f) == string(f.realOf(b.review).Data)
	switch {
	case fresh && b.coming != nil:
		r.arrived(f, b, old, b.text(f))
	case fresh && !same && !doc.Editing:
		r.retrace(f, b)
	}
	if moved || !same {
		b.remake(r, f)
	} else {
		b.show(r, f, b.review)
	}
}

// stem returns a copy of the file's review with the decisions that the buffer's text has, and without those that it takes back.
func (b *buffer) stem(f *file) *diffs.Review {
	steps := b.steps.Made()
	if b.coming != nil {
		steps = append(steps, *b.coming)
	}
	return decisionlog.Stem(f.review, steps)
}

// decided reports whether the stem differs from the file's review.
func (b *buffer) decided() bool { return len(b.steps.Made()) > 0 || b.coming != nil }

// remake makes the buffer's review from its text, or from the text that the client is about to have.
func (b *buffer) remake(r *Reviewer, f *file) {
	review, now := b.stem(f), diffs.Content{Exists: true, Data: []byte(b.text(f))}
	if b.coming != nil {
		now = f.realOf(b.review)
	}
	if f.tree.isolated() || review.Current().Exists {
		f.observeReal(review, now)
	} else {
		review.Overwrite(now, nil, nil) // a file that the agent has deleted has no other hunks in the buffer
	}
	b.rev = f.review.Rev()
	b.show(r, f, review)
}

// show makes review the buffer's review, and sends the client a view of it if that differs from the last view.
func (b *buffer) show(r *Reviewer, f *file, review *diffs.Review) {
	b.review = review
	diff := r.diffOf(b.of(f))
	if !b.decided() { // else it lacks the rejected lines
		diff.DiskOnly = f.review.Beyond(review)
	}
	b.conflicts, b.overlaps = nil, 0
	if !b.sent {
		b.lookBeneath(f, b.text(f))
		b.remember(f)
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

// buffer returns the client's buffer of a file, or nil if the client's decisions are about the disk. It returns an error if
// the client cannot decide: either the decision writes the disk while another client holds the file unsaved, or the client's
// own text is not known for certain.
func (r *Reviewer) buffer(f *file, client api.ClientID, writes bool) (*buffer, error) {
	var first *buffer
	for _, b := range f.buffers {
		if first == nil || b.doc.Order < first.doc.Order {
			first = b
		}
	}
	b := f.buffers[client]
	conflict := func(message, hint string) error {
		return &api.Error{Kind: api.KindConflict, Message: f.realPath() + message, Hint: hint, Diff: r.shown(client, f.path)}
	}
	switch {
	case first == nil || b == nil && !writes:
		return nil, nil
	case b == nil:
		return nil, conflict(unsavedThere, hintThere)
	case b != first:
		return nil, conflict(" has unsaved changes in more than one editor", "save it in one of them, and load it in the others")
	case b.review == nil:
		return nil, conflict(" has unsaved changes that are too large to be kept here", "save it and try again")
	case b.sent:
		return nil, conflict(" is about to change by the edits of an earlier decision", "try again when they are applied")
	}
	return b, nil
}

const (
	unsavedThere = " has unsaved changes in an editor"
	hintThere    = "save it there, or decide there"
)

// heldElsewhere returns an error if a change writes a path of the work tree that another client holds unsaved. A file's buffers are
// those of one path, and a move writes two.
func (r *Reviewer) heldElsewhere(client api.ClientID, c *treeChange) error {
	if c.in.isolated() || !c.Writes() {
		return nil
	}
	for _, name := range []string{c.From, c.To} {
		docs := r.setup.Documents.Unsaved(filepath.Join(r.setup.Root, filepath.FromSlash(name)))
		if slices.ContainsFunc(docs, func(doc *documents.Document) bool { return doc.Client != client }) {
			return &api.Error{Kind: api.KindConflict, Message: name + unsavedThere, Hint: hintThere, Diff: r.shown(client, c.From)}
		}
	}
	return nil
}

// decideInBuffer carries out a choice in a buffer. Instead of writing the file, it returns edits for the client.
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
	if _, more := b.stem(f).DecideFrom(b.review, c.ids, accept, lines); b.decided() && more == nil {
		// A hunk whose decision was taken back in the buffer is pending only there.
		undo()
		edits, err := r.changeBuffer(f, b, func(review *diffs.Review) (err error) {
			done, err = review.Decide(c.ids, accept, lines)
			return err
		})
		return done, edits, err
	}
	if err != nil {
		return done, nil, r.decisionError(f, err)
	}
	if f.tree.isolated() {
		if err := r.write(f, r.change(f, c.disk)); err != nil {
			undo()
			return done, nil, err
		}
	}
	b.remake(r, f)
	return done, nil, nil
}

// changeBuffer calls change with the buffer's review, and returns the edits that bring the result into the client's text.
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
	edits := b.edit(f, string(now.Data))
	if edits == nil && string(now.Data) != b.text(f) {
		return nil, &api.Error{
			Kind: api.KindConflict, Message: f.path + " has unsaved changes, and your editor does not show what this changes: line ends, or a byte order mark",
			Hint: "save it and decide again", Diff: r.shown(b.doc.Client, f.path),
		}
	}
	b.coming = &decisionlog.Step{}
	if edits != nil {
		b.coming.Before, b.coming.After = decisionlog.Sum(b.text(f)), decisionlog.Sum(string(now.Data))
	}
	b.show(r, f, review)
	return edits, nil
}

// stepInBuffer undoes or redoes a reject, of decision n, in a buffer. An undo opens conflicts again, and leaves the person's lines there.
func (r *Reviewer) stepInBuffer(f *file, b *buffer, undo bool, n uint64, part *decisionlog.File) (edits *api.DocumentEdits, back func(), err error) {
	before, known := *b, threeway.Beneath{}
	if b.beneath != nil {
		known = *b.beneath
	}
	back = func() {
		if *b = before; b.beneath != nil {
			*b.beneath = known
		}
	}
	decided := part.Decision
	if undo && !slices.ContainsFunc(b.steps.Made(), func(t decisionlog.Step) bool { return t.Group == n }) {
		part.Conflicts = nil // the text was saved since
	}
	f.reopen(part.Conflicts, undo)
	edits, err = r.changeBuffer(f, b, func(review *diffs.Review) (err error) {
		plain, more := part.Decision, true
		if len(part.Conflicts) > 0 {
			plain, more = plain.Without(part.Conflicts)
		}
		switch {
		case !more:
		case undo:
			err = review.Undo(plain)
		default:
			plain, err = review.Redo(plain)
		}
		if undo || err != nil {
			return err
		}
		left := f.realOf(review)
		if part.Decision = plain; len(part.Conflicts) > 0 {
			*review = *b.stem(f)
			part.Decision, err = review.Redo(decided)
			f.observeReal(review, left)
		}
		part.Decision = f.review.ForOthers(part.Decision)
		return err
	})
	return edits, back, err
}

package unsaved

import (
	"path/filepath"
	"slices"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
	"cursord/sessions"
)

// A Buffer is a file under review as a client has it, unsaved. The file's own review follows the disk. The buffer's review
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
type Buffer struct {
	Doc            *documents.Document
	Review         *diffs.Review // nil if the text is not known
	f              *File
	rev            uint64            // the revision of the file's review from which Review was made
	steps          decisionlog.Steps // the decisions that the text has and the file lacks, and the other way round
	stepInFlight   *decisionlog.Step // the step whose edits are on their way to the client; Review has it, and Doc does not
	EditsInFlight  bool              // edits are on their way to the client; Doc does not have them
	acceptInFlight bool              // the edits are of an accept of conflicts
	gone           bool              // the agent has deleted the file: the client decides that on disk, and has no other hunks
	Changes        uint64            // counts the states of Diff

	beneath   *threeway.Beneath // nil while nothing is pending on disk
	Conflicts []Conflict
	overlaps  int            // changes of the disk that are not an agent's, of lines that the text changes too
	Diff      *sessions.Diff // the buffer's part of the diff that the client sees of the path
}

// Text returns the client's text in the file's form.
func (b *Buffer) Text() string { return b.Doc.LikeFile(b.f.Real().Data) }

// Of returns a buffer with a text that was saved as a document.
func Of(doc *documents.Document) *Buffer { return &Buffer{Doc: doc} }

// Copy returns a buffer that does not follow its client's text any more.
func (b *Buffer) Copy() *Buffer {
	as := *b
	if as.beneath != nil {
		beneath := *as.beneath
		as.beneath = &beneath
	}
	return &as
}

// Sync brings the buffers of a file whose review is loaded up to date with the review and the documents of its absolute path.
func (f *File) Sync(set *documents.Set, path string) {
	docs := set.Unsaved(path)
	if len(docs) == 0 && len(f.Buffers) == 0 {
		return
	}
	disk := f.Real()
	held := map[api.ClientID]bool{}
	for _, doc := range docs {
		if doc.Held && !doc.Editing && disk.Exists && doc.LikeFile(disk.Data) == string(disk.Data) && !beside(doc, path) {
			set.Saved(doc)
			continue
		}
		held[doc.Client] = true
		f.SyncBuffer(doc)
	}
	for client, b := range f.Buffers {
		if !held[client] {
			delete(f.Buffers, client)
			f.Owner.Viewed()
			now := set.Opened(client, b.Doc.Path)
			b.leave(now == nil, now != nil && b.madeBefore(now, string(disk.Data)))
		}
	}
}

// beside reports whether a file has had another content than a document since that became dirty. The file's review has not seen that content
// yet: the text which the review knows is in the client alone.
func beside(doc *documents.Document, path string) bool {
	if doc.Base.Unreadable != "" || doc.LikeFile(doc.Base.Data) == string(doc.Base.Data) {
		return false
	}
	return atomicfile.Read(filepath.Dir(path), filepath.Base(path)).Same(doc.Base)
}

// Remake brings the buffers of a file up to date with its review.
func (f *File) Remake() {
	for _, b := range f.Buffers {
		b.sync(b.Doc)
	}
}

// SyncBuffer brings a document's buffer up to date.
func (f *File) SyncBuffer(doc *documents.Document) {
	b := f.Buffers[doc.Client]
	if b == nil {
		b = &Buffer{f: f}
		if f.Buffers == nil {
			f.Buffers = map[api.ClientID]*Buffer{}
		}
		f.Buffers[doc.Client] = b
	}
	b.sync(doc)
}

func (b *Buffer) sync(doc *documents.Document) {
	f := b.f
	fresh := b.Doc != doc // the client has sent something, perhaps only that it did not make the edits
	moved := b.Review == nil || b.rev != f.Review.Rev()
	old, undone := "", false
	if b.Doc != nil {
		old = b.Text()
		undone = b.madeAndUndone(doc, doc.LikeFile(f.Real().Data))
	}
	accepting := b.acceptInFlight
	b.Doc = doc
	if fresh {
		b.EditsInFlight, b.acceptInFlight = false, false
	}
	switch {
	case !doc.Held:
		b.Review, b.Diff = nil, nil
		return
	case !moved && !fresh:
		return // the text is unchanged, or edits of it are on their way
	}
	same := b.Review != nil && b.Text() == string(f.RealOf(b.Review).Data)
	switch {
	case fresh && b.stepInFlight != nil:
		b.finishStep(old, b.Text(), undone)
	case fresh && (!same || accepting) && !doc.Editing:
		b.retrace()
		b.regain()
	}
	if moved || !same {
		b.Remake()
	} else {
		b.show(b.Review)
	}
}

// Stem returns a copy of the file's review with the decisions that the buffer's text has, and without those that it takes back.
func (b *Buffer) Stem() *diffs.Review { return decisionlog.Stem(b.f.Review, b.made()) }

// made returns the steps that Stem has made.
func (b *Buffer) made() []decisionlog.Step {
	steps := b.steps.Made()
	if b.stepInFlight != nil {
		steps = append(steps, *b.stepInFlight)
	}
	return steps
}

// HasDecisions reports whether the stem differs from the file's review.
func (b *Buffer) HasDecisions() bool { return len(b.steps.Made()) > 0 || b.stepInFlight != nil }

// Remake makes the buffer's review from its text, or from the text that the client is about to have.
func (b *Buffer) Remake() {
	f := b.f
	review, now := b.Stem(), diffs.Content{Exists: true, Data: []byte(b.Text())}
	if b.stepInFlight != nil {
		now = f.RealOf(b.Review)
	}
	if b.gone = !f.Isolated && !review.Current().Exists; b.gone {
		review.Overwrite(now, nil, nil)
	} else {
		f.observe(review, now)
	}
	b.rev = f.Review.Rev()
	b.show(review)
}

// show makes review the buffer's review, and sends the client a view of it if that differs from the last view.
func (b *Buffer) show(review *diffs.Review) {
	f := b.f
	b.Review = review
	diff := f.Owner.Diff(f.Seen(b.Doc.Client))
	if !b.gone && !b.HasDecisions() { // else it lacks the rejected lines
		diff.DiskOnly = f.Review.Beyond(review)
	}
	b.Conflicts, b.overlaps = nil, 0
	if !b.gone && !b.EditsInFlight {
		b.lookBeneath(b.Text())
		b.remember()
	}
	b.addConflicts(diff)
	if b.Diff != nil && diffshape.SameDiff(diff, b.Diff) {
		return
	}
	b.Changes++
	b.Diff = diff
	f.Owner.Viewed()
}

// Seen returns the review of a file as a client sees it.
func (f *File) Seen(client api.ClientID) *diffs.Review {
	if b := f.Buffers[client]; b != nil && b.Review != nil && !b.gone {
		return b.Review
	}
	return f.Review
}

// BufferForHunks is BufferFor for a new decision. It returns nil also while the agent has deleted the file.
func (f *File) BufferForHunks(client api.ClientID, writes bool) (*Buffer, error) {
	b, err := f.BufferFor(client, writes)
	if b != nil && b.gone {
		b = nil
	}
	return b, err
}

// BufferFor returns the buffer that a client's decision is about, or nil if the client's decisions are about the disk. It returns an error if
// the client cannot decide: either the decision writes the disk while another client holds the file unsaved, or the client's
// own text is not known for certain.
func (f *File) BufferFor(client api.ClientID, writes bool) (*Buffer, error) {
	var first *Buffer
	for _, b := range f.Buffers {
		if first == nil || b.Doc.Order < first.Doc.Order {
			first = b
		}
	}
	b := f.Buffers[client]
	conflict := func(message, hint string) error {
		return f.Owner.Conflict(client, message, hint)
	}
	switch {
	case first == nil || b == nil && !writes:
		return nil, nil
	case b == nil:
		return nil, conflict(UnsavedThere, HintThere)
	case b != first:
		return nil, conflict(" has unsaved changes in more than one editor", "save it in one of them, and load it in the others")
	case b.Review == nil:
		return nil, conflict(" has unsaved changes that are too large to be kept here", "save it and try again")
	case b.EditsInFlight:
		return nil, conflict(" is about to change by the edits of an earlier decision", "try again when they are applied")
	}
	return b, nil
}

// BufferForStep is BufferFor for the undo or the redo of a decision. It returns nil also if an undo deletes the file again, or a redo
// brings it back: the client's text stays, as it did at the deletion.
func (f *File) BufferForStep(client api.ClientID, part *decisionlog.File, undo bool) (*Buffer, error) {
	b, err := f.BufferFor(client, f.WritesReal(part.Decision.Accept))
	if b == nil || f.Isolated {
		return b, err
	}
	onDisk := b.gone
	if undo {
		trial := f.Review.Copy()
		onDisk = trial.Undo(part.Decision) == nil && !trial.Current().Exists
	}
	if onDisk {
		return nil, nil
	}
	return b, nil
}

// What is said to those who would write a file that an editor holds unsaved.
const (
	UnsavedThere = " has unsaved changes in an editor"
	HintThere    = "save it there, or decide there"
)

// Change calls change with the buffer's review, and returns the edits that bring the result into the client's text.
func (b *Buffer) Change(change func(*diffs.Review) error) (*api.DocumentEdits, error) {
	f, review := b.f, b.Review.Copy()
	if err := change(review); err != nil {
		return nil, f.Owner.Refused(err)
	}
	now, was := f.RealOf(review), f.RealOf(b.Review)
	if review.Path() != b.Review.Path() || review.OldPath() != b.Review.OldPath() || was.Exists && now.Exists && now.Mode != was.Mode {
		return nil, f.Owner.Conflict(b.Doc.Client, " has unsaved changes, and the decision would change its name or mode", "save it and try again")
	}
	if !now.Exists || !utf8.Valid(now.Data) {
		return nil, f.Owner.Conflict(b.Doc.Client, " has unsaved changes, and the decision would make it no text", "save or close it and try again")
	}
	edits := b.edit(string(now.Data))
	if edits == nil && string(now.Data) != b.Text() {
		return nil, f.Owner.Conflict(b.Doc.Client, " has unsaved changes, and your editor does not show what this changes: line ends, or a byte order mark",
			"save it and decide again")
	}
	b.stepInFlight = &decisionlog.Step{}
	if edits != nil {
		b.stepInFlight.Before, b.stepInFlight.After = decisionlog.Sum(b.Text()), decisionlog.Sum(string(now.Data))
	}
	b.show(review)
	return edits, nil
}

// Step undoes or redoes a reject, of decision n, in a buffer. An undo opens conflicts again, and leaves the person's lines there.
func (b *Buffer) Step(undo bool, n uint64, part *decisionlog.File) (edits *api.DocumentEdits, back func(), err error) {
	f, before, known := b.f, *b, threeway.Beneath{}
	if b.beneath != nil {
		known = *b.beneath
	}
	back = func() {
		if *b = before; b.beneath != nil {
			*b.beneath = known
		}
	}
	decided := part.Decision
	if undo && !slices.ContainsFunc(b.steps.Made(), func(t decisionlog.Step) bool { return t.Group == n }) { // the text was saved since
		if part.Conflicts = nil; f.Review.Deletes(decided) && b.Text() != string(f.Real().Data) {
			return nil, back, f.Owner.Refused(diffs.ErrOvertaken) // a conflict would hide which of these lines the undo takes out
		}
	}
	f.Reopen(part.Conflicts, undo)
	open := part.Conflicts // not as ordinary hunks
	if !undo {
		open = slices.DeleteFunc(slices.Clone(open), func(id uint64) bool { return b.Conflict(id) == nil })
	}
	edits, err = b.Change(func(review *diffs.Review) (err error) {
		plain, more := part.Decision, true
		if len(open) > 0 {
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
		left := f.RealOf(review)
		if part.Decision = plain; len(open) > 0 {
			*review = *b.Stem()
			part.Decision, err = review.Redo(decided)
			f.observe(review, left)
		}
		part.Decision = f.Review.ForOthers(part.Decision)
		return err
	})
	return edits, back, err
}

// HasDecision reports whether a decision was made, or taken back, in the buffer alone.
func (b *Buffer) HasDecision(n uint64) bool {
	return slices.ContainsFunc(b.steps.All(), func(t decisionlog.Step) bool { return t.Group == n })
}

// StepInFlight reports whether a decision waits for the client's next text, or for its entry in the log by SetDecision; then is the sum
// of that text, or "".
func (b *Buffer) StepInFlight() (then string, is bool) {
	if b == nil || b.stepInFlight == nil {
		return "", false
	}
	return b.stepInFlight.After, true
}

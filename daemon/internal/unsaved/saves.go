package unsaved

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
)

// This file finds the buffers whose texts were saved, and takes the saves in.

// callSavesMax bounds the saves that are kept of a file. Older saves count as ordinary edits.
const callSavesMax = 16

// CallSaves are the saves of buffers while open calls name their files, by path. Only the end of a call shows whether a save removed lines
// of the agent's; then the removal counts as a reject.
type CallSaves map[string][]callSave

type callSave struct {
	text   []byte // in the file's form
	buffer *Buffer
}

// Keep keeps a save of a buffer with a text.
func (s CallSaves) Keep(path string, text []byte, b *Buffer) {
	saves := append(s[path], callSave{text, b})
	s[path] = saves[max(0, len(saves)-callSavesMax):]
}

// As returns the buffer that was saved with content c at a path; nil if there is none.
func (s CallSaves) As(path string, c diffs.Content) *Buffer {
	if !c.Exists || c.Target != "" {
		return nil
	}
	for _, one := range s[path] {
		if bytes.Equal(one.text, c.Data) {
			return one.buffer
		}
	}
	return nil
}

// Left returns the latest save of each path that no open call names any more: no report has taken it in.
func (s CallSaves) Left(named func(path string) bool) map[string]*Buffer {
	left := map[string]*Buffer{}
	for path, saves := range s {
		if !named(path) {
			left[path] = saves[len(saves)-1].buffer
		}
	}
	return left
}

// SavedUnheard returns a buffer with a text on disk that a client may have saved before this daemon has heard of it: the last daemon knew
// of its conflicts, and the text has the person's side of one. It returns nil for other texts.
func (f *File) SavedUnheard(disk atomicfile.State) *Buffer {
	if f.Apart == nil || f.Apart.sum != "" || len(f.Buffers) > 0 || !disk.Exists || disk.Target != "" {
		return nil
	}
	b := &Buffer{f: f, Doc: &documents.Document{Text: string(disk.Data), Held: true}}
	if b.lookBeneath(string(disk.Data)); len(b.Conflicts) == 0 {
		return nil
	}
	return b
}

// SavedRejected returns a buffer with a text on disk that a client may have saved before this daemon has heard of it, if the text takes rejects
// back as a report of it would; nil if it takes none.
func (f *File) SavedRejected(disk atomicfile.State) *Buffer {
	if f.Isolated || !disk.Exists || disk.Target != "" || !utf8.Valid(disk.Data) || len(f.Owner.Rejects()) == 0 {
		return nil
	}
	b := &Buffer{f: f}
	if b.sync(&documents.Document{Text: string(disk.Data), Held: true}); len(b.steps.Made()) == 0 {
		return nil
	}
	return b
}

// SavedBack returns a buffer with a text on disk that takes decisions about a file in a copy back, or makes them again: somebody has saved
// there what the editor's undo has led to, or has restored the file. b is what Saved has returned; SavedBack returns it if it has that
// text and a fresh comparison finds no decision in it. It returns nil if b has another text and there is no decision.
func (f *File) SavedBack(b *Buffer, disk atomicfile.State) *Buffer {
	on := b != nil && b.isOn(disk)
	switch {
	case on && (b.HasDecisions() || !utf8.Valid(disk.Data)):
		return b
	case !disk.Exists || disk.Target != "" || !utf8.Valid(disk.Data):
		return nil
	}
	doc := &documents.Document{Text: string(disk.Data), Held: true}
	if b != nil {
		doc.Client, doc.Path = b.Doc.Client, b.Doc.Path
	}
	saved := b
	if b == nil || on { // if on, the text was perhaps reported when half a save hid what was decided
		saved = &Buffer{f: f, Doc: &documents.Document{}}
	}
	saved.sync(doc)
	switch {
	case saved.HasDecisions():
		return saved
	case on:
		return b
	}
	return nil
}

// Saved returns the buffer whose text is on disk, or that its client has reported as saved; nil if there is none. A file
// that is more like a buffer with decisions than like its own last content has that buffer's text, with typing that the
// client has not reported yet.
func (f *File) Saved(docs *documents.Set, path string, disk atomicfile.State) *Buffer {
	var saved *Buffer
	unsaved := docs.Unsaved(path)
	for client, b := range f.Buffers {
		if !disk.Exists || disk.Target != "" || b.Review == nil {
			continue
		}
		if b.isOn(disk) {
			return b
		}
		if b.HasDecisions() && b.rev == f.Review.Rev() && b.like(disk) {
			saved = b
			continue
		}
		still := slices.ContainsFunc(unsaved, func(doc *documents.Document) bool {
			return doc.Client == client && (!b.EditsInFlight || b.HasDecisions())
		})
		if !still && docs.Has(client, b.Doc.Path) {
			saved = b
		}
	}
	return saved
}

// isOn reports whether a file has the text of the buffer, or what its decisions make of the file.
func (b *Buffer) isOn(disk atomicfile.State) bool {
	return b.Text() == string(disk.Data) || b.HasDecisions() && disk.Same(atomicfile.State{Content: b.f.RealOf(b.Review)})
}

// TakeSaved takes in the save of a buffer. Decisions made in it become decisions of the file. Hunks that the saved text lacks, because a
// person has removed them or never had them, become rejected, by a decision that it returns; nil if there are none. It returns false if
// nothing was decided.
func (f *File) TakeSaved(docs *documents.Set, b *Buffer, disk atomicfile.State) (rejected *diffs.Decision, took bool) {
	b.f = f // a save in a call may be older than the review
	text := string(disk.Data)
	steps, exact, typed := b.savedSteps(disk)
	unseen, seen, sides := b.compareSaved(text)
	before := f.Review
	accepts, finished, both := f.finishAccepts()
	review := decisionlog.Stem(accepts, steps)
	if exact || typed {
		then, rejects := f.finishSteps(accepts.Copy(), steps)
		review, finished = then, finished || rejects
	}
	if !f.Isolated {
		if done, rejects := review.Overwrite(disk.Content, unseen, seen, sides...); rejects {
			rejected = &done
		}
	}
	switch {
	case rejected == nil && exact && !finished:
		f.Review = b.Review
	case rejected != nil || typed || exact:
		f.Review = review
		f.Review.Supersede(before)
	default:
		if finished {
			f.Review = accepts
			f.Review.Supersede(before)
			if f.Apart != nil && both { // if the text from before comes back, the person's lines are on disk, too
				f.Apart, f.Unstored = &Apart{f.Apart.sum, text}, true
			}
		}
		return nil, false
	}
	f.Apart, f.Unstored = nil, f.Unstored || f.Apart != nil
	if !typed || b.Text() == text { // else the next report says whether the client has saved
		docs.Saved(b.Doc)
	}
	if f.Buffers[b.Doc.Client] == b {
		delete(f.Buffers, b.Doc.Client)
	}
	f.Owner.Viewed()
	return rejected, true
}

// savedSteps returns the decisions that a saved text has. The disk has exactly what they make of the file, or the client has typed
// something since its last report, or neither.
func (b *Buffer) savedSteps(disk atomicfile.State) (steps []decisionlog.Step, exact, typed bool) {
	if !b.HasDecisions() || b.rev != b.f.Review.Rev() {
		return nil, false, false
	}
	exact = disk.Same(atomicfile.State{Content: b.f.RealOf(b.Review)})
	if b.stepInFlight != nil && !exact { // the file was saved before a report of the text
		b.finishStep(b.Text(), string(disk.Data), false)
	}
	typed = !exact && b.HasDecisions() && b.like(disk)
	return b.made(), exact, typed
}

// compareSaved compares a saved text with the file's hunks: it returns those that the person need not have seen, all, and the lines of
// both sides of the conflicts.
func (b *Buffer) compareSaved(text string) (unseen, all []uint64, sides []diffs.Side) {
	b.Conflicts = nil
	places := b.f.Review.Places()
	for _, p := range places {
		all = append(all, p.ID)
	}
	if b.lookBeneath(text); b.beneath != nil {
		for _, c := range b.beneath.Unmerged {
			unseen = append(unseen, touched(places, c.Disk)...)
		}
		if b.Doc.Known == nil && !b.beneath.Sure { // the base is a guess: the editor may never have had the hunks that the text lacks
			unseen = all
		}
	}
	for _, c := range b.Conflicts {
		sides = append(sides, diffs.Side{Over: b.f.Review.Over(c.Disk.From, c.Disk.To), Mine: threeway.Lines(text, c.Text)})
	}
	return unseen, all, sides
}

// like reports whether the disk is more like the buffer, after its decisions, than like the file's last content. It is not if
// the editor's undo has taken the decisions back.
func (b *Buffer) like(disk atomicfile.State) bool {
	f := b.f
	return !f.Isolated && threeway.Nearer(string(disk.Data), string(f.RealOf(b.Review).Data), string(f.Real().Data))
}

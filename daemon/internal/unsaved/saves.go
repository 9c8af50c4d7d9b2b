package unsaved

import (
	"bytes"
	"maps"
	"slices"
	"unicode/utf8"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/documents"
	"cursord/diffs"
)

// This file finds the buffers whose texts were saved.

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

// Left takes out the saves of the paths that no open call names any more, and returns the latest of each: no report has taken it in.
func (s CallSaves) Left(named func(path string) bool) map[string]*Buffer {
	left := map[string]*Buffer{}
	maps.DeleteFunc(s, func(path string, saves []callSave) bool {
		if named(path) {
			return false
		}
		left[path] = saves[len(saves)-1].buffer
		return true
	})
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

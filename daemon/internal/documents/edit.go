package documents

import (
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// Edit marks a document as unsaved although it equals the file, because edits are about to change it. It returns false if
// the client does not have path open, has another text, or has a text that leaves out everything that changes. Saved undoes
// it.
func (ds *Set) Edit(client api.ClientID, path string, disk, other diffs.Content) bool {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	name, doc := ds.openedLocked(client, path)
	if doc == nil || doc.dirty || doc.Known == nil {
		return false
	}
	text := doc.Form.Text(string(disk.Data))
	known := doc.Form.Text(string(doc.Known.Data))
	if text != known || text == doc.Form.Text(string(other.Data)) || ds.textLocked(client)+len(text) > documentsMax {
		return false
	}
	ds.orders++
	held := &Document{
		Client: client, Path: path, Version: doc.Version, dirty: true, Order: ds.orders, Held: true, Text: text,
		Base: atomicfile.State{Content: disk}, Based: filestat.Of(path).Changed(), Known: doc.Known, Form: doc.Form, formed: doc.formed, Editing: true,
	}
	ds.docs[client][name] = held
	if ds.paths[path] == nil {
		ds.paths[path] = map[api.ClientID]*Document{}
	}
	ds.paths[path][client] = held
	return true
}

// LikeFile returns the document's text in the form of a content of its file.
func (doc *Document) LikeFile(file []byte) string {
	return editorfile.LikeFile(doc.Text, file, doc.sendsEnds())
}

// sendsEnds reports whether the client has sent the line ends of the file, so that a text without CR has lost them.
func (doc *Document) sendsEnds() bool {
	return doc != nil && doc.formed && !doc.Form.Ends && doc.Known != nil && editorfile.AllCR(doc.Known.Data)
}

// setForm notes what a text leaves out of the file, such as line ends. It can see that only while both have the same lines,
// and keeps it after that.
func (doc *Document) setForm(old *Document, text *string, disk atomicfile.State) {
	switch {
	case old != nil && old.formed && (text == nil || doc.dirty):
		doc.Form, doc.formed = old.Form, true
	case text != nil:
		file := disk.Data
		if doc.dirty && old != nil && old.Known != nil {
			file = old.Known.Data
		}
		doc.Form, doc.formed = editorfile.FormOf(*text, file), true
	}
	if text != nil && strings.Contains(*text, "\r") {
		doc.Form.Ends = false
	}
}

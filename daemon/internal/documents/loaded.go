package documents

import (
	"bytes"
	"slices"

	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// sinceMost is how many contents that the daemon has written are kept for a document.
const sinceMost = 4

// Wrote records that the daemon has written a file, whose absolute path is given. A client that loads this may report it when the daemon has
// written the next content already. Such a text is not unsaved: the client is about to load again.
func (ds *Set) Wrote(path string, now diffs.Content) {
	stat := filestat.Of(path)
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for client, open := range ds.docs {
		name, doc := ds.openedLocked(client, path)
		if doc == nil || doc.dirty || doc.Known == nil || !now.Exists || now.Target != "" || ds.textLocked(client)+len(now.Data) > documentsMax {
			continue
		}
		next := *doc
		next.since = append(slices.Clone(doc.since[max(len(doc.since)+1-sinceMost, 0):]), known{now, stat})
		open[name] = &next
	}
}

// loaded looks for the content written by the daemon that a client has loaded if it reports this text. It returns that content, and those that
// the daemon has written after it; nil if there is none. The content that the client is known to have does not count, because an editor's own
// undo brings it back.
func (doc *Document) loaded(text *string) (had *known, later []known) {
	if doc == nil || text == nil {
		return nil, nil
	}
	for i, k := range slices.Backward(doc.since) {
		if !bytes.Equal(k.content.Data, doc.Known.Data) && editorfile.LikeFile(*text, k.content.Data, doc.sendsEnds()) == string(k.content.Data) {
			return &doc.since[i], doc.since[i+1:]
		}
	}
	return nil, nil
}

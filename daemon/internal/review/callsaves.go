package review

import (
	"bytes"
	"maps"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/unsaved"
	"cursord/diffs"
)

// callSavesMax bounds the saves of a file that are kept while open calls name it. Older saves count as ordinary edits.
const callSavesMax = 16

// A callSave is a save of a buffer while open calls name the file. Only their end shows whether the save removed lines of
// the agent's; then the removal counts as a reject.
type callSave struct {
	text   []byte // in the file's form
	buffer *unsaved.Buffer
}

// saveInACall keeps a save of a document until the calls that name the path have ended.
func (r *Reviewer) saveInACall(name string, doc *documents.Document, saved atomicfile.State) {
	b := unsaved.Of(doc)
	if f := r.shared().files[name]; f != nil && r.load(f) == nil {
		if known := f.Buffers[doc.Client]; known != nil && known.Review != nil && known.Text() == string(saved.Data) {
			b = known.Copy() // as it was saved, because the client may go on typing
		}
	}
	saves := append(r.saves[name], callSave{saved.Data, b})
	r.saves[name] = saves[max(0, len(saves)-callSavesMax):]
}

// savedAs returns the buffer that was saved with content c at a path while calls were open; nil if there is none.
func (r *Reviewer) savedAs(path string, c diffs.Content) *unsaved.Buffer {
	if !c.Exists || c.Target != "" {
		return nil
	}
	for _, s := range r.saves[path] {
		if bytes.Equal(s.text, c.Data) {
			return s.buffer
		}
	}
	return nil
}

// dropSaves forgets the saves of paths that no open call names.
func (r *Reviewer) dropSaves() {
	maps.DeleteFunc(r.saves, func(path string, _ []callSave) bool { return !r.shared().ledger.Pending(path) })
}

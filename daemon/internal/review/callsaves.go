package review

import (
	"bytes"
	"maps"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/documents"
	"cursord/diffs"
)

// callSavesMax bounds how many saves of a file are kept while calls are open that name it. Older ones are edits like any other.
const callSavesMax = 16

// A callSave is a save of a buffer while calls are open that name the file. Whether it removed lines of the agent's is known once the
// calls have ended; then it is a decision, as at any other time.
type callSave struct {
	text   []byte // in the file's form
	buffer *buffer
}

// saveInACall keeps a save of a document until the calls have ended that name the path.
func (r *Reviewer) saveInACall(name string, doc *documents.Document, saved atomicfile.State) {
	b := &buffer{doc: doc}
	if f := r.shared().files[name]; f != nil && r.load(f) == nil {
		if known := f.buffers[doc.Client]; known != nil && known.review != nil && known.text(f) == string(saved.Data) {
			as := *known // as it is saved; the client may go on typing
			if as.beneath != nil {
				beneath := *as.beneath
				as.beneath = &beneath
			}
			b = &as
		}
	}
	saves := append(r.saves[name], callSave{saved.Data, b})
	r.saves[name] = saves[max(0, len(saves)-callSavesMax):]
}

// savedAs returns the buffer that was saved as a content of a path while calls were open that name it, or nil.
func (r *Reviewer) savedAs(path string, c diffs.Content) *buffer {
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

// dropSaves forgets the saves of paths that no open call names any more.
func (r *Reviewer) dropSaves() {
	maps.DeleteFunc(r.saves, func(path string, _ []callSave) bool { return !r.shared().ledger.Pending(path) })
}

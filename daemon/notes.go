package daemon

import (
	"encoding/json"
	"fmt"
	"slices"

	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// A note is a remark for the next prompt of its session, or of any session if SessionID is "".
type note struct {
	n         uint64
	SessionID string `json:"sessionId"`
	Text      string `json:"text"`
	Group     uint64 `json:"group,omitempty"`   // the decision that it goes with: an undo takes both back
	Comment   bool   `json:"comment,omitempty"` // it is a person's own words, not what was rejected
}

// keepNote adds a note and numbers it.
func (w *workspace) keepNote(c *commit, add note) {
	for _, have := range w.notes {
		add.n = max(add.n, have.n)
	}
	add.n++
	w.notes = append(w.notes, add)
	c.ops = append(c.ops, sessions.PutNote{N: add.n, Data: wire.Encode(add)})
}

// takeNotes takes the notes for a session's prompt.
func (w *workspace) takeNotes(c *commit, session string) []string {
	return shortRejections(w.dropNotes(c, func(n note) bool { return n.SessionID == "" || n.SessionID == session }))
}

// dropNotes drops notes that no later prompt needs, and returns them.
func (w *workspace) dropNotes(c *commit, which func(note) bool) (dropped []note) {
	w.notes = slices.DeleteFunc(w.notes, func(n note) bool {
		if !which(n) {
			return false
		}
		dropped = append(dropped, n)
		c.ops = append(c.ops, sessions.DropNote{N: n.n})
		return true
	})
	return dropped
}

func (w *workspace) loadNotes() error {
	notes, err := w.d.store.Notes(w.root)
	if err != nil {
		return err
	}
	for _, rec := range notes {
		n := note{n: rec.N}
		if err := json.Unmarshal(rec.Data, &n); err != nil {
			w.d.damagedRecord(w.root, fmt.Sprint("note ", rec.N), err)
			w.d.store.Submit(w.root, []sessions.Op{sessions.DropNote{N: rec.N}}, nil)
			continue
		}
		w.notes = append(w.notes, n)
	}
	return nil
}

// rejectionsMax bounds what a prompt says about rejected changes, in bytes.
const rejectionsMax = 4 << 10

// shortRejections returns a prompt's notes; those about rejections are cut to rejectionsMax together.
func shortRejections(notes []note) (texts []string) {
	left, dropped := rejectionsMax-64, 0
	for _, n := range notes {
		if n.Group != 0 && !n.Comment {
			if left -= len(n.Text) + len("- \n"); left < 0 {
				dropped++
				continue
			}
		}
		texts = append(texts, n.Text)
	}
	if dropped > 0 {
		texts = append(texts, fmt.Sprintf("the user rejected %d more of your changes", dropped))
	}
	return texts
}

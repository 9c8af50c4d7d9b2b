// Package remarks keeps what the next prompts of a workspace's sessions are to tell the agent: what a person has rejected, with their comments.
// It also keeps what their next turns are to tell people.
package remarks

import (
	"encoding/json"
	"fmt"
	"slices"

	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// A Remark is for the next prompt of its session, or of any session if SessionID is "".
type Remark struct {
	n         uint64
	SessionID string `json:"sessionId"`
	Text      string `json:"text"`
	Group     uint64 `json:"group,omitempty"`   // the decision that it goes with: an undo takes both back
	Comment   bool   `json:"comment,omitempty"` // it is a person's own words, not what was rejected
	// Notices, if there are any, are for people, and nothing is for the prompt.
	Notices []string `json:"notices,omitempty"`
}

// A List has a workspace's remarks, oldest first, as the store has them once it has made the operations that the methods add to ops. Its zero
// value has none.
type List struct{ list []Remark }

// New returns the remarks that the store has. It calls damaged with the number of each that cannot be read.
func New(stored []sessions.Numbered, damaged func(n uint64, err error)) (l List) {
	for _, rec := range stored {
		r := Remark{n: rec.N}
		if err := json.Unmarshal(rec.Data, &r); err != nil {
			damaged(rec.N, err)
			continue
		}
		l.list = append(l.list, r)
	}
	return l
}

// Sessions returns the session of each remark.
func (l *List) Sessions() (ids []string) {
	for _, r := range l.list {
		ids = append(ids, r.SessionID)
	}
	return ids
}

// Keep adds what a decision's rejection tells the agent.
func (l *List) Keep(ops *[]sessions.Op, decision uint64, of decisionlog.Rejection) {
	l.add(ops, Remark{SessionID: of.Session, Text: of.Text, Group: decision, Comment: of.Comment})
}

// Notify has a session's next turn tell people notices, in the place of those that it was to tell.
func (l *List) Notify(ops *[]sessions.Op, session string, notices []string) {
	l.drop(ops, func(r Remark) bool { return r.SessionID == session && r.Notices != nil })
	if len(notices) > 0 {
		l.add(ops, Remark{SessionID: session, Notices: notices})
	}
}

// Notices returns what a session's next turn is to tell people.
func (l *List) Notices(session string) (all []string) {
	for _, r := range l.list {
		if r.SessionID == session {
			all = append(all, r.Notices...)
		}
	}
	return all
}

func (l *List) add(ops *[]sessions.Op, add Remark) {
	add.n = 1
	for _, have := range l.list {
		add.n = max(add.n, have.n+1)
	}
	l.list = append(l.list, add)
	*ops = append(*ops, sessions.PutNote{N: add.n, Data: wire.Encode(add)})
}

// KeepsOf reports whether there are remarks of a decision.
func (l *List) KeepsOf(decision uint64) bool {
	return slices.ContainsFunc(l.list, func(r Remark) bool { return r.Group == decision })
}

// DropOf drops the remarks of a decision.
func (l *List) DropOf(ops *[]sessions.Op, decision uint64) {
	l.drop(ops, func(r Remark) bool { return r.Group == decision })
}

// DropFor drops the remarks for one session.
func (l *List) DropFor(ops *[]sessions.Op, session string) {
	l.drop(ops, func(r Remark) bool { return r.SessionID == session })
}

// Take drops the remarks for a session's prompt, and returns their texts.
func (l *List) Take(ops *[]sessions.Op, session string) []string {
	return short(l.drop(ops, func(r Remark) bool { return r.Notices == nil && (r.SessionID == "" || r.SessionID == session) }))
}

func (l *List) drop(ops *[]sessions.Op, which func(Remark) bool) (dropped []Remark) {
	l.list = slices.DeleteFunc(l.list, func(r Remark) bool {
		if !which(r) {
			return false
		}
		dropped = append(dropped, r)
		*ops = append(*ops, sessions.DropNote{N: r.n})
		return true
	})
	return dropped
}

// rejectionsMax bounds what a prompt says about rejected changes, in bytes.
const rejectionsMax = 4 << 10

// short returns the texts of remarks; those about rejections are cut to rejectionsMax together.
func short(remarks []Remark) (texts []string) {
	left, dropped := rejectionsMax-64, 0
	for _, r := range remarks {
		if r.Group != 0 && !r.Comment {
			if left -= len(r.Text) + len("- \n"); left < 0 {
				dropped++
				continue
			}
		}
		texts = append(texts, r.Text)
	}
	if dropped > 0 {
		texts = append(texts, fmt.Sprintf("the user rejected %d more of your changes", dropped))
	}
	return texts
}

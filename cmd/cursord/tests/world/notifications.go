//go:build unix

package world

import (
	"time"

	"cursord/sessions"
)

// Key names the object of a notification.
func (n Notification) Key() string {
	switch {
	case n.Session != nil:
		return "session " + n.Session.ID
	case n.Turn != nil:
		return "turn " + n.Turn.ID
	case n.Item != nil:
		return "item " + n.Item.ID
	case n.Approval != nil:
		return "approval " + n.Approval.ID
	case n.Diff != nil:
		return "diff " + n.Diff.Path
	}
	return ""
}

// Newest returns the newest seq of each object.
func Newest(all []Notification) map[string]uint64 {
	seqs := map[string]uint64{}
	for _, n := range all {
		if n.Seq > 0 && n.Key() != "" {
			seqs[n.Key()] = n.Seq
		}
	}
	return seqs
}

// Notification is one notification; the object that it carries is decoded.
type Notification struct {
	Method    string
	Seq       uint64             `json:"seq"`
	Session   *sessions.Session  `json:"session"`
	Turn      *sessions.Turn     `json:"turn"`
	Item      *sessions.Item     `json:"item"`
	Diff      *sessions.Diff     `json:"diff"`
	Approval  *sessions.Approval `json:"approval"`
	ItemID    string             `json:"itemId"`
	TurnID    string             `json:"turnId"`
	SessionID string             `json:"sessionId"`
	Offset    int                `json:"offset"`
	Text      string             `json:"text"`
	Removed   bool               `json:"removed"`
	Level     string             `json:"level"`
	Message   string             `json:"message"`
	Verbose   string             `json:"verbose"`
	At        time.Time
}

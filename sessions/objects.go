package sessions

import (
	"fmt"
	"time"
)

// The objects here and in turn.go, item.go, diff.go and approvals.go have the field names of rpc/PROTOCOL.md: an object is stored
// in the form in which it is sent, so that a catch-up only copies bytes. A zero Seq means that the object is not stored yet.

// A Time is a moment in UTC with milliseconds, "2006-01-02T15:04:05.000Z" in JSON.
type Time struct{ time.Time }

const timeFormat = "2006-01-02T15:04:05.000Z"

// Now returns the present moment, cut to milliseconds.
func Now() Time { return Time{time.Now().UTC().Truncate(time.Millisecond)} }

func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.UTC().Format(timeFormat) + `"`), nil
}

func (t *Time) UnmarshalJSON(b []byte) error {
	v, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(b))
	if err != nil {
		return fmt.Errorf("time: %w", err)
	}
	t.Time = v.UTC()
	return nil
}

// A SessionState says whether a turn of the session runs or waits.
type SessionState string

const (
	SessionIdle    SessionState = "idle"
	SessionQueued  SessionState = "queued"
	SessionRunning SessionState = "running"
)

// A Mode is what the agent may do.
type Mode string

const (
	ModeAgent Mode = "agent"
	ModeAsk   Mode = "ask"
	ModePlan  Mode = "plan"
)

// A Session is a conversation with the agent in one workspace.
type Session struct {
	ID             string       `json:"id"`
	Workspace      string       `json:"workspace"`
	AgentSessionID *string      `json:"agentSessionId"`
	Title          string       `json:"title"`
	Model          *string      `json:"model"`
	Mode           Mode         `json:"mode"`
	Isolation      string       `json:"isolation"`            // "none" or "copy"
	Driver         string       `json:"driver,omitempty"`     // "print" or "acp"; "", of an older session: "print"
	Sandbox        string       `json:"sandbox,omitempty"`    // "enabled" or "disabled"; "": as the configuration says
	AutoReview     *bool        `json:"autoReview,omitempty"` // nil: the configuration decides
	AddDirs        []string     `json:"addDirs,omitempty"`    // absolute, without symlinks; none: the configuration decides
	State          SessionState `json:"state"`
	Turns          int          `json:"turns"`
	ForkedFrom     *Fork        `json:"forkedFrom,omitempty"` // nil: it is no fork
	Attempt        *Attempt     `json:"attempt,omitempty"`    // nil: it is no attempt
	Rewound        bool         `json:"rewound,omitempty"`    // the next turn begins a fresh chat with a recap: turns were cut off, or this is a copy
	Spent          []Spent      `json:"spent,omitempty"`      // what turns have used that were cut off, the oldest first
	CreatedAt      Time         `json:"createdAt"`
	UpdatedAt      Time         `json:"updatedAt"`
	Seq            uint64       `json:"seq"`
}

// A Fork says what a session continues: the transcript of another session up to and with a turn of that one. TurnID is "" if
// there was none. The other session may be gone, or its turn.
type Fork struct {
	SessionID string `json:"sessionId"`
	TurnID    string `json:"turnId"`
}

// An Attempt says that a session is one of several that were begun with the same prompt, to choose between.
type Attempt struct {
	Group  string `json:"group"`  // what they have in common, made up by the client
	Number int    `json:"number"` // from 1
	Of     int    `json:"of"`     // how many were asked for
}

// Copied reports whether a turn of the session is a copy that came with a fork: another session has used its tokens.
func (s *Session) Copied(t *Turn) bool {
	return s.ForkedFrom != nil && t.CreatedAt.Before(s.CreatedAt.Time)
}

// A Kind is a kind of object.
type Kind string

const (
	KindSession Kind = "session"
	KindTurn    Kind = "turn"
	KindItem    Kind = "item"
	KindDiff    Kind = "diff"

	KindApproval Kind = "approval"
)

// An Object is a *Session, *Turn, *Item, *Diff or *Approval.
type Object interface {
	// Key returns the object's kind and its id within the store; a diff's id is its path, unique in its workspace.
	Key() (Kind, string)
	// Sequence returns the object's seq.
	Sequence() uint64
}

func (s *Session) Key() (Kind, string) { return KindSession, s.ID }
func (t *Turn) Key() (Kind, string)    { return KindTurn, t.ID }
func (i *Item) Key() (Kind, string)    { return KindItem, i.ID }
func (d *Diff) Key() (Kind, string)    { return KindDiff, d.Path }

func (s *Session) Sequence() uint64 { return s.Seq }
func (t *Turn) Sequence() uint64    { return t.Seq }
func (i *Item) Sequence() uint64    { return i.Seq }
func (d *Diff) Sequence() uint64    { return d.Seq }

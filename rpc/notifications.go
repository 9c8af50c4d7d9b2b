package rpc

import (
	"cursord/sessions"
)

// SessionChanged are the parameters of session/changed: the session, or its id and removed.
type SessionChanged struct {
	Workspace string            `json:"workspace"`
	Seq       uint64            `json:"seq"`
	Session   *sessions.Session `json:"session,omitempty"`
	SessionID string            `json:"sessionId,omitempty"`
	Removed   bool              `json:"removed,omitempty"`
}

// TurnChanged are the parameters of turn/changed: the turn, or its id and removed.
type TurnChanged struct {
	Workspace string         `json:"workspace"`
	Seq       uint64         `json:"seq"`
	Turn      *sessions.Turn `json:"turn,omitempty"`
	TurnID    string         `json:"turnId,omitempty"`
	Removed   bool           `json:"removed,omitempty"`
}

// ItemChanged are the parameters of item/changed.
type ItemChanged struct {
	Workspace string         `json:"workspace"`
	Seq       uint64         `json:"seq"`
	Item      *sessions.Item `json:"item"`
}

// DiffChanged are the parameters of diff/changed.
type DiffChanged struct {
	Workspace string         `json:"workspace"`
	Seq       uint64         `json:"seq"`
	Diff      *sessions.Diff `json:"diff"`
}

// LogMessage are the parameters of log/message; Level is error, warning, info or debug.
type LogMessage struct {
	Level   string `json:"level"`
	Message string `json:"message"`
}

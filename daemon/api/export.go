package api

import "cursord/sessions"

// An exported session is a file of JSON lines: the header, the session, each turn followed by its items, and the end.

// ExportHeader is the first line of an exported session.
type ExportHeader struct {
	Cursord string `json:"cursord"` // "session"
	Version int    `json:"version"` // 1
}

// An ExportLine is a line after the header. Exactly one of its fields is set.
type ExportLine struct {
	Session *sessions.Session `json:"session,omitempty"`
	ExportPart
	End *ExportEnd `json:"end,omitempty"`
}

// An ExportEnd is the last line of an export; a file without it was cut off. It has the numbers of turns and items in the
// file.
type ExportEnd struct {
	Turns int `json:"turns"`
	Items int `json:"items"`
}

// A SessionExport is one part of a complete session; no text in it is cut.
type SessionExport struct {
	Session    *sessions.Session `json:"session,omitempty"` // only in the first part
	Parts      []ExportPart      `json:"parts"`
	NextCursor string            `json:"nextCursor,omitempty"`
}

// An ExportPart is a turn, an item, or, behind all of these, what the session has written in a file, or was told of a decision.
type ExportPart struct {
	Turn    *sessions.Turn `json:"turn,omitempty"`
	Item    *sessions.Item `json:"item,omitempty"`
	Written *WrittenFile   `json:"written,omitempty"`
	Told    *Told          `json:"told,omitempty"`
}

// A Told is what the agent was told of a decision that stands: a rejected hunk, or what a person said about it.
type Told struct {
	Text    string `json:"text"`
	Comment bool   `json:"comment,omitempty"` // a person's words
}

// A WrittenFile has the lines of a file of the workspace that a session has written and that the file still has.
type WrittenFile struct {
	Path  string         `json:"path"`           // relative to the workspace
	Sums  []byte         `json:"sums,omitempty"` // two bytes of a hash for each line of the file, by which it is known again
	Lines []WrittenLines `json:"lines"`
}

// WrittenLines are lines that one call has written, in the order of the file.
type WrittenLines struct {
	TurnID string         `json:"turnId"`
	ItemID string         `json:"itemId,omitempty"`
	Via    sessions.Via   `json:"via"`
	At     *sessions.Time `json:"at,omitempty"` // missing: not known
	From   int            `json:"from"`         // the first one's number in the file, from 0
	Text   []string       `json:"text"`         // without line ends
}

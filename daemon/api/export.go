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

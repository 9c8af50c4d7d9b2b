package diffs

import (
	"errors"
	"strings"
	"unicode/utf8"
)

var (
	// ErrNotFound is returned when a hunk's id is not (any more) that of a pending hunk.
	ErrNotFound = errors.New("no such pending hunk")
	// ErrRange is returned when a range of lines does not select changed lines of a single hunk that has lines.
	ErrRange = errors.New("the range does not fit the hunk")
	// ErrBaselineUnknown is returned when a change is to be rejected and what was there before it is not known.
	ErrBaselineUnknown = errors.New("what the file held before is not known")
	// ErrUserChanged is returned when a change that can only be decided as a whole is to be decided so that what the
	// user has written since would be lost.
	ErrUserChanged = errors.New("the file was changed since the agent wrote it")
	// ErrOvertaken is returned when a decision cannot be taken back or made again because of what happened to the
	// file since.
	ErrOvertaken = errors.New("the file has changed too much since the decision")
	// ErrCorrupt is returned when a stored state is not one that Marshal made, or does not fit the contents it comes with.
	ErrCorrupt = errors.New("the stored review does not fit its contents")
)

// A Content is what a path holds. An absent path has Exists false and nothing else.
type Content struct {
	Exists bool
	Data   []byte
	Mode   uint32 `json:",omitempty"` // permission bits of a file; 0 where they are not known
	Target string `json:",omitempty"` // where a symbolic link points, as it says; it then has no Data
}

// body returns what c holds, be it a file or a link.
func (c Content) body() body {
	if c.Target != "" {
		return body{text: c.Target, link: true}
	}
	return body{text: string(c.Data)}
}

// A body is what a file or a symbolic link holds.
type body struct {
	text string // of a link, its target
	link bool
}

// A Source says which edit of the agent made a line.
type Source struct {
	SessionID string `json:"sessionId"`
	TurnID    string `json:"turnId"`
	ItemID    string `json:"itemId,omitempty"`
	Via       Via    `json:"via"`
}

// A Via is the way in which the agent made an edit.
type Via string

const (
	ViaEdit    Via = "edit"    // a tool that edits files
	ViaShell   Via = "shell"   // a command
	ViaTool    Via = "tool"    // an MCP server, a sub-agent or a tool of another kind
	ViaHook    Via = "hook"    // a formatter that the agent's hooks ran on lines which the turn wrote
	ViaUnknown Via = "unknown" // no call explains the edit: it may be a person's
)

// A Kind is the strongest thing that happened to a file.
type Kind string

// What Review.Kind returns, the weakest first.
const (
	Modified Kind = "modified"
	Mode     Kind = "mode"
	Renamed  Kind = "renamed"
	Deleted  Kind = "deleted"
	Created  Kind = "created"
	Symlink  Kind = "symlink" // a symbolic link on either side
	Large    Kind = "large"   // beyond the limits on either side
	Binary   Kind = "binary"  // a NUL, or not UTF-8, on either side
)

// Limits say up to which size a file is reviewed by lines. A zero field means the default.
type Limits struct {
	MaxBytes int `json:"maxBytes"` // 0: 8 MiB
	MaxLines int `json:"maxLines"` // 0: 200,000
}

func (l Limits) orDefault() Limits {
	if l.MaxBytes == 0 {
		l.MaxBytes = 8 << 20
	}
	if l.MaxLines == 0 {
		l.MaxLines = 200_000
	}
	return l
}

// Classify returns Binary or Large for what is reviewed as a whole, Modified for what is reviewed by lines.
func (l Limits) Classify(data []byte) Kind { return l.classify(string(data)) }

// kind is Classify for what may be a link.
func (l Limits) kind(b body) Kind {
	if b.link {
		return Symlink
	}
	return l.classify(b.text)
}

func (l Limits) classify(text string) Kind {
	l = l.orDefault()
	switch {
	case strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text):
		return Binary
	case len(text) > l.MaxBytes || strings.Count(text, "\n") > l.MaxLines:
		return Large
	}
	return Modified
}

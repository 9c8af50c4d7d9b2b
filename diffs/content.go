package diffs

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

var (
	// ErrNotFound is returned when a hunk's id is not, or no longer, that of a pending hunk.
	ErrNotFound = errors.New("no such pending hunk")
	// ErrRange is returned when a range does not select changed lines of a single hunk that has lines.
	ErrRange = errors.New("the range does not match the hunk")
	// ErrBaselineUnknown is returned when a change is to be rejected and nobody saw what was there before it.
	ErrBaselineUnknown = errors.New("the earlier content of the file is unknown")
	// ErrUserChanged is returned when deciding a change, which is possible only as a whole, would lose what the user has
	// written since.
	ErrUserChanged = errors.New("the file has changed since the agent wrote it")
	// ErrBaselineGone is returned when an accept would make a file of only those lines that the agent changed in one that is gone.
	ErrBaselineGone = errors.New("the file is gone, and these lines are only a part of it")
	// ErrOvertaken is returned when a decision cannot be undone or redone because of later changes to the file.
	ErrOvertaken = errors.New("the file has changed too much since the decision")
	// ErrGone is the ErrOvertaken of an accept whose lines are all gone.
	ErrGone = fmt.Errorf("%w: its lines are gone", ErrOvertaken)
	// ErrCorrupt is returned when Marshal did not make a stored state, or when it does not fit the contents given with it.
	ErrCorrupt = errors.New("the stored review does not fit its contents")
)

// A Content is what a path holds. An absent path has Exists false and nothing else.
type Content struct {
	Exists bool
	Data   []byte
	Mode   uint32 `json:",omitempty"` // permission bits of a file; 0 where they are not known
	Target string `json:",omitempty"` // where a symbolic link points, unresolved; it then has no Data
}

// body returns what c holds, whether it is a file or a link.
func (c Content) body() body {
	if c.Target != "" {
		return body{text: c.Target, link: true}
	}
	return body{text: string(c.Data)}
}

func (c Content) same(o Content) bool {
	return c.Exists == o.Exists && c.Mode == o.Mode && c.body() == o.body()
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
	Commit    string `json:"commit,omitempty"` // which the edit has only brought: the line is of whoever made this commit
	Imported  bool   `json:"import,omitempty"` // only an import tells of the edit: nobody knows what it replaced
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

// The values of Review.Kind, the weakest first.
const (
	Modified Kind = "modified"
	Mode     Kind = "mode"
	Renamed  Kind = "renamed"
	Deleted  Kind = "deleted"
	Created  Kind = "created"
	Symlink  Kind = "symlink" // a symbolic link, before or after
	Large    Kind = "large"   // larger than the limits, before or after
	Binary   Kind = "binary"  // with a NUL, or not UTF-8, before or after
)

// Limits say how large a file may be to be reviewed by lines. A zero field means the default.
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

// Classify returns Modified for a content that is reviewed by lines, and Binary or Large for one that is reviewed as a
// whole.
func (l Limits) Classify(data []byte) Kind { return l.classify(string(data)) }

// kind is Classify for a body, which may be a link.
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

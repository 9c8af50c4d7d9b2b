package api

import (
	"log/slog"

	"cursord/sessions"
)

// Subscribed is the answer to workspace/subscribe.
type Subscribed struct {
	Workspace string `json:"workspace"`
	Seq       uint64 `json:"seq"`
	Epoch     string `json:"epoch"`
	Reset     bool   `json:"reset"`
}

// TurnParams are the parameters of turn/start.
type TurnParams struct {
	Workspace string
	SessionID string // "": a new session
	TurnID    string // "": made up
	Prompt    string
	Context   []Context
	Model     *string
	Mode      *sessions.Mode
	Force     bool
	Permits   Permits
	Isolation string   // of the session that the turn makes, else the session's own; "": as that is, or the settings say
	Asker     Asker    // the client's environment
	Env       []string // its whole environment, for the agent; nil: it gave none. Never stored, never logged
	Recap     bool     // begin a fresh chat with the session's transcript as context
}

// Permits is what an agent may do beside what mode and force say. A nil member leaves it to the session, which leaves it
// to the configuration, which leaves it to the agent's own settings.
type Permits struct {
	Sandbox    *string   // "enabled" or "disabled"; of a session also "default", which is as if it had never named one
	AutoReview *bool     // whether a classifier of the agent's decides what would be asked for
	AddDirs    *[]string // folders beside the workspace, absolute or relative to it; of a session, none is as if it had named none
}

// An Asker is the part of a client's environment that says where it would find the agent.
type Asker struct {
	Path  string // its PATH
	Agent string // its CURSORD_AGENT
}

// A ClientID names a client that may hold documents; 0 is one that holds none.
type ClientID uint64

// A Context is something put into the prompt beside the user's words; see composePrompt for its form.
// Kind is file, selection, diagnostics, text or image.
type Context struct {
	Kind  string
	Path  string
	Data  []byte // of an image without a path: all of it
	Range *Range
	Text  string
	Title string
	Items []Diagnostic
}

// A Range is LSP's: lines and characters from 0, the end exclusive.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// A Position is LSP's.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A Diagnostic is one message about a file, in LSP's terms; Severity counts from 1, error.
type Diagnostic struct {
	Range    Range
	Severity int
	Message  string
	Source   string
}

// SessionParams are the parameters of session/create and session/update; nil leaves a field as it is.
type SessionParams struct {
	Title          *string
	Model          *string
	Mode           *sessions.Mode
	Permits        Permits
	Isolation      string
	AgentSessionID string
}

// A Decision selects hunks and says what becomes of them; exactly one of Hunks, Path, TurnID and All is set.
type Decision struct {
	Client  ClientID // who decides: in the files that it holds unsaved, about these
	Accept  bool
	Hunks   []string
	Path    string
	TurnID  string
	All     bool
	Rev     *uint64    // refuse with KindConflict unless the diff has this revision; goes with Path or with Hunks of one file
	Lines   *LineRange // with a single hunk: only these of its changed lines
	Comment string     // for the agent's next prompt
	Both    bool       // of an accept of conflicts: the person's lines stay in front of the agent's
	AsEdits bool       // what Client has open is changed by edits, also if it is saved
}

// A LineRange counts a hunk's changed lines from 0, the end exclusive.
type LineRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// A Decided is the answer to a decision: the present diffs of the files it touched.
type Decided struct {
	Diffs    []*sessions.Diff `json:"diffs"`
	Applied  int              `json:"applied"`
	Skipped  []Skipped        `json:"skipped,omitempty"`
	Edits    []DocumentEdits  `json:"edits,omitempty"`
	Decision uint64           `json:"decision,omitempty"` // its number in the workspace, by which Undo can be sure
}

// A Skipped hunk was left as it is, for the reason Kind.
type Skipped struct {
	Path string    `json:"path"`
	Hunk string    `json:"hunk"`
	Kind ErrorKind `json:"kind"`

	Message string `json:"message,omitempty"` // what is wrong and what to do, where the kind does not say it
}

// DocumentEdits are changes to a document that the client holds unsaved, or is to hold so, for the version they name.
type DocumentEdits struct {
	Path    string     `json:"path"`
	Version int        `json:"version"`
	Edits   []TextEdit `json:"edits"`
}

// A TextEdit is LSP's.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// A WorkspaceInfo is one entry of workspace/list.
type WorkspaceInfo struct {
	Workspace    string `json:"workspace"`
	Seq          uint64 `json:"seq"`
	Sessions     int    `json:"sessions"`
	Running      int    `json:"running"`
	PendingHunks int    `json:"pendingHunks"`
	Trusted      bool   `json:"trusted"`

	Copies []CopyInfo `json:"copies,omitempty"` // of its isolated sessions
}

// A CopyInfo is the copy of a workspace in which a session's agent works.
type CopyInfo struct {
	SessionID string        `json:"sessionId"`
	Path      string        `json:"path"`
	Bytes     int64         `json:"bytes"` // in files, whether or not blocks of them are shared
	UsedAt    sessions.Time `json:"usedAt"`
}

// A Transcript is a page of a session, newest page first, in order inside the page.
type Transcript struct {
	Session *sessions.Session `json:"session"`
	Turns   []*sessions.Turn  `json:"turns"`
	Items   []*sessions.Item  `json:"items"`
	More    bool              `json:"more"`
}

// A Model is one that the agent offers.
type Model struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Current bool   `json:"current"`
}

// A Chat is one that cursor-agent keeps of a workspace.
type Chat struct {
	ID        string        `json:"id"`
	Title     string        `json:"title"`
	UpdatedAt sessions.Time `json:"updatedAt"`
	Sessions  []string      `json:"sessions,omitempty"` // that go on with it
}

// A Collected is the answer to daemon/gc.
type Collected struct {
	Sessions     []CollectedSession `json:"sessions"` // that were deleted, or would be
	Kept         int                `json:"kept"`     // that would have been, but are busy or under review
	BytesBefore  int64              `json:"bytesBefore"`
	BytesAfter   int64              `json:"bytesAfter"`
	NotCompacted string             `json:"notCompacted,omitempty"` // why
}

// A Reloaded is the answer to daemon/reload.
type Reloaded struct {
	Path     string   `json:"path"`              // of the configuration file
	Warnings []string `json:"warnings"`          // such as unknown keys
	AtStart  []string `json:"atStart,omitempty"` // keys whose new values hold from the daemon's next start on
}

// A CollectedSession is one that the configuration does not keep, because of its age, the count or the size.
type CollectedSession struct {
	ID        string        `json:"id"`
	Workspace string        `json:"workspace"`
	Title     string        `json:"title"`
	UpdatedAt sessions.Time `json:"updatedAt"`
	Reason    string        `json:"reason"`
}

// A SessionExport is a part of a whole session, nothing cut.
type SessionExport struct {
	Session    *sessions.Session `json:"session,omitempty"` // in the first part
	Parts      []ExportPart      `json:"parts"`
	NextCursor string            `json:"nextCursor,omitempty"`
}

// An ExportPart is a turn or an item.
type ExportPart struct {
	Turn *sessions.Turn `json:"turn,omitempty"`
	Item *sessions.Item `json:"item,omitempty"`
}

// A Joined is the answer to daemon/join.
type Joined struct {
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	Replaced string `json:"replaced"`           // no; now: this connection ends; later: once no turn runs or waits
	AgentEnv string `json:"agentEnv,omitempty"` // client: the client must send its environment by agent/environment
	Agent    string `json:"agent,omitempty"`    // the program that is taken for cursor-agent, absolute; "" where there is none
}

// LevelName returns a level as log/message names it.
func LevelName(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "error"
	case level >= slog.LevelWarn:
		return "warning"
	case level >= slog.LevelInfo:
		return "info"
	}
	return "debug"
}

// A PlacedDocument says where the text of a document, as a client has it, has the hunks of a file.
type PlacedDocument struct {
	Path    string       `json:"path"` // relative to the workspace
	Version int          `json:"version"`
	Hunks   []PlacedHunk `json:"hunks"` // those of text
}

// A PlacedHunk is where a text has a hunk: lines, that end in LF, counted from 0, To exclusive.
type PlacedHunk struct {
	ID   string `json:"id"`
	From int    `json:"from"`
	To   int    `json:"to"`
	Side Side   `json:"side"`
}

// A Side says which lines of a hunk a text has.
type Side string

// The sides.
const (
	OldSide   Side = "old"     // the text is as it was before the change
	NewSide   Side = "new"     // the text has the change
	OtherSide Side = "neither" // somebody has made something else of it
)

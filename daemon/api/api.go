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
	Approvals string // "ask" or "deny": what the agent asks; "": "ask"
	Permits   Permits
	Isolation string            // of the session that the turn makes, else the session's own; "": as that is, or the settings say
	Driver    string            // likewise
	Env       []string          // the client's whole environment, for the agent; nil: the client gave none. It is never stored or logged
	Recap     bool              // begin a fresh chat, with the session's transcript as context
	Caller    *Caller           // nil: a person's process
	Attempt   *sessions.Attempt // what the session that the turn makes is; nil: no attempt
	Rewind    string            // the turn of the session that this one takes the place of, with all later ones; "": of none
	Client    ClientID          // who asks for that
	TookBack  func(Rewound)     // with Rewind: called before the answer, if the turn has begun
}

// What a process of an agent gets instead of an answer to what only a person may ask.
const (
	AgentsMessage = "an agent started this process, and agents must not decide about their own work"
	AgentsHint    = "do it in a terminal or an editor that no agent has started"
)

// A Caller is a process of an agent that asks the daemon for something, or may be one.
type Caller struct {
	PID     int
	Owner   string // the id in its mark, of its turn or session; "": unknown
	Unknown bool   // it cannot be found out any more who has started it: it counts as an agent's while agents run
}

// ForkParams are the parameters of session/fork.
type ForkParams struct {
	SessionID string
	TurnID    string  // the last turn that the fork has; "": the last that has ended
	Title     *string // nil: made from that of the session
	Isolation string  // "": that of the session
}

// Permits are permissions of an agent beyond those of mode and force. A nil member takes the session's value, else the
// configuration's, else the agent's own setting.
type Permits struct {
	Sandbox    *string   // "enabled" or "disabled"; of a session also "default", which is as if it had never named one
	AutoReview *bool     // whether the agent's classifier answers requests for permission in place of a person
	AddDirs    *[]string // folders beside the workspace, absolute or relative to it; for a session, an empty list counts as nil
}

// An Asker is the part of a client's environment that determines where the client would find the agent.
type Asker struct {
	Path  string // its PATH
	Agent string // its CURSORD_AGENT
}

// A ClientID names a client that may hold documents. The ID 0 is for clients that hold none.
type ClientID uint64

// A Context is a part of the prompt beside the user's words; composePrompt puts it in. Kind is file, selection, diagnostics,
// text or image.
type Context struct {
	Kind  string
	Path  string
	Data  []byte // the whole image, if the Context has no path
	Range *Range
	Text  string
	Title string
	Items []Diagnostic
}

// These are LSP's.
type (
	Range      = sessions.Range
	Position   = sessions.Position
	Diagnostic = sessions.Diagnostic
)

// SessionParams are the parameters of session/create and session/update; nil leaves a field as it is.
type SessionParams struct {
	Title          *string
	Model          *string
	Mode           *sessions.Mode
	Permits        Permits
	Isolation      string
	Driver         string // "": the settings'
	AgentSessionID string
}

// A Decision selects hunks and says whether to accept or reject them. Exactly one of Hunks, Path, TurnID and All is set.
type Decision struct {
	Client  ClientID // the client that decides; in files that this client holds unsaved, the decision is about its unsaved text
	Accept  bool
	Hunks   []string
	Path    string
	TurnID  string
	All     bool
	Rev     *uint64    // refuse with KindConflict unless the diff has this revision; allowed with Path, or with Hunks of one file
	Lines   *LineRange // only these changed lines; allowed with a single hunk
	Comment string     // a comment for the agent's next prompt
	Both    bool       // for an accept of hunks where both have changed the same lines: keep the person's, in front of the agent's
	Replace bool       // for an accept of isolated hunks where both have changed the same lines: the person's go
	AsEdits bool       // change documents that Client has open by edits, even if they are saved
	Commit  bool       // a person's commit makes this decision; no client can ask for that
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
	Decision uint64           `json:"decision,omitempty"` // the decision's number in the workspace; Undo takes it to undo only this decision
	Step     *Step            `json:"-"`                  // of an undo or redo: the decision
	Patch    string           `json:"-"`                  // of a rewind that is only tried: what it would do
}

// RewindParams are the parameters of session/rewind.
type RewindParams struct {
	Client     ClientID
	SessionID  string
	TurnID     string
	LastTurnID string // "", or else that of the session's last turn, which it must still be
	Files      bool   // take back what the turns did to files
	DryRun     bool
}

// A Rewound is the answer to session/rewind: what Decided says of the files, and what has left the transcript.
type Rewound struct {
	Session  *sessions.Session `json:"session"`
	Turns    []string          `json:"turns"` // the first one first
	Diffs    []*sessions.Diff  `json:"diffs"`
	Applied  int               `json:"applied"`
	Skipped  []Skipped         `json:"skipped,omitempty"`
	Decision uint64            `json:"decision,omitempty"`
	Patch    string            `json:"patch,omitempty"`
}

// A WhyLine says where the lines From to To (exclusive) of a file come from, counted from 0.
type WhyLine struct {
	From   int        `json:"from"`
	To     int        `json:"to"`
	Source *WhySource `json:"source"`           // null: a person, or older than cursord
	Commit string     `json:"commit,omitempty"` // without a source: the commit that brought the lines, by a command of an agent
}

// A WhySource is the edit of an agent that wrote lines.
type WhySource struct {
	SessionID  string         `json:"sessionId"`
	TurnID     string         `json:"turnId"`
	ItemID     string         `json:"itemId,omitempty"`
	Prompt     string         `json:"prompt"` // "" if its session was deleted or its turn taken back
	At         *sessions.Time `json:"at"`     // null if that is not known
	State      WhyState       `json:"state"`
	ByText     bool           `json:"byText,omitempty"`     // only the lines' text tells it: a person has moved or brought them back
	MaybeYours bool           `json:"maybeYours,omitempty"` // no call of the agent explains the edit for certain: the lines may be a person's
	Was        []string       `json:"was,omitempty"`        // if lines were asked for: what the edit has removed in their place
	WasMore    int            `json:"wasMore,omitempty"`
}

// A CommitWhy says where the lines come from that a commit adds.
type CommitWhy struct {
	Commit   string       `json:"commit"` // its id; "" for what the index holds
	Files    []CommitFile `json:"files"`
	Trailers []string     `json:"trailers"` // for its message, the model with the most lines first
}

// A CommitFile is a file that a commit adds lines to.
type CommitFile struct {
	Path      string    `json:"path"`
	Lines     []WhyLine `json:"lines"` // of the file in the commit, those that it adds
	Forgotten bool      `json:"forgotten,omitempty"`
}

// A WhyState says whether lines of an agent are decided.
type WhyState string

const (
	WhyPending  WhyState = "pending"
	WhyAccepted WhyState = "accepted"
)

// TrustResult is the result of workspace/trust: whether agents may run in a workspace.
type TrustResult struct {
	Workspace string   `json:"workspace"` // its resolved path
	Trusted   bool     `json:"trusted"`
	Unused    []string `json:"unused,omitempty"` // for people: settings of its repositories that are not used, at most 100
}

// A Step is the decision that an undo has taken back, or that a redo has made again.
type Step struct {
	Decision uint64   `json:"decision"` // its number in the workspace
	Kind     StepKind `json:"kind"`
	Hunks    int      `json:"hunks"` // hunks that the step has changed

	Paths []string `json:"paths,omitempty"` // in a dry run of an undo: the files of the work tree that it may write, relative to the workspace
}

// A StepKind says how a decision was made.
type StepKind string

const (
	StepAccept StepKind = "accept"
	StepReject StepKind = "reject" // by a client, or by a save over the agent's lines
	StepCommit StepKind = "commit" // an accept that a person's commit made
	StepRewind StepKind = "rewind" // the files' part of a rewind
)

// A Skipped hunk was not decided; Kind is the reason.
type Skipped struct {
	Path string    `json:"path"`
	Hunk string    `json:"hunk,omitempty"` // "" for a file that a rewind leaves
	Kind ErrorKind `json:"kind"`

	Message string `json:"message,omitempty"` // the reason and what to do, if the kind does not say it
}

// DocumentEdits are changes of one version of a document. The client makes them, and then holds the document unsaved.
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

	Copies []CopyInfo `json:"copies,omitempty"` // copies of its isolated sessions
}

// A CopyInfo is the copy of a workspace in which a session's agent works.
type CopyInfo struct {
	SessionID string        `json:"sessionId"`
	Path      string        `json:"path"`
	Bytes     int64         `json:"bytes"` // the sum of the files' sizes; blocks that files share count for each of them
	UsedAt    sessions.Time `json:"usedAt"`
	Kind      string        `json:"kind"`             // overlay, or copy
	Reason    string        `json:"reason,omitempty"` // why it is a copy and no overlay; for people
}

// A Transcript is a page of a session, newest page first, in order inside the page.
type Transcript struct {
	Session *sessions.Session `json:"session"`
	Turns   []*sessions.Turn  `json:"turns"`
	Items   []*sessions.Item  `json:"items"`
	More    bool              `json:"more"`
}

// A Model is one of the models that the agent offers.
type Model struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Current bool   `json:"current"`
}

// A Chat is a conversation that cursor-agent keeps for a workspace.
type Chat struct {
	ID        string        `json:"id"`
	Title     string        `json:"title"`
	UpdatedAt sessions.Time `json:"updatedAt"`
	Sessions  []string      `json:"sessions,omitempty"` // sessions that continue the chat
}

// A Collected is the answer to daemon/gc.
type Collected struct {
	Sessions     []CollectedSession `json:"sessions"`            // deleted sessions; in a dry run, the sessions to delete
	Kept         int                `json:"kept"`                // number of sessions above the limits that are kept because they are busy or under review
	Forgotten    []string           `json:"forgotten,omitempty"` // workspaces whose folders are gone, and that have no sessions and nothing to review
	BytesBefore  int64              `json:"bytesBefore"`
	BytesAfter   int64              `json:"bytesAfter"`
	NotCompacted string             `json:"notCompacted,omitempty"` // why the database was not compacted
}

// A Reloaded is the answer to daemon/reload.
type Reloaded struct {
	Path     string   `json:"path"`              // path of the configuration file
	Warnings []string `json:"warnings"`          // for example about unknown keys
	AtStart  []string `json:"atStart,omitempty"` // keys whose new values take effect at the daemon's next start
}

// A CollectedSession is a session that the configuration no longer keeps, because of its age, the count or the size.
type CollectedSession struct {
	ID        string        `json:"id"`
	Workspace string        `json:"workspace"`
	Title     string        `json:"title"`
	UpdatedAt sessions.Time `json:"updatedAt"`
	Reason    string        `json:"reason"`
}

// A Joined is the answer to daemon/join.
type Joined struct {
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	Replaced string `json:"replaced"`           // no; now: the daemon ends this connection; later: the daemon is replaced when no turn runs or waits
	AgentEnv string `json:"agentEnv,omitempty"` // client: the client must send its environment by agent/environment
	Agent    string `json:"agent,omitempty"`    // the program that is taken for cursor-agent, absolute; "" where there is none
}

// LevelName returns the name of a level in log/message.
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

// A PlacedDocument has the places of a file's hunks in a client's text of the document.
type PlacedDocument struct {
	Path    string       `json:"path"` // relative to the workspace
	Version int          `json:"version"`
	Hunks   []PlacedHunk `json:"hunks"` // only hunks of text
}

// A PlacedHunk is the place of a hunk in a text: lines that end in LF, counted from 0; To is exclusive.
type PlacedHunk struct {
	ID   string `json:"id"`
	From int    `json:"from"`
	To   int    `json:"to"`
	Side Side   `json:"side"`
}

// A Side is the version of a hunk's lines that a text has.
type Side string

// The sides.
const (
	OldSide   Side = "old"     // the text has the lines from before the change
	NewSide   Side = "new"     // the text has the changed lines
	OtherSide Side = "neither" // the text has other lines there
)

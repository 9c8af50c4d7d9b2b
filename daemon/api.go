package daemon

import (
	"fmt"
	"iter"
	"sync"
	"unicode/utf8"

	"cursord/sessions"
)

// An ErrorKind is a failure's name for programs; PROTOCOL.md §7 lists them with their codes.
type ErrorKind string

const (
	KindInvalid            ErrorKind = "invalid" // a parameter is wrong; Field names it
	KindCancelled          ErrorKind = "cancelled"
	KindNotFound           ErrorKind = "notFound"
	KindBusy               ErrorKind = "busy"
	KindConflict           ErrorKind = "conflict" // Diff is the present one
	KindOutsideWorkspace   ErrorKind = "outsideWorkspace"
	KindWorkspaceUntrusted ErrorKind = "workspaceUntrusted"
	KindBaselineUnknown    ErrorKind = "baselineUnknown"
	KindAgentNotInstalled  ErrorKind = "agentNotInstalled"
	KindAgentNotLoggedIn   ErrorKind = "agentNotLoggedIn"
	KindAgentFailed        ErrorKind = "agentFailed"
	KindStorage            ErrorKind = "storage"
	KindTooLarge           ErrorKind = "tooLarge"
	KindUnavailable        ErrorKind = "unavailable" // the daemon ends, or cannot be reached; nothing has happened
	KindInternal           ErrorKind = "internal"
	KindMaybeYours         ErrorKind = "maybeYours" // only of a Skipped hunk: no call of the agent explains it
)

// An Error is the answer to a request that could not be served.
type Error struct {
	Kind    ErrorKind
	Message string         // for people: what is wrong
	Hint    string         // what to do next
	Field   string         // the parameter, where one is wrong
	Path    string         // for KindWorkspaceUntrusted: the folder that is to be trusted
	Diff    *sessions.Diff // for KindConflict: the present state, if there is one
}

func (e *Error) Error() string { return e.Message }

func errorf(kind ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

func invalid(field, format string, args ...any) *Error {
	return &Error{Kind: KindInvalid, Field: field, Message: field + ": " + fmt.Sprintf(format, args...)}
}

// A Notification is one thing that a subscriber is told: the new state of an object, or, where Delta is set, text
// to append. It is shared by all subscribers and must not be changed.
type Notification struct {
	Workspace string
	Kind      sessions.Kind // of the object; sessions.KindItem for a delta
	ID        string        // the object's id; a diff's is its path
	Seq       uint64        // 0 for a delta
	JSON      []byte        // the object's encoding; nil when Removed and for a delta
	Removed   bool          // the object, always a session, was deleted
	Delta     *Delta

	only    ClientID // if not 0, nothing has happened for others
	again   bool     // the same item under another seq: for those who do not know it
	textLen int      // of a growing item in a catch-up: the bytes of text that JSON has
	told    func()   // called by the loop once the subscribers have it, before the next one; may be nil

	once  sync.Once
	frame []byte
}

// MaxDelta is the most text in a Delta, in bytes.
const MaxDelta = 256 << 10

// DeltaParts yields what text has from an offset on, in parts of at most MaxDelta that end between characters, each with
// its offset.
func DeltaParts[T string | []byte](text T, from int) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for from < len(text) {
			end := min(from+MaxDelta, len(text))
			for end < len(text) && !utf8.RuneStart(text[end]) {
				end--
			}
			if !yield(from, text[from:end]) {
				return
			}
			from = end
		}
	}
}

// A Delta is text to append to an item.
type Delta struct {
	SessionID, TurnID, ItemID string
	Kind                      sessions.ItemKind
	Offset                    int // bytes of UTF-8 that the item's text has before Text
	Text                      string
}

// Encoded returns encode(n), called once for all subscribers of n; there is one wire encoding.
func (n *Notification) Encoded(encode func(*Notification) []byte) []byte {
	n.once.Do(func() { n.frame = encode(n) })
	return n.frame
}

// A Sink takes the notifications of one subscription, in order, from the workspace's loop: it must not block.
// It returns false when it is full; n is then not taken, and the subscription is behind until Resume.
type Sink func(n *Notification) bool

// SubscribeOptions are the parameters of workspace/subscribe.
type SubscribeOptions struct {
	After           *uint64  // nil: a bounded snapshot of the present
	Epoch           string   // the store that After is from, if the client knows
	DeltaIntervalMS int      // merge deltas to at most one an interval and item; 0: at once
	DiffSummaries   bool     // leave hunks out of diffs
	Client          ClientID // sees the files that it holds unsaved as they are there
}

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
	Asker     Asker    // what the client tells of its environment
	Env       []string // its whole environment, for the agent; nil: it has not told it. Never stored, never logged
	Recap     bool     // begin a fresh chat with the session's transcript as context
}

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

// DocumentEdits are changes to a document that the client holds unsaved, for the version they name.
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
	AgentEnv string `json:"agentEnv,omitempty"` // client: the client is to tell its environment, by agent/environment
	Agent    string `json:"agent,omitempty"`    // the program that is taken for cursor-agent, absolute; "" where there is none
}

package sessions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The objects below have the field names of rpc/PROTOCOL.md: an object is stored in the form in which it is sent, so that a
// catch-up only copies bytes. A zero Seq means that the object is not stored yet.

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

// A TurnStatus is queued, running or one of the four final ones.
type TurnStatus string

const (
	TurnQueued      TurnStatus = "queued"
	TurnRunning     TurnStatus = "running"
	TurnCompleted   TurnStatus = "completed"
	TurnFailed      TurnStatus = "failed"
	TurnCancelled   TurnStatus = "cancelled"
	TurnInterrupted TurnStatus = "interrupted"
)

// Final reports whether a turn with this status has ended.
func (s TurnStatus) Final() bool { return s != TurnQueued && s != TurnRunning }

// A Turn is one prompt and everything that the agent did about it.
type Turn struct {
	ID         string     `json:"id"`
	SessionID  string     `json:"sessionId"`
	Workspace  string     `json:"workspace"`
	Prompt     string     `json:"prompt"`
	Model      *string    `json:"model"`
	Mode       Mode       `json:"mode"`
	Driver     string     `json:"driver,omitempty"` // the session's
	Force      bool       `json:"force"`
	Check      bool       `json:"check,omitempty"`      // no agent: the prompt is a command line, which the daemon runs in the session's copy
	Sandbox    string     `json:"sandbox,omitempty"`    // "enabled" or "disabled"; "": the agent's own settings decide
	AutoReview bool       `json:"autoReview,omitempty"` // a classifier of the agent decides what a person would be asked
	AddDirs    []string   `json:"addDirs,omitempty"`    // folders beside the workspace; absolute, without symlinks
	Images     []string   `json:"images,omitempty"`     // absolute paths of the images that went with the prompt
	Context    []Sent     `json:"context,omitempty"`    // what else went with it
	Status     TurnStatus `json:"status"`
	Result     *string    `json:"result"`
	Error      *TurnError `json:"error"`
	Usage      *Usage     `json:"usage"`
	StopReason StopReason `json:"stopReason,omitempty"` // of a turn whose agent stopped before it was done
	RequestID  string     `json:"requestId,omitempty"`
	// AgentVersion is the build of the agent that ran, in the agent's words; "" before it ran, or if it does not say.
	AgentVersion string `json:"agentVersion,omitempty"`
	CreatedAt    Time   `json:"createdAt"`
	StartedAt    *Time  `json:"startedAt,omitempty"`
	EndedAt      *Time  `json:"endedAt,omitempty"`
	// Approvals is "deny" if what the agent asks is denied at once; "": people are asked.
	Approvals string `json:"approvals,omitempty"`
	// Waiting says that one of the turn's approvals is pending.
	Waiting bool `json:"waiting,omitempty"`
	// Background lists the background commands that the agent of a running turn still waits for after it has finished
	// speaking. It is empty while the agent works, and after the turn.
	Background []string `json:"background,omitempty"`
	Seq        uint64   `json:"seq"`
}

// A StopReason is why an agent stopped before it was done.
type StopReason string

const (
	StopMaxTokens   StopReason = "maxTokens"       // the model's answer reached its limit; the turn is completed
	StopMaxRequests StopReason = "maxTurnRequests" // the turn's requests to the model reached their limit; it is completed
	StopRefusal     StopReason = "refusal"         // the model refused to go on; the turn has failed
)

// Asked returns the prompt for people, with a line for each image that went with it.
func (t *Turn) Asked() string {
	text := t.Prompt
	for i, path := range t.Images {
		if i == 0 {
			text = strings.TrimRight(text, "\n") + "\n"
		}
		text += "\n[image: " + path + "]"
	}
	return text
}

// A TurnError says why a turn failed; Kind is for programs, Message for people.
type TurnError struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// Usage counts a turn's tokens.
type Usage struct {
	InputTokens      int64 `json:"inputTokens"`
	OutputTokens     int64 `json:"outputTokens"`
	CacheReadTokens  int64 `json:"cacheReadTokens"`
	CacheWriteTokens int64 `json:"cacheWriteTokens"`
}

// An ItemKind is what an item holds.
type ItemKind string

const (
	ItemAssistant ItemKind = "assistant"
	ItemThinking  ItemKind = "thinking"
	ItemTool      ItemKind = "tool"
	ItemPlan      ItemKind = "plan"
	ItemNotice    ItemKind = "notice"
)

// An ItemStatus is running or how the item ended.
type ItemStatus string

const (
	ItemRunning   ItemStatus = "running"
	ItemCompleted ItemStatus = "completed"
	ItemFailed    ItemStatus = "failed"
	ItemRejected  ItemStatus = "rejected"
	ItemCancelled ItemStatus = "cancelled"
)

// An Item is one piece of a turn: text, reasoning, a tool call, a plan or a notice. Its ID is made of its turn's ID and its
// index (ItemID).
type Item struct {
	ID        string     `json:"id"`
	TurnID    string     `json:"turnId"`
	SessionID string     `json:"sessionId"`
	Workspace string     `json:"workspace"`
	Index     int        `json:"index"`
	Kind      ItemKind   `json:"kind"`
	Status    ItemStatus `json:"status"`
	Text      string     `json:"text,omitempty"`
	Reason    string     `json:"reason,omitempty"` // of a notice that clients may act on: ReasonChatLost
	Tool      *Tool      `json:"tool,omitempty"`
	// Changes is what a call has changed in files, in the order in which it did; it comes when the call has ended.
	Changes     []Change `json:"changes,omitempty"`
	MoreChanges int      `json:"moreChanges,omitempty"` // how many changes are not in Changes, because there were too many
	StartedAt   Time     `json:"startedAt"`
	EndedAt     *Time    `json:"endedAt,omitempty"`
	Seq         uint64   `json:"seq"`
}

// A Tool is a tool call as clients see it; rpc/PROTOCOL.md says what is cut.
type Tool struct {
	CallID          string          `json:"callId"`
	Name            string          `json:"name"`
	RawName         string          `json:"rawName"`
	Title           string          `json:"title"`
	Paths           []string        `json:"paths"`
	Command         string          `json:"command,omitempty"`
	ExitCode        *int            `json:"exitCode,omitempty"`
	Output          string          `json:"output,omitempty"`
	OutputTruncated bool            `json:"outputTruncated,omitempty"`
	Error           string          `json:"error,omitempty"`
	Todos           []Todo          `json:"todos,omitempty"`
	Args            json.RawMessage `json:"args,omitempty"`
	Result          json.RawMessage `json:"result,omitempty"`
}

// A Todo is one entry of the agent's own list.
type Todo struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

// A DiffKind is the strongest thing that happened to a file; rpc/PROTOCOL.md orders them.
type DiffKind string

const (
	DiffModified DiffKind = "modified"
	DiffCreated  DiffKind = "created"
	DiffDeleted  DiffKind = "deleted"
	DiffRenamed  DiffKind = "renamed"
	DiffMode     DiffKind = "mode"
	DiffSymlink  DiffKind = "symlink"
	DiffBinary   DiffKind = "binary"
	DiffLarge    DiffKind = "large"
)

// A Diff is what is left to review in one file. There is one per path and workspace.
type Diff struct {
	Workspace string   `json:"workspace"`
	Path      string   `json:"path"`
	URI       string   `json:"uri"`
	OldPath   string   `json:"oldPath,omitempty"`
	Kind      DiffKind `json:"kind"`
	OldMode   string   `json:"oldMode,omitempty"`
	NewMode   string   `json:"newMode,omitempty"`
	OldTarget string   `json:"oldTarget,omitempty"`
	NewTarget string   `json:"newTarget,omitempty"`
	State     string   `json:"state"`    // "pending" or "clean"
	Baseline  string   `json:"baseline"` // "known" or "unknown"
	Added     int      `json:"added"`
	Removed   int      `json:"removed"`
	Rev       uint64   `json:"rev"`
	Hunks     []Hunk   `json:"hunks"`
	Turns     []string `json:"turns"`
	// For a client's unsaved text: how many lines the agent has changed on disk that the text does not have.
	DiskOnly int `json:"diskOnly,omitempty"`
	// For the same text: how many changes on disk diff/merge would bring into it.
	Mergeable int `json:"mergeable,omitempty"`
	// For the same text: how many changes on disk, not an agent's, are of lines that it changes too.
	Overlaps int    `json:"overlaps,omitempty"`
	Seq      uint64 `json:"seq"`
}

// A Hunk is a part of a diff that a person decides at once.
type Hunk struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`            // "text" or "file"
	State    string   `json:"state,omitempty"` // "conflict": a person has changed the same lines, and not saved them
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
	OldNoEOL bool     `json:"oldNoEol,omitempty"`
	NewNoEOL bool     `json:"newNoEol,omitempty"`
	Linked   []string `json:"linked,omitempty"`
	Isolated bool     `json:"isolated,omitempty"` // it is in its session's copy, and not in the file
	Beside   []int    `json:"beside,omitempty"`   // if it is isolated: of Lines, those beside the changed ones that a person has typed
	Sources  []Source `json:"sources"`
}

// MaybeYours returns the ids of the hunks that may be a person's: those with an unknown source, and those that are decided
// together with one. A reject takes them only by their ids.
func (d *Diff) MaybeYours() map[string]bool {
	ids := map[string]bool{}
	for i := range d.Hunks {
		if h := &d.Hunks[i]; h.MaybeYours() {
			ids[h.ID] = true
			for _, linked := range h.Linked {
				ids[linked] = true
			}
		}
	}
	return ids
}

// InConflict reports whether a person has changed the same lines in an unsaved text: the hunk is only on disk.
func (h *Hunk) InConflict() bool { return h.State == "conflict" }

// Elsewhere reports whether the text that the client has shows the hunk's old side.
func (h *Hunk) Elsewhere() bool { return h.Isolated || h.InConflict() }

// MaybeYours reports whether no call of the agent explains some part of the hunk.
func (h *Hunk) MaybeYours() bool {
	return slices.ContainsFunc(h.Sources, func(s Source) bool { return s.Via == ViaUnknown })
}

// MadeBy says for people how the agent made the hunk, by the calls that explain it: "edit", or "edit and command".
func (h *Hunk) MadeBy() string {
	var words []string
	for _, s := range h.Sources {
		word := string(s.Via)
		if s.Via == ViaShell {
			word = "command"
		}
		if s.Via != ViaUnknown && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " and ")
}

// A Source says who made a hunk.
type Source struct {
	SessionID string `json:"sessionId"`
	TurnID    string `json:"turnId"`
	ItemID    string `json:"itemId,omitempty"`
	Via       Via    `json:"via"`
}

// A Via is the way in which the agent made a hunk. A hunk with an unknown source may be a person's: no call of the
// agent explains it.
type Via string

const (
	ViaEdit    Via = "edit"
	ViaShell   Via = "shell"
	ViaTool    Via = "tool" // an MCP server, a sub-agent or a tool of another kind
	ViaHook    Via = "hook" // a formatter that the agent's hooks ran on lines which the turn wrote
	ViaUnknown Via = "unknown"
)

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

package agent

import (
	"encoding/json"
	"time"
)

// An Event is one thing the agent said, freed of dialect and repetition. The set is closed.
type Event interface{ isEvent() }

// Init opens a run. SessionID is the id that --resume takes.
type Init struct {
	SessionID string
	Dir       string // the agent's working directory as it reports it; relative paths of calls are relative to it
	Model     string // a display name, not an id
}

// Text is assistant text to append. The concatenation of a run's Text events (less what a Withdraw
// took back) is what the agent said, once. Reasoning and tool calls split it into items, as TextEnd does.
type Text struct{ Text string }

// TextEnd says that the agent consolidated the text since the last boundary: the next Text is another item.
type TextEnd struct{}

// Withdraw takes back all Text since the last tool call (its ToolStart, or its ToolEnd where it had none) or TextEnd,
// across reasoning: the agent retries without resuming and will say it again.
type Withdraw struct{}

// Thinking is reasoning text to append.
type Thinking struct{ Text string }

// ThinkingEnd closes a block of reasoning.
type ThinkingEnd struct{}

// ToolStart announces a tool call; its Call has no outcome yet.
type ToolStart struct {
	Call Call
	Said time.Time // by the agent's clock; zero where the stream does not say
}

// ToolEnd gives a call's outcome. It may come without a ToolStart and in any order; Call then holds all
// that is known, and else the start's fields merged with the end's. Call.ID equals that of its ToolStart.
type ToolEnd struct {
	Call  Call
	State CallState
	Said  time.Time // as in ToolStart
}

// Result is the agent's own last word, the boundary of a run.
type Result struct {
	OK        bool
	Text      *string // the result text when the line had one and OK
	Error     string  // when not OK
	SessionID string
	RequestID string
	Usage     *Usage
}

// Failure is an error that the agent reported in its stream or as a bare line. It does not end the run.
type Failure struct{ Message string }

// Notice is something a person should know and the agent does not, such as a line skipped for its length.
type Notice struct{ Text string }

// Waiting says that the agent has said all and waits for commands in the background alone, in the order in which they began,
// or with none that it does not, or not any more. What it says next takes that back before a run is over.
type Waiting struct{ Commands []string }

// BackgroundEnded says that what calls have left running in the background has ended, as the agent tells it. Calls are their ids.
type BackgroundEnded struct{ Calls []string }

// Unknown is a well-formed event of a type or subtype that the decoder has no meaning for; it is kept raw.
type Unknown struct {
	Type string // "type" or "type/subtype"
	Raw  json.RawMessage
}

// Unreadable is a line that is not a JSON object, or the rest of one; the decoder has gone on after it. Line holds at
// most its first 4 KiB.
type Unreadable struct{ Line string }

func (Init) isEvent()            {}
func (Text) isEvent()            {}
func (TextEnd) isEvent()         {}
func (Withdraw) isEvent()        {}
func (Thinking) isEvent()        {}
func (ThinkingEnd) isEvent()     {}
func (ToolStart) isEvent()       {}
func (ToolEnd) isEvent()         {}
func (Result) isEvent()          {}
func (Failure) isEvent()         {}
func (Notice) isEvent()          {}
func (Waiting) isEvent()         {}
func (BackgroundEnded) isEvent() {}
func (Unknown) isEvent()         {}
func (Unreadable) isEvent()      {}

// Usage counts the tokens of one run, summed over its model calls.
type Usage struct{ Input, Output, CacheRead, CacheWrite int64 }

// A CallState is how a tool call ended.
type CallState string

const (
	CallCompleted CallState = "completed"
	CallFailed    CallState = "failed"   // an error, or an exit code other than 0
	CallRejected  CallState = "rejected" // refused by a permission, a policy, a hook or a mode
)

// A Call is a tool call in cursord's terms.
type Call struct {
	ID      string // exact, a newline included; made up where the stream names none
	Name    string // one of ToolNames; "other" for a tool that is not in the table
	RawName string // the agent's name: "edit", "webSearch", "Shell", …; "unknown" where the stream names none
	Title   string // one short line for people
	Paths   []string
	Command string
	Plan    string // the markdown of a createPlan call
	Args    json.RawMessage

	Result   json.RawMessage
	ExitCode *int
	Output   string // whole; who shows it cuts it
	Error    string
	Todos    []Todo
	Changes  []FileChange
	Denials  []Denial // the call itself, if it was rejected, and those of its sub-agents that were
	// Background says that the command, or the sub-agent, goes on after the call's end.
	Background bool
}

// A Todo is one entry of the agent's list. Status is pending, in_progress, completed or cancelled.
type Todo struct{ ID, Content, Status string }

// A FileChange is a file that a call says it wrote or deleted, nested calls of sub-agents included.
// Before and After are nil where the stream does not say; they may be decoded, cut or wrong: compare with the disk.
type FileChange struct {
	Path          string
	Deleted       bool
	Before, After *string
}

package agent

import (
	"encoding/json"
	"time"
)

// An Event is one thing that the agent said, the same for all dialects and without repetitions. The set is closed.
type Event interface{ isEvent() }

// Init opens a run. SessionID is the id that --resume takes.
type Init struct {
	SessionID string
	Dir       string // the agent's working directory as it reports it; relative paths of calls are relative to it
	Model     string // a display name, not an id
}

// Text is assistant text to append. All Text events of a run, without those that a Withdraw took back, are what the agent
// said, once. Reasoning, tool calls and TextEnd split it into items.
type Text struct{ Text string }

// TextEnd says that the agent has repeated the text since the last boundary as one message: the next Text belongs to another
// item.
type TextEnd struct{}

// Withdraw takes back all Text since the last tool call or TextEnd, also across reasoning: the agent tries again without
// resuming and will repeat it. The boundary of a tool call is its ToolStart, or its ToolEnd if there was no ToolStart.
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

// ToolEnd gives a call's outcome. It may come without a ToolStart, and ToolEnds come in any order. Call holds the start's
// fields merged with the end's. Its ID equals that of its ToolStart.
type ToolEnd struct {
	Call  Call
	State CallState
	Said  time.Time // as in ToolStart
	Guess bool      // the agent has not reported this end; the call failed only because its files seem not to have changed

	// Of a call that was refused and may have run all the same: when the agent asked for it, and when it was told no, or when the call was over if
	// nothing says that it ran in between. What has changed between the two may as well be a person's. Else both are zero.
	Asked, Refused time.Time
}

// Result is the agent's own end of a run.
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

// Notice is something that a person should know and that the agent does not say, such as a line that was skipped for its
// length.
type Notice struct{ Text string }

// Waiting says that the agent has finished speaking and waits only for the commands, in the order in which they began. With
// no commands it says that the agent does not wait, or no longer does. Any text that follows also takes it back.
type Waiting struct{ Commands []string }

// BackgroundEnded says that the agent reports the end of what these calls (by id) had left running in the background.
type BackgroundEnded struct{ Calls []string }

// Unknown is a well-formed event of a type or subtype that the decoder does not know. It is kept as it came.
type Unknown struct {
	Type string // "type" or "type/subtype"
	Raw  json.RawMessage
}

// Unreadable is a line that is not a JSON object, or the rest of such a line. The decoder goes on with the next one. Line
// holds at most its first 4 KiB.
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

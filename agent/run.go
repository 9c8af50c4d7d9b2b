package agent

import (
	"context"
	"time"
)

// A Request describes one run of the agent.
type Request struct {
	Bin    string // the executable
	Dir    string // the workspace: --workspace and the working directory
	Prompt string // goes to stdin, then EOF
	Model  string // "" means "auto": the flag is always given, because the agent otherwise takes the last one used
	Mode   string // "agent", "ask" or "plan"
	Force  bool
	Resume string   // the agent's session id, or ""
	Env    []string // added to the daemon's environment, "K=V"

	IdleTimeout time.Duration // without output and with no tool call open; 0: 10 min
	ToolTimeout time.Duration // without output while a tool call is open; 0: 60 min
	MaxLine     int           // bytes; longer lines are skipped with a Notice; 0: 64 MiB
}

// A Status is how a run ended.
type Status string

const (
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled" // ctx was cancelled before the result
)

// An Outcome is the end of a run.
type Outcome struct {
	Status    Status
	SessionID string // from the result, else init, else Request.Resume
	RequestID string
	Result    *string // the agent's result text if it succeeded and gave one, else all its text joined; nil if it said nothing
	Usage     *Usage
	Failure   *RunError      // for Failed
	Unknown   map[string]int // counts of events that were kept raw, by Unknown.Type
}

// A RunError says why a run failed, in the contract's kinds: agentFailed, agentNotInstalled, agentNotLoggedIn,
// modelUnavailable, usageLimit, workspaceUntrusted, agentCrashed, agentHung, protocol.
type RunError struct {
	Kind    string
	Message string // for people, says what to do next where that is known
	Hint    string
	Detail  string // the tail of stderr and the like
}

// A Launcher starts agents, one at a time: they rewrite their own configuration file at start, and parallel starts
// race. A start holds the gate until its init line or 2 s, whichever is first.
type Launcher struct{ gate chan struct{} }

// NewLauncher returns a Launcher with its gate open.
func NewLauncher() *Launcher { return &Launcher{gate: make(chan struct{}, 1)} }

// Run runs the agent once and returns when it, and every process of its group, has ended. emit is called from one
// goroutine, in order, with what could be decoded without waiting for more input; it may block, which blocks
// the agent. The slice and its events belong to emit. Cancelling ctx sends INT, then TERM after 2 s, then KILL
// after 3 s more, to the group.
func (l *Launcher) Run(ctx context.Context, req Request, emit func([]Event)) Outcome {
	panic("unwritten")
}

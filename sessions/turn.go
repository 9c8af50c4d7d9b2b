package sessions

import "strings"

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

// A Sent is something that went with a prompt beside its images, as a client gave it: a client that sends the prompt anew sends
// it again.
type Sent struct {
	Kind  string       `json:"kind"` // file, selection, diagnostics or text
	Path  string       `json:"path,omitempty"`
	Range *Range       `json:"range,omitempty"`
	Text  *string      `json:"text,omitempty"` // of a selection or a text; nil if it was too long to be kept
	Title string       `json:"title,omitempty"`
	Items []Diagnostic `json:"items,omitempty"`
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

// A Diagnostic is one message about a file, in LSP's terms.
type Diagnostic struct {
	Range    Range  `json:"range"`
	Severity int    `json:"severity,omitempty"` // from 1, error, to 4, hint; absent: 1
	Message  string `json:"message"`
	Source   string `json:"source,omitempty"`
}

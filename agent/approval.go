package agent

import "slices"

// ApprovalRequested says that the agent waits for a person's answer, and goes on with nothing before it has one. The answer goes to
// Control.Answer.
type ApprovalRequested struct {
	ID      string // unique in the run
	CallID  string // the tool call that it is about, or ""
	Kind    ApprovalKind
	Title   string // one short line for people
	Detail  string // what more there is to say, such as a plan's text; or ""
	Command string // whole, for a permission to run one; or ""
	Whole   bool   // Command, in Dir, is all that would be done, as far as the agent says: nothing else is in Detail
	Dir     string // the folder that the command would run in, if that is not the agent's; or ""
	Paths   []string
	Options []ApprovalOption // in the agent's order; none where only free text, or no answer, can be given
	Text    bool             // free text may be given
	Several bool             // the agent takes several of the options: a text names them, as plaintext.Chosen reads it
	Call    *Call            // of a permission, the call that is to begin; nil if it has begun, or nothing is known of it
}

// ApprovalWithdrawn says that the agent no longer waits for the answer. The end of a run withdraws without an event.
type ApprovalWithdrawn struct{ ID string }

func (ApprovalRequested) isEvent() {}
func (ApprovalWithdrawn) isEvent() {}

// An ApprovalKind is what an agent asks for.
type ApprovalKind string

const (
	ApprovalPermission ApprovalKind = "permission" // to do something
	ApprovalQuestion   ApprovalKind = "question"   // about the task
	ApprovalPlan       ApprovalKind = "plan"       // to carry out a plan
)

// An OptionKind is what choosing an option means.
type OptionKind string

const (
	AllowOnce    OptionKind = "allowOnce"
	AllowAlways  OptionKind = "allowAlways"
	RejectOnce   OptionKind = "rejectOnce"
	RejectAlways OptionKind = "rejectAlways"
	Answer       OptionKind = "answer" // to a question
)

// An ApprovalOption is one of the answers that the agent offers. What cursord does not understand of an agent's option is never
// of a kind that allows.
type ApprovalOption struct {
	ID    string // unique in its request
	Label string
	Kind  OptionKind
}

// An ApprovalAnswer is a person's answer: one of the options, or free text where it may be given, or both. With Cancelled nobody answers,
// which the agent takes as a no.
type ApprovalAnswer struct {
	OptionID, Text string
	Cancelled      bool
	Unasked        string // of a no that is not a person's: why it is one, in words that end "rejected: …"; else ""
	CarryOut       bool   // of a yes to a plan: once the agent has ended its answer, the run goes on in mode agent, to carry the plan out
}

// Refusal returns the answer that says no to a request for now.
func (r *ApprovalRequested) Refusal() ApprovalAnswer {
	i := slices.IndexFunc(r.Options, func(o ApprovalOption) bool { return o.Kind == RejectOnce })
	if i < 0 {
		return ApprovalAnswer{Cancelled: true}
	}
	return ApprovalAnswer{OptionID: r.Options[i].ID}
}

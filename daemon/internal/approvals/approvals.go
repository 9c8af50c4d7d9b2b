// Package approvals is what agents ask people, pure: which requests a person can be shown, and how an approval goes from pending to
// answered, withdrawn or expired. An approval that is no longer pending never changes. What is not understood is never a yes.
package approvals

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"cursord/agent"
	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/daemon/internal/allow"
	"cursord/sessions"
)

// Limits of what is kept of a request, in bytes unless they count something. A command and an answer are never cut: a person must see
// what they choose.
const (
	MaxPending = 32 // of one turn
	MaxCommand = 64 << 10
	MaxDetail  = 256 << 10 // with the labels of all options
	MaxTitle   = 1 << 10
	MaxOption  = 256 // an option's id
	MaxOptions = 64
	MaxPaths   = 256
	MaxText    = 64 << 10 // of an answer
)

// FolderOption is the id of the option that the daemon adds to the agent's: allow, and make a rule for the workspace.
const FolderOption = "cursord:folder"

// NoAnswer is the id with which a question ends at once without an answer. It is no option that the approval lists.
const NoAnswer = "cursord:none"

const (
	folderLabel = "Always in this folder, also with more arguments"
	exactLabel  = "Always in this folder, exactly this command"
)

// New makes the pending approval of a turn for a request. With why the request cannot be put to a person and must be denied; why
// completes "it was denied, because …".
func New(req *agent.ApprovalRequested, turn *sessions.Turn, paths []string) (a *sessions.Approval, why string) {
	a = &sessions.Approval{
		ID: sessions.ApprovalID(tag(), turn.ID), Workspace: turn.Workspace, SessionID: turn.SessionID, TurnID: turn.ID,
		Kind: sessions.ApprovalKind(req.Kind), CallID: strings.Clone(req.CallID), Title: plaintext.Cut(strings.TrimSpace(req.Title), MaxTitle), Detail: strings.Clone(req.Detail),
		Command: strings.Clone(req.Command), Paths: slices.Clone(paths), Options: []sessions.ApprovalOption{}, Text: req.Text, Several: req.Several, Status: sessions.ApprovalPending, CreatedAt: sessions.Now(),
	}
	switch a.Kind {
	case sessions.ApprovalPermission, sessions.ApprovalQuestion, sessions.ApprovalPlan:
	default:
		return a, "this build does not know what it asks for"
	}
	if req.Dir != "" {
		a.Detail = strings.TrimSpace("The command would run in " + req.Dir + "\n" + a.Detail)
	}
	if words := allow.LookAlikes(req.Command, paths); len(words) > 0 {
		a.Detail = strings.TrimSpace("Letters that may look like others, or like nothing: " + plaintext.Cut(strings.Join(words, ", "), 4<<10) + "\n" + a.Detail)
	}
	if a.Title == "" {
		a.Title = titles[a.Kind]
	}
	text := len(a.Detail)
	for _, o := range req.Options {
		text += len(o.Label)
	}
	switch {
	case len(req.Command) > MaxCommand:
		why = fmt.Sprintf("its command has %d bytes, more than a person can read", len(req.Command))
		a.Command = ""
	case text > MaxDetail:
		a.Detail = ""
		return a, fmt.Sprintf("its text has %d bytes, more than a person can read", text)
	case len(paths) > MaxPaths:
		why = fmt.Sprintf("it names %d files, more than a person can read", len(paths))
		a.Paths = nil
	case len(req.Options) > MaxOptions:
		return a, fmt.Sprintf("it offers %d answers", len(req.Options))
	case len(req.Options) == 0 && !req.Text:
		why = "it offers no answer"
	}
	for _, o := range req.Options {
		option := sessions.ApprovalOption{ID: strings.Clone(o.ID), Label: strings.Clone(strings.TrimSpace(o.Label)), Kind: sessions.ApprovalOptionKind(o.Kind)}
		switch {
		case o.ID == "" || len(o.ID) > MaxOption || o.ID == FolderOption || o.ID == NoAnswer || a.Option(o.ID) != nil:
			return a, "its answers cannot be told apart"
		case !slices.Contains(kinds, option.Kind):
			return a, "this build does not know the answers that it offers"
		case option.Label == "":
			option.Label = o.ID
		}
		a.Options = append(a.Options, option)
	}
	if a.Kind == sessions.ApprovalPermission && why == "" && !slices.ContainsFunc(a.Options, func(o sessions.ApprovalOption) bool { return o.Kind.Allows() }) {
		why = "it offers no way to allow it"
	}
	return a, why
}

var (
	kinds  = []sessions.ApprovalOptionKind{sessions.AllowOnce, sessions.AllowAlways, sessions.RejectOnce, sessions.RejectAlways, sessions.AnswerOption}
	titles = map[sessions.ApprovalKind]string{
		sessions.ApprovalPermission: "Permission", sessions.ApprovalQuestion: "Question", sessions.ApprovalPlan: "Plan",
	}
)

// tag makes the part of an id that people type: letters and digits that are not mistaken for one another.
func tag() string {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789" // 31: the bias of one letter does not matter
	b := make([]byte, 6)
	_, _ = rand.Read(b) // it never fails
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b)
}

// withFolder adds the option to allow the command for good, after the agent's options that allow. It needs one that allows once.
func withFolder(a *sessions.Approval, exact bool) {
	if a.Chosen(sessions.AllowOnce) == nil {
		return
	}
	at := 0
	for i, o := range a.Options {
		if o.Kind.Allows() {
			at = i + 1
		}
	}
	label := folderLabel
	if exact {
		label = exactLabel
	}
	a.Options = slices.Insert(a.Options, at, sessions.ApprovalOption{ID: FolderOption, Label: label, Kind: sessions.AllowAlways})
}

// Answer answers a pending approval with one of its options, with a text if it takes one, or with a text alone. A plan takes a text only
// with a no, which a text alone is: the agent gets no text with a yes.
func Answer(a *sessions.Approval, option, text string) (*sessions.Approval, error) {
	if err := Pending(a); err != nil {
		return nil, err
	}
	switch {
	case text != "" && !a.Text:
		return nil, api.Invalid("text", "this approval takes no text")
	case len(text) > MaxText:
		return nil, api.Errorf(api.KindTooLarge, "text: is %d bytes long; %d are the most", len(text), MaxText)
	case text != "" && a.Several && plaintext.Chosen(text, a.Names()) == nil:
		e := api.Invalid("text", "names none of the answers, or something else beside them")
		e.Hint = `name them by numbers with commas between, such as "1, 2"`
		return nil, e
	case option == "" && text != "":
		if no := a.Chosen(sessions.RejectOnce); no != nil && a.Kind == sessions.ApprovalPlan {
			option = no.ID
		}
	case option == NoAnswer && a.Kind == sessions.ApprovalQuestion:
	case a.Option(option) == nil:
		return nil, unknown(a, option)
	case text != "" && a.Kind == sessions.ApprovalPlan && a.Option(option).Kind.Allows():
		e := api.Invalid("text", "the agent gets no text with the yes to its plan")
		e.Hint = "accept the plan without a text, or reject it with one"
		return nil, e
	}
	return ended(a, sessions.ApprovalAnswered, &sessions.ApprovalAnswer{OptionID: option, Text: text}), nil
}

// Pending returns the KindConflict error for an approval that is no longer pending, or nil.
func Pending(a *sessions.Approval) error {
	if a.Status == sessions.ApprovalPending {
		return nil
	}
	how := "was " + string(a.Status)
	if a.Status == sessions.ApprovalExpired {
		how = "has expired"
	}
	e := api.Errorf(api.KindConflict, "approval %s is no longer pending: it %s", a.ID, how)
	if a.Status == sessions.ApprovalAnswered && a.Answer != nil {
		switch o := a.Option(a.Answer.OptionID); {
		case o != nil:
			e.Message += fmt.Sprintf(" with %q", plaintext.FirstLine(o.Label, 100))
		case a.Answer.Text != "":
			e.Message += fmt.Sprintf(" with the text %q", plaintext.FirstLine(a.Answer.Text, 100))
		case a.Answer.OptionID == NoAnswer:
			e.Message += " with no answer"
		}
	}
	e.Hint = "cursord approvals (approval/list) lists those that are pending"
	return e
}

func unknown(a *sessions.Approval, option string) error {
	var names []string
	for _, o := range a.Options {
		names = append(names, fmt.Sprintf("%q", o.ID))
	}
	e := api.Invalid("optionId", "%q is not one of the options of this approval", plaintext.Cut(option, MaxOption))
	if e.Hint = "the options are " + strings.Join(names, ", "); len(names) == 0 {
		e.Hint = "it has no options: answer with a text"
	}
	return e
}

// Allowed answers a pending permission in a person's place, because of a rule; nil if there is no option to allow it once.
func Allowed(a *sessions.Approval, rule string) *sessions.Approval {
	once := a.Chosen(sessions.AllowOnce)
	if once == nil || a.Kind != sessions.ApprovalPermission || Pending(a) != nil {
		return nil
	}
	return ended(a, sessions.ApprovalAnswered, &sessions.ApprovalAnswer{OptionID: once.ID, Rule: rule})
}

// Denied says no to a pending approval in a person's place. Without an option for that it is withdrawn.
func Denied(a *sessions.Approval) *sessions.Approval {
	if no := a.Chosen(sessions.RejectOnce); no != nil {
		return ended(a, sessions.ApprovalAnswered, &sessions.ApprovalAnswer{OptionID: no.ID})
	}
	return Withdrawn(a)
}

// Withdrawn ends a pending approval without an answer; Expired ends one that nobody has answered in time.
func Withdrawn(a *sessions.Approval) *sessions.Approval {
	return ended(a, sessions.ApprovalWithdrawn, nil)
}

func Expired(a *sessions.Approval) *sessions.Approval {
	return ended(a, sessions.ApprovalExpired, nil)
}

// ended returns the approval with its final status. One that has a final status stays as it is.
func ended(a *sessions.Approval, status sessions.ApprovalStatus, answer *sessions.ApprovalAnswer) *sessions.Approval {
	if a.Status != sessions.ApprovalPending {
		return a
	}
	next := *a
	next.Status, next.Answer = status, answer
	return &next
}

// AcceptsPlan reports whether a person has accepted a plan.
func AcceptsPlan(a *sessions.Approval) bool {
	if a.Kind != sessions.ApprovalPlan || a.Status != sessions.ApprovalAnswered || a.Answer == nil {
		return false
	}
	o := a.Option(a.Answer.OptionID)
	return o != nil && o.Kind.Allows()
}

// ForAgent returns what the agent is told once the approval has ended: the answer, and in every other case a no.
func ForAgent(a *sessions.Approval) agent.ApprovalAnswer {
	no := agent.ApprovalAnswer{Cancelled: true}
	switch {
	case a.Status == sessions.ApprovalExpired:
		const why = "nobody answered in time (approval_timeout)"
		if o := a.Chosen(sessions.RejectOnce); o != nil {
			return agent.ApprovalAnswer{OptionID: o.ID, Unasked: why}
		}
		no.Unasked = why
		return no
	case a.Status != sessions.ApprovalAnswered || a.Answer == nil || a.Answer.OptionID == NoAnswer:
		return no
	case a.Answer.OptionID == FolderOption:
		once := a.Chosen(sessions.AllowOnce)
		if once == nil {
			return no
		}
		return agent.ApprovalAnswer{OptionID: once.ID}
	}
	return agent.ApprovalAnswer{OptionID: a.Answer.OptionID, Text: a.Answer.Text}
}

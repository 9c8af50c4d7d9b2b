// Package params checks the parameters of requests for what does not depend on the daemon's state: their limits, their words, and
// the folders that they name. It returns api.Errors that name the field.
package params

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/pictures"
	"cursord/sessions"
)

// Limits of session/create.
const (
	TitleMax  = 4 << 10 // of a title that a client gives, in bytes
	ChatIDMax = 256
)

// What turn/start says of approvals.
const (
	ApprovalsDeny = "deny"
	ApprovalsAsk  = "ask"
)

// Limits of turn/start.
const (
	PromptMax = 8 << 20 // of prompt and context together, in bytes
	TurnIDMax = 64      // characters; also of the name of a group of attempts
	WordMax   = 256     // of an argument for the agent, in characters

	AttemptsMax = 16 // attempts at a prompt
)

// CheckTurn checks what does not depend on the daemon's state.
func CheckTurn(p *api.TurnParams) error {
	if strings.TrimSpace(p.Prompt) == "" {
		return api.Invalid("prompt", "must not be empty")
	}
	if err := api.NoNUL("prompt", p.Prompt); err != nil {
		return err
	}
	if len([]rune(p.TurnID)) > TurnIDMax {
		return api.Invalid("turnId", "is longer than %d characters", TurnIDMax)
	}
	if strings.ContainsFunc(p.TurnID, unicode.IsControl) {
		return api.Invalid("turnId", "must not contain control characters")
	}
	if p.Model != nil {
		if err := checkWord("model", *p.Model); err != nil {
			return err
		}
	}
	if p.Mode != nil && !ValidMode(*p.Mode) {
		return api.Invalid("mode", "must be agent, ask or plan")
	}
	if p.Approvals != "" && p.Approvals != ApprovalsAsk && p.Approvals != ApprovalsDeny {
		return api.Invalid("approvals", `must be "ask" or "deny"`)
	}
	switch {
	case p.Rewind != "" && p.SessionID == "":
		return api.Invalid("sessionId", "must name the session of the turn in rewind")
	case p.Rewind != "" && p.Recap:
		return api.Invalid("recap", "a turn with rewind has the transcript that is left anyway")
	}
	if err := cmp.Or(checkPlace(p.Isolation, p.Driver), checkAttempt(p)); err != nil {
		return err
	}
	if err := checkPermits(&p.Permits, false); err != nil {
		return err
	}
	size, images := len(p.Prompt), 0
	for i, c := range p.Context {
		size += len(c.Text) + len(c.Path) + len(c.Title)
		for _, d := range c.Items {
			size += len(d.Message) + len(d.Source)
		}
		switch c.Kind {
		case "file", "selection", "diagnostics":
			if c.Path == "" {
				return api.Invalid(fmt.Sprintf("context[%d].path", i), "is missing in a context of kind %s", c.Kind)
			}
		case "text":
		case pictures.Kind:
			if images++; images > pictures.Most {
				return api.Invalid(fmt.Sprintf("context[%d]", i), "is one image too many; a turn can have %d", pictures.Most)
			}
			if c.Path == "" && c.Data == nil {
				return api.Invalid(fmt.Sprintf("context[%d].path", i), "is missing: a context of kind image needs path or data")
			}
		default:
			return api.Invalid(fmt.Sprintf("context[%d].kind", i), "must be file, selection, diagnostics, text or image")
		}
		if err := checkContext(&c, fmt.Sprintf("context[%d].", i)); err != nil {
			return err
		}
	}
	if size > PromptMax {
		return &api.Error{
			Kind: api.KindTooLarge, Field: "prompt",
			Message: fmt.Sprintf("the prompt has %d bytes with its context; the limit is %d", size, PromptMax),
			Hint:    "name files by path instead of including their content",
		}
	}
	return nil
}

// checkAttempt checks what a client says of an attempt, which is always isolated.
func checkAttempt(p *api.TurnParams) error {
	a := p.Attempt
	switch {
	case a == nil:
		return nil
	case p.SessionID != "":
		return api.Invalid("attempt", "begins a session: leave sessionId out")
	case p.Isolation == config.IsolationNone:
		return api.Invalid("isolation", "attempts work in copies of the workspace")
	case a.Group == "" || len([]rune(a.Group)) > TurnIDMax || strings.ContainsFunc(a.Group, unicode.IsControl):
		return api.Invalid("attempt.group", "must have 1 to %d characters, and no control characters", TurnIDMax)
	case a.Of < 1 || a.Of > AttemptsMax:
		return api.Invalid("attempt.of", "must be a number from 1 to %d", AttemptsMax)
	case a.Number < 1 || a.Number > a.Of:
		return api.Invalid("attempt.number", "must be a number from 1 to %d, which are the attempts", a.Of)
	}
	p.Isolation = config.IsolationCopy
	return nil
}

// checkContext checks a context for what no prompt can hold; at is its place in the parameters, for errors.
func checkContext(c *api.Context, at string) error {
	for field, text := range map[string]string{"path": c.Path, "title": c.Title, "text": c.Text} {
		if err := api.NoNUL(at+field, text); err != nil {
			return err
		}
	}
	for i, d := range c.Items {
		for field, text := range map[string]string{"message": d.Message, "source": d.Source} {
			if err := api.NoNUL(fmt.Sprintf("%sitems[%d].%s", at, i, field), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkWord checks an argument for the agent.
func checkWord(field, word string) error {
	if len([]rune(word)) > WordMax {
		return api.Invalid(field, "is longer than %d characters", WordMax)
	}
	return api.NoNUL(field, word)
}

// CheckSession checks what a client says of a session.
func CheckSession(p *api.SessionParams) error {
	if p.Mode != nil && !ValidMode(*p.Mode) {
		return api.Invalid("mode", "must be agent, ask or plan")
	}
	if err := checkPermits(&p.Permits, true); err != nil {
		return err
	}
	if p.Title != nil && len(*p.Title) > TitleMax {
		return api.Invalid("title", "is %d bytes long; %d are the most", len(*p.Title), TitleMax)
	}
	if err := checkPlace(p.Isolation, p.Driver); err != nil {
		return err
	}
	if p.AgentSessionID != "" {
		if err := CheckChat(p.AgentSessionID); err != nil {
			return err
		}
	}
	if p.Isolation == config.IsolationCopy && p.AgentSessionID != "" {
		return api.Invalid("agentSessionId", `a chat of the workspace cannot continue in a copy of it (isolation "copy")`)
	}
	if p.Model != nil {
		return checkWord("model", *p.Model)
	}
	return nil
}

// CheckChat refuses what cannot name a chat of the agent, or would be an option of its command line.
func CheckChat(id string) error {
	if len(id) <= ChatIDMax && !strings.HasPrefix(id, "-") && !strings.ContainsFunc(id, unicode.IsControl) {
		return nil
	}
	return api.Invalid("agentSessionId", "%q is no id of a chat", plaintext.Cut(id, ChatIDMax))
}

// checkPlace refuses a name of no isolation, or of no driver; "" stands for none given.
func checkPlace(isolation, driver string) error {
	if _, err := config.CheckIsolation(isolation); err != nil && isolation != "" {
		return api.Invalid("isolation", `must be "none" or "copy"`)
	}
	if _, err := config.CheckDriver(driver); err != nil && driver != "" {
		return api.Invalid("driver", `must be "print" or "acp"`)
	}
	return nil
}

// ValidMode reports whether m is a mode.
func ValidMode(m sessions.Mode) bool {
	return m == sessions.ModeAgent || m == sessions.ModeAsk || m == sessions.ModePlan
}

// AsksFor reports whether the parameters may be those of t. A repeated request finds its turn, and no request gets a turn
// that may do more or less than it asked for.
func AsksFor(p *api.TurnParams, t *sessions.Turn) bool {
	return p.Prompt == t.Prompt && p.Force == t.Force && (p.Approvals == "" || (p.Approvals == ApprovalsDeny) == (t.Approvals == ApprovalsDeny)) &&
		(p.Mode == nil || *p.Mode == t.Mode) && madeBy(&p.Permits, t)
}

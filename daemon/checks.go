package daemon

import (
	"fmt"
	"strings"
	"unicode"

	"cursord/daemon/api"
	"cursord/daemon/pictures"
)

// Limits of turn/start.
const (
	promptMax = 8 << 20 // of prompt and context together, in bytes
	turnIDMax = 64      // characters
	wordMax   = 256     // of an argument for the agent, in characters
)

// checkTurn checks what does not depend on the daemon's state.
func checkTurn(p *api.TurnParams) error {
	if strings.TrimSpace(p.Prompt) == "" {
		return api.Invalid("prompt", "must not be empty")
	}
	if err := api.NoNUL("prompt", p.Prompt); err != nil {
		return err
	}
	if len([]rune(p.TurnID)) > turnIDMax {
		return api.Invalid("turnId", "is longer than %d characters", turnIDMax)
	}
	if strings.ContainsFunc(p.TurnID, unicode.IsControl) {
		return api.Invalid("turnId", "must not contain control characters")
	}
	if p.Model != nil {
		if err := checkWord("model", *p.Model); err != nil {
			return err
		}
	}
	if p.Mode != nil && !validMode(*p.Mode) {
		return api.Invalid("mode", "must be agent, ask or plan")
	}
	if p.Approvals != "" && p.Approvals != askApprovals && p.Approvals != denyApprovals {
		return api.Invalid("approvals", `must be "ask" or "deny"`)
	}
	if err := checkIsolation(p.Isolation); err != nil {
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
	if size > promptMax {
		return &api.Error{
			Kind: api.KindTooLarge, Field: "prompt",
			Message: fmt.Sprintf("the prompt has %d bytes with its context; the limit is %d", size, promptMax),
			Hint:    "name files by path instead of including their content",
		}
	}
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
	if len([]rune(word)) > wordMax {
		return api.Invalid(field, "is longer than %d characters", wordMax)
	}
	return api.NoNUL(field, word)
}

// Package steering has the rules about what a person adds to a turn while it runs: what the transcript says of it, and which turn takes it
// where the running one cannot.
package steering

import (
	"errors"

	"cursord/daemon/api"
	"cursord/sessions"
)

// About returns the notice about a text that was added to a running turn; taken is false if the next turn has it.
func About(text string, taken bool) string {
	if taken {
		return "Added to this turn: " + text
	}
	return "This agent takes nothing more while it works. It gets this as the next turn: " + text
}

// Queued returns the turn that takes the text in place of another turn of its session: it may do what that one may.
func Queued(t *sessions.Turn, text string, env []string) api.TurnParams {
	mode, review, dirs := t.Mode, t.AutoReview, t.AddDirs
	p := api.TurnParams{
		Workspace: t.Workspace, SessionID: t.SessionID, Prompt: text, Model: t.Model, Mode: &mode, Force: t.Force, Approvals: t.Approvals,
		Env: env, Permits: api.Permits{AddDirs: &dirs},
	}
	if !t.Force {
		p.Permits.AutoReview = &review
	}
	if t.Sandbox != "" {
		p.Permits.Sandbox = &t.Sandbox
	}
	return p
}

// OfText makes an error about the prompt of a turn one about the text that is added.
func OfText(err error) error {
	e := (*api.Error)(nil)
	if errors.As(err, &e) && e.Field == "prompt" {
		of := *e
		of.Field = "text"
		return &of
	}
	return err
}

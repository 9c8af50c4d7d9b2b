// Package ofagent has the rules about what an agent's own processes may ask of the daemon: nothing that is a person's decision,
// and no turn that may do more than the turn to which they belong.
package ofagent

import (
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/sessions"
)

// Bounds are what a process of an agent may ask for. Nil stands for a person's process, which may ask for anything.
type Bounds struct {
	Turn     *sessions.Turn // the one that the process belongs to; nil: it is not known, and nothing wider is allowed
	Isolated bool           // that turn does not work in the workspace itself
}

// Refuse returns the error for a parameter that asks for more.
func Refuse(param string) error {
	e := api.Invalid(param, api.AgentsMessage)
	e.Hint = api.AgentsHint
	return e
}

// Isolation returns the isolation of a session that the process makes; "" stands for that of the settings.
func (b *Bounds) Isolation(asked string) (string, error) {
	switch {
	case b == nil || !b.Isolated:
		return asked, nil
	case asked != "" && asked != config.IsolationCopy:
		return "", Refuse("isolation")
	}
	return config.IsolationCopy, nil
}

// Fill gives a turn in a new session what its own turn has, where it asks for nothing else.
func (b *Bounds) Fill(p *api.TurnParams) error {
	if b == nil || p.SessionID != "" {
		return nil
	}
	var err error
	if p.Isolation, err = b.Isolation(p.Isolation); err != nil || b.Turn == nil {
		return err
	}
	if p.Driver == "" {
		p.Driver = b.Turn.Driver
	}
	if p.Mode == nil && b.Turn.Mode != sessions.ModeAgent {
		p.Mode = &b.Turn.Mode
	}
	return nil
}

// Check refuses a turn that may do more than the process's own. isolation is that of the turn's session.
func (b *Bounds) Check(isolation string, turn *sessions.Turn) error {
	if b == nil {
		return nil
	}
	own := b.Turn
	if own == nil {
		own = &sessions.Turn{Mode: turn.Mode, Driver: turn.Driver, Sandbox: config.SandboxOn}
	}
	switch {
	case b.Isolated && isolation != config.IsolationCopy:
		return Refuse("isolation")
	case turn.Force:
		return Refuse("force")
	case turn.Mode == sessions.ModeAgent && own.Mode != sessions.ModeAgent:
		return Refuse("mode")
	case turn.Driver != own.Driver && own.Driver != "":
		return Refuse("driver")
	case turn.Sandbox != own.Sandbox && turn.Sandbox != config.SandboxOn && own.Sandbox != "disabled" && !(turn.Sandbox == "" && b.Turn == nil):
		return Refuse("sandbox")
	case turn.AutoReview && !own.AutoReview:
		return Refuse("autoReview")
	case own.Approvals != "" && turn.Approvals != own.Approvals:
		return Refuse("approvals")
	}
	for _, dir := range turn.AddDirs {
		if !slices.Contains(own.AddDirs, dir) {
			return Refuse("addDirs")
		}
	}
	return nil
}

// Package ofagent has the rules about what an agent's own processes may ask of the daemon: nothing that is a person's decision,
// and no turn that may do more than the turn to which they belong.
package ofagent

import (
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/paths"
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

// Driver returns the driver of a session that the process makes; "" stands for that of the settings.
func (b *Bounds) Driver(asked string) (string, error) {
	switch {
	case b == nil || b.Turn == nil || b.Turn.Driver == "":
		return asked, nil
	case asked != "" && asked != b.Turn.Driver:
		return "", Refuse("driver")
	}
	return b.Turn.Driver, nil
}

// Session returns the session that the process belongs to; "" if that is not known, and for a person's process.
func (b *Bounds) Session() string {
	if b == nil || b.Turn == nil {
		return ""
	}
	return b.Turn.SessionID
}

// Cancel refuses to end a turn of another session, unless this session's agent has started it; by is the session whose agent has.
func (b *Bounds) Cancel(turn *sessions.Turn, by string) error {
	if own := b.Session(); b == nil || own != "" && (turn.SessionID == own || by == own) {
		return nil
	}
	return Refuse("turnId")
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
	if p.Driver, err = b.Driver(p.Driver); err != nil {
		return err
	}
	if p.Mode == nil && b.Turn.Mode != sessions.ModeAgent {
		p.Mode = &b.Turn.Mode
	}
	return nil
}

// reaches reports whether the process's own turn works in a folder: in its workspace, in what a person has added, or, without a sandbox,
// everywhere.
func (b *Bounds) reaches(dir string) bool {
	own := b.Turn
	return own.Force || own.Sandbox == "disabled" || slices.ContainsFunc(append([]string{own.Workspace}, own.AddDirs...), func(root string) bool {
		_, inside := paths.Within(root, dir)
		return inside || dir == root
	})
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
	case b.Turn != nil && !b.reaches(turn.Workspace):
		return Refuse("workspace")
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

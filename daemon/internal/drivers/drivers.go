// Package drivers has the ways to drive the agent, by the names that clients know, and the rules about what of a session never changes.
package drivers

import (
	"cursord/agent"
	"cursord/agent/acp"
	"cursord/agent/program"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/attempts"
	"cursord/daemon/internal/survivors"
	"cursord/sessions"
)

// A Set has every driver. Starts of agents wait for each other, whatever drives them.
type Set struct {
	print *agent.Launcher
	acp   *acp.Driver
}

// Options are those of ACP mode.
type Options = acp.Options

// New returns the drivers of a daemon.
func New(builds *program.Builds, o Options) *Set {
	l := agent.NewLauncher(builds)
	return &Set{print: l, acp: acp.New(l, o)}
}

// For returns the driver of a turn.
func (s *Set) For(turn *sessions.Turn) agent.Driver {
	if turn.Check {
		return attempts.Checker{}
	}
	if turn.Driver == config.DriverACP {
		return s.acp
	}
	return s.print
}

// Marked adds to a request what identifies the processes of its turn: marks of the turn's owner, and of the store.
func Marked(req *agent.Request, turn *sessions.Turn, marks *survivors.Turns, store string) {
	owner := survivors.Owner(turn)
	name := "CURSORD_TURN_ID="
	if owner == turn.SessionID {
		name, req.Session = "CURSORD_SESSION_ID=", turn.SessionID
	}
	req.Mark = marks.Mark(owner)
	req.Env = []string{name + owner, req.Mark, store}
}

// EndSession ends what is kept of a session that has no turns.
func (s *Set) EndSession(id string) { s.acp.End(id) }

// Close ends what is kept of all sessions. No turn may run.
func (s *Set) Close() { s.acp.Close() }

// OutlivesTurn reports whether the agent's process goes on after the turn, and its driver ends what the turn has left running.
func OutlivesTurn(turn *sessions.Turn) bool { return turn.Driver == config.DriverACP }

// Keep refuses an isolation or a driver other than the session's own: neither the place where its agent works nor who has its chat ever
// changes.
func Keep(s *sessions.Session, isolation, driver string) error {
	if isolation != "" && isolation != s.Isolation {
		e := api.Invalid("isolation", "the isolation of session %s is %q and cannot change", s.ID, s.Isolation)
		e.Hint = "leave isolation out, or start a new session"
		return e
	}
	if own := Of(s); driver != "" && driver != own {
		e := api.Invalid("driver", "the driver of session %s is %q and cannot change, because no other driver opens its chat", s.ID, own)
		e.Hint = "leave driver out, or start a new session"
		return e
	}
	return nil
}

// Of returns the driver of a session.
func Of(s *sessions.Session) string {
	if s.Driver == "" {
		return config.DriverPrint // it is older than the choice
	}
	return s.Driver
}

// Chosen returns the driver of a new session: the asked one, else that of the settings. A chat that somebody has begun without cursord is
// one of print mode, where nobody says otherwise.
func Chosen(asked, chat string, settings *config.Config) string {
	switch {
	case asked != "":
		return asked
	case chat != "":
		return config.DriverPrint
	}
	return settings.Driver
}

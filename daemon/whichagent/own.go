package whichagent

import (
	"context"
	"errors"
	"os"

	"cursord/agent/program"
	"cursord/daemon/api"
	"cursord/daemon/config"
)

// An Own is the agent to which a configuration, and this process's CURSORD_AGENT and PATH, lead.
type Own struct {
	Path     string              `json:"path"`              // "": none
	NamedBy  string              `json:"namedBy,omitempty"` // who names it, for people; "": it is the first on PATH
	NotTaken []api.AgentNotTaken `json:"-"`
	Wrong    string              `json:"-"` // for people: what is wrong with the named program
	Hint     string              `json:"-"` // and what to do about it
}

// FindOwn looks for the agent in a client's process. It asks programs called agent what they are.
func FindOwn(ctx context.Context, c *config.Config) Own {
	place := program.Place{Program: c.Agent, By: c.AgentBy, Path: os.Getenv("PATH"), Whose: "your"}
	if os.Getenv(config.EnvAgent) != "" {
		place.By = "your " + config.EnvAgent
	}
	finder := program.NewFinder()
	defer finder.Close()
	found, err := finder.Find(ctx, place)
	own := Own{Path: found.Path, NamedBy: found.NamedBy, NotTaken: notTaken(found.NotTaken)}
	if missing := (*program.NotFound)(nil); errors.As(err, &missing) && missing.Named {
		own.Wrong, own.Hint = missing.Why, missing.Hint()
	}
	return own
}

// notTaken returns programs in the form of agent/status.
func notTaken(list []program.NotTaken) (out []api.AgentNotTaken) {
	for _, n := range list {
		out = append(out, api.AgentNotTaken{Path: n.Path, Reason: n.Why})
	}
	return out
}

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon"
	"cursord/rpc"
)

// askAgent asks the daemon for its agent, and what of its environment is not as ours.
func (d *diagnosis) askAgent(ctx context.Context, client *rpc.Client, root string) {
	compare := daemon.DigestEnvironment(os.Environ(), rand.Text())
	a, err := client.AgentStatus(ctx, rpc.AgentStatusParams{Workspace: root, Compare: &compare})
	if err != nil {
		d.problem("the agent's state cannot be told: %v", err)
		return
	}
	d.Agent = &a
	for _, h := range a.Hooks {
		if h.Problem != "" {
			d.problem("the hooks in %s cannot be read: %s", h.File, h.Problem)
		}
	}
	switch a.State {
	case "ready":
	case "notInstalled":
		d.problem("cursor-agent is not installed, or neither on your PATH nor on the daemon's: install it with "+
			"\"curl https://cursor.com/install -fsS | bash\", or name it with the key agent in %s", d.Config)
	case "notLoggedIn":
		d.problem(`cursor-agent is not logged in: run "cursor-agent login", or set CURSOR_API_KEY for the daemon (%s)`, term.Clean(a.Message))
	default:
		d.problem("cursor-agent does not work: %s", term.Clean(a.Message))
	}
}

// agentRows prints what is known of the agent. Its problems are counted and printed elsewhere.
func agentRows(a *daemon.AgentStatus, row func(name, value string)) {
	known := []string{a.State}
	for _, s := range []string{a.Version, a.Account, a.Path} {
		if s != "" {
			known = append(known, term.Clean(s))
		}
	}
	row("agent", strings.Join(known, ", "))
	if a.FoundBy == "client" {
		row("", "found by the PATH or CURSORD_AGENT of a client: the daemon's own environment has none that works")
	}
	for _, other := range a.NotTaken {
		row("", fmt.Sprintf("%s was not taken for cursor-agent: %s", term.Clean(other.Path), term.Clean(other.Reason)))
	}
	if c := a.Changed; c != nil {
		row("", fmt.Sprintf("changed from %s to %s between two turns, at %s", term.Clean(c.From), term.Clean(c.To), c.At.Local().Format("2006-01-02 15:04")))
	}
	for i, line := range hookLines(a.Hooks) {
		row([]string{"hooks", ""}[min(i, 1)], line)
	}
	for i, line := range environmentLines(a.Environment) {
		row([]string{"environ", ""}[min(i, 1)], line)
	}
}

// environmentLines say by which variables the daemon's environment differs from ours, without their values.
func environmentLines(e *daemon.EnvironmentDifference) (lines []string) {
	if e == nil {
		return nil
	}
	for _, part := range []struct {
		names []string
		say   string
	}{
		{e.Differ, "the daemon has other values than you: "},
		{e.DaemonOnly, "only the daemon has: "},
		{e.ClientOnly, "only you have, not the daemon: "},
	} {
		if len(part.names) > 0 {
			lines = append(lines, part.say+term.Clean(strings.Join(part.names, ", ")))
		}
	}
	if lines != nil {
		lines = append(lines, `agents run in the daemon's, unless the configuration says agent_env = "client"`)
	}
	return lines
}

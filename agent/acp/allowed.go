package acp

import (
	"strings"

	"cursord/agent"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// announcedOf returns the command that the agent has announced for a call; "" if there is none.
func (d *decoder) announcedOf(id string) string {
	c := d.calls[id]
	if c == nil || c.titled {
		return ""
	}
	call := c.report.Call(d.dir)
	return call.Command
}

// does says for people what a command does: its line, or the title if there is none, and below it what stands beside it.
func (c *call) does(dir string) string {
	call := c.report.Call(dir)
	what := call.Command
	if what == "" {
		what = call.Title
	}
	other := elsewhere(jsontext.Value(call.Args), dir)
	if other != "" {
		what += "\nin " + other
	}
	return strings.TrimSpace(what + "\n" + unsaid(&call, other, dir))
}

// swapped tells people if the agent runs another command than the one that was allowed.
func (d *decoder) swapped(dst []agent.Event, c *call) []agent.Event {
	if c.allowed == "" || c.name() != "shell" {
		return dst
	}
	now := c.does(d.dir)
	if now == c.allowed {
		return dst
	}
	dst = append(dst, agent.Notice{Text: "The agent was allowed one command and runs another. " + bothCommands(now, c.allowed)})
	c.allowed = now // one notice for each change
	return dst
}

// bothCommands has both commands, each on one line.
func bothCommands(other, allowed string) string {
	const most = 1 << 10
	short := func(text string) string {
		line := plaintext.Joined(text)
		if len(line) > most {
			line = plaintext.Cut(line, most) + "…"
		}
		return line
	}
	return "Allowed: " + short(allowed) + ". The other: " + short(other)
}

package acp

import (
	"slices"
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

// swapped tells people if the agent runs another command than the one that was allowed, or names files beside those.
func (d *decoder) swapped(dst []agent.Event, c *call) []agent.Event {
	switch {
	case c.allowed == "":
	case c.name() == "shell":
		return d.swappedCommand(dst, c)
	case c.writes() == agent.WritesNamed && c.grants != nil:
		return d.swappedFiles(dst, c)
	}
	return dst
}

func (d *decoder) swappedCommand(dst []agent.Event, c *call) []agent.Event {
	now := c.does(d.dir)
	if now == c.allowed {
		return dst
	}
	dst = append(dst, agent.Notice{Text: "The agent was allowed one command and runs another. " + bothOf(now, c.allowed)})
	c.allowed = now // one notice for each change
	return dst
}

func (d *decoder) swappedFiles(dst []agent.Event, c *call) []agent.Event {
	more := slices.DeleteFunc(c.report.Call(d.dir).Paths, func(p string) bool { return d.names(c.grants, p) })
	if len(more) == 0 {
		return dst
	}
	allowed := strings.Join(c.grants, ", ")
	if allowed == "" {
		allowed = c.allowed
	}
	c.grants = append(c.grants, more...) // one notice for each change
	return append(dst, agent.Notice{Text: "The agent was allowed to change some files and names others. " + bothOf(strings.Join(more, ", "), allowed)})
}

// bothOf has both commands, or lists of files, each on one line.
func bothOf(other, allowed string) string {
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

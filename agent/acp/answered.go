package acp

import (
	"slices"
	"time"

	"cursord/agent"
)

// asked notes that a permission is asked for a call, which has not begun then. announced is the command of the call until then.
func (d *decoder) asked(id, announced string) {
	c := d.calls[id]
	if c == nil {
		return
	}
	if now := c.report.Call(d.dir); announced != "" && announced != now.Command {
		c.announced = announced
	}
	c.asks++
	c.since = time.Time{}
	if c.asked.IsZero() {
		c.asked = d.now()
		if d.upTo != nil {
			c.asked = d.upTo() // the agent may have gone on since it asked
		}
	}
}

// answered notes the answer to asked: refused is "" for a yes.
func (d *decoder) answered(dst []agent.Event, id, refused string) []agent.Event {
	c := d.calls[id]
	if c == nil || c.asks == 0 {
		return dst
	}
	c.asks--
	c.refused, c.refusedAt, c.goesOn, c.allowed, c.grants = refused, d.now(), false, "", nil
	switch {
	case c.asks > 0:
		return dst
	case refused == "":
		c.allowed, c.grants = c.does(d.dir), append([]string{}, c.report.Call(d.dir).Paths...)
	}
	switch {
	case c.status == "completed" || c.status == "failed":
		dst = d.finish(dst, c, c.status == "failed")
	case refused == "" && !c.started && (c.writes() != agent.WritesNamed || len(c.report.Call(d.dir).Paths) > 0):
		dst = d.start(dst, c, d.now())
	}
	if refused == "" && c.announced != "" {
		dst = append(dst, agent.Notice{Text: "The agent had announced another command than it asked for, and may have run it. " + bothOf(c.announced, c.allowed)})
	}
	return dst
}

// dropped is answered for a question that nobody will answer, because the turn ends.
func (d *decoder) dropped(id string) {
	if c := d.calls[id]; c != nil && c.asks > 0 {
		c.asks, c.refused, c.refusedAt, c.allowed = 0, neverRan, d.now(), ""
	}
}

// The agent may make a call although it was refused, and need not say so. So this file looks at what the agent says, and at whether the files that
// the call names have changed. The review knows who else may have written them.

// ranAllTheSame reports whether a refused call was made, by the agent's own words and, if it names its files, by these.
func (d *decoder) ranAllTheSame(c *call, failed bool) bool {
	end := c.report.End(d.dir, c.result, failed, "")
	says := c.goesOn || end.Call.ExitCode != nil || len(c.result) > 0 && end.State == agent.CallCompleted
	return says && (c.writes() != agent.WritesNamed || d.wroteSinceAsked(c))
}

// wroteSinceAsked reports whether a file that a call names has changed since the agent asked for the call, or may have where that cannot be seen.
func (d *decoder) wroteSinceAsked(c *call) bool {
	return !c.asked.IsZero() && (d.apart || slices.ContainsFunc(c.report.Call(d.dir).Paths, func(p string) bool { return d.changedSinceAsked(c, p) }))
}

// changedSinceAsked reports whether a file has changed since then, and no other edit explains that.
func (d *decoder) changedSinceAsked(c *call, path string) bool {
	at := d.changedAt(c.name(), path)
	if at.Before(c.asked.Add(-tick)) || at.Equal(d.written[d.absolute(path)]) {
		return false
	}
	for _, other := range d.calls {
		if other != c && other.started && other.refused == "" && other.writes() == agent.WritesNamed && d.names(other.report.Call(d.dir).Paths, path) {
			return false // its end tells the change
		}
	}
	return true
}

// aloneSince returns since when no command has run that may have made the changes of a refused call, but not before the refusal.
func (d *decoder) aloneSince(c *call) time.Time {
	for _, other := range d.calls {
		if other != c && other.started && other.writes() == agent.WritesAnything {
			return d.now()
		}
	}
	if d.quiet.After(c.refusedAt) {
		return d.quiet
	}
	return c.refusedAt
}

// refusedLate takes in that a refused call that had ended was made after that, as far as the agent says so. When the turn is over, its files tell it, too.
func (d *decoder) refusedLate(dst []agent.Event, c *call, over bool) []agent.Event {
	ended := c.status == "completed" || c.status == "failed"
	if !ended && !over {
		return dst
	}
	says := d.ranAllTheSame(c, c.status == "failed")
	var paths []string
	if c.writes() == agent.WritesNamed && (says || over) {
		for _, p := range c.report.Call(d.dir).Paths {
			if !d.names(c.told, p) && d.hasChangedBy(c, p) && d.changedSinceAsked(c, p) {
				paths = append(paths, p)
			}
		}
	}
	if !says {
		c.refusedAt = d.now()
	}
	switch {
	case len(paths) > 0:
		return d.writtenLate(dst, c, paths)
	case says && c.writes() == agent.WritesAnything:
		delete(d.passed, c.report.ID)
		rest := *c
		rest.started = false
		return d.finish(dst, &rest, c.status == "failed")
	}
	return dst
}

// changedPaths returns the files that an end names as changed.
func changedPaths(end *agent.ToolEnd) (paths []string) {
	for _, c := range end.Call.Changes {
		paths = append(paths, c.Path)
	}
	return paths
}

// did is a verb for people.
func (c *call) did() string {
	if c.name() == "shell" {
		return "ran"
	}
	return "did"
}

package acp

import (
	"os"
	"slices"
	"time"

	"cursord/agent"
	"cursord/agent/jsontext"
)

const (
	unreported = "the agent did not report its end, and the file has not changed since the turn began"
	neverRan   = "it did not run before the turn ended"
)

// closeCalls ends what the agent has left open at the end of its turn. Many builds never report the end of an edit. What the agent has
// left open of other kinds stays open.
func (d *decoder) closeCalls(dst []agent.Event) []agent.Event {
	for _, id := range slices.Clone(d.order) {
		c := d.calls[id]
		switch {
		case c.refused != "":
			dst = d.finish(dst, c, false)
		case !c.started && c.writes() == agent.WritesAnything:
			dst = d.neverBegan(dst, c)
		case c.writes() == agent.WritesNamed:
			dst = d.conclude(dst, c)
		}
	}
	return dst
}

func (d *decoder) neverBegan(dst []agent.Event, c *call) []agent.Event {
	end := c.report.End(d.dir, nil, false, neverRan)
	end.Call.Denials = nil
	return append(d.close(d.boundary(dst), c), end)
}

// closeWritten ends the edits that the agent has left open in a turn that was cut off, if they have written something, and the commands that
// have not begun. The others stay open.
func (d *decoder) closeWritten(dst []agent.Event) []agent.Event {
	for _, id := range slices.Clone(d.order) {
		c := d.calls[id]
		switch writes := c.writes(); {
		case c.started && c.asks == 0 && c.refused == "" && writes == agent.WritesNamed && d.wrote(c):
			dst = d.finish(dst, c, false)
		case !c.started && writes == agent.WritesAnything:
			dst = d.neverBegan(dst, c)
		}
	}
	return dst
}

// goOn ends the edits that the agent has left open although its model goes on with words: the model had their results first. What a
// person saves after it is the person's. A call that waits for a person has no result, and the words may be another model's while a task runs.
func (d *decoder) goOn(dst []agent.Event) []agent.Event {
	for _, c := range d.calls {
		if c.name() == "task" {
			return dst
		}
	}
	for _, id := range slices.Clone(d.order) {
		if c := d.calls[id]; c.started && c.asks == 0 && c.writes() == agent.WritesNamed {
			dst = d.conclude(dst, c)
			if c.refused == "" {
				c.result, c.told = nil, c.report.Call(d.dir).Paths
				d.passed[id] = c
			}
		}
	}
	return dst
}

// conclude ends a call whose end the agent has not reported.
func (d *decoder) conclude(dst []agent.Event, c *call) []agent.Event {
	if c.refused == "" && len(c.result) == 0 && !d.wrote(c) {
		c.result = append(append([]byte(`{"error":`), jsontext.Quote(unreported)...), '}')
	}
	return d.finish(dst, c, false)
}

// late takes in what the agent says of a call that has ended. If goOn has ended it, the files that it names only now become those of a
// call of their own, so that they are reviewed as the agent's.
func (d *decoder) late(dst []agent.Event, id string, o jsontext.Object) []agent.Event {
	c := d.passed[id]
	if c == nil {
		return dst
	}
	d.learn(c, o)
	rest := *c
	rest.started, rest.report.Args = false, nil
	rest.report.Paths = slices.DeleteFunc(slices.Clone(c.report.Paths), func(p string) bool {
		return slices.ContainsFunc(c.told, func(told string) bool { return d.absolute(told) == d.absolute(p) })
	})
	if len(rest.report.Paths) == 0 || c.status != "completed" || c.writes() != agent.WritesNamed {
		return dst
	}
	c.told = append(c.told, rest.report.Paths...)
	return d.finish(dst, &rest, false)
}

// wrote reports whether one of the files that a call names has changed since the turn began, or may have where that cannot be seen.
func (d *decoder) wrote(c *call) bool {
	if d.apart {
		return true
	}
	const tick = 10 * time.Millisecond // of a file system's clock
	call := c.report.Call(d.dir)
	for _, p := range call.Paths {
		info, err := os.Lstat(d.absolute(p))
		switch {
		case err != nil && call.Name == "delete" && os.IsNotExist(err):
			return true
		case err == nil && call.Name != "delete" && !info.ModTime().Before(d.began.Add(-tick)):
			return true
		}
	}
	return false
}

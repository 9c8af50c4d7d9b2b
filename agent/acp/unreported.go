package acp

import (
	"maps"
	"os"
	"slices"
	"time"

	"cursord/agent"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

const (
	noEnd      = "the agent did not report its end"
	unreported = noEnd + ", and the file has not changed since the turn began"
	neverRan   = "it did not run before the turn ended"
)

// closeCalls ends what the agent has left open at the end of its turn. Many builds never report the end of an edit. What the agent has
// left open of other kinds stays open.
func (d *decoder) closeCalls(dst []agent.Event) []agent.Event {
	for _, id := range slices.Clone(d.order) {
		c := d.calls[id]
		switch {
		case c.refused != "":
			dst = d.finishRefused(dst, c)
		case !c.started && c.writes() == agent.WritesAnything:
			dst = d.neverBegan(dst, c)
		case c.writes() == agent.WritesNamed:
			dst = d.conclude(dst, c)
		}
	}
	return d.writtenSince(dst)
}

func (d *decoder) neverBegan(dst []agent.Event, c *call) []agent.Event {
	end := c.report.End(d.dir, nil, false, neverRan)
	end.Call.Denials = nil
	return append(d.close(d.boundary(dst), c), end)
}

// finishRefused ends a refused call whose end the agent has not reported. Whether a command ran, and when, is then unknown.
func (d *decoder) finishRefused(dst []agent.Event, c *call) []agent.Event {
	if c.writes() == agent.WritesAnything && !c.goesOn {
		c.refusedAt = d.now()
	}
	return d.finish(dst, c, false)
}

// closeWritten ends the edits that the agent has left open in a turn that was cut off, if they have written something, and the commands that
// have not begun. The others stay open.
func (d *decoder) closeWritten(dst []agent.Event) []agent.Event {
	for _, id := range slices.Clone(d.order) {
		c := d.calls[id]
		switch writes := c.writes(); {
		case c.refused != "" && (writes == agent.WritesAnything || d.wroteSinceAsked(c)):
			dst = d.finishRefused(dst, c)
		case c.started && c.asks == 0 && c.refused == "" && writes == agent.WritesNamed && d.wrote(c):
			dst = d.finish(dst, c, false)
		case !c.started && writes == agent.WritesAnything:
			dst = d.neverBegan(dst, c)
		}
	}
	return d.writtenSince(dst)
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
			dst = d.pass(dst, c)
		}
	}
	return dst
}

// before ends the edits that the agent has left open when it announces a command, if all of their files have been written: what the command
// changes in these files is the command's. While a command runs, it may have written them.
func (d *decoder) before(dst []agent.Event) []agent.Event {
	if d.apart || d.inCommand() {
		return dst
	}
	for _, id := range slices.Clone(d.order) {
		c := d.calls[id]
		if !c.started || c.asks > 0 || c.refused != "" || c.writes() != agent.WritesNamed {
			continue
		}
		all := c.report.Call(d.dir).Paths
		if len(all) > 0 && !slices.ContainsFunc(all, func(p string) bool { return !d.hasChangedBy(c, p) }) {
			dst = d.pass(dst, c)
		}
	}
	return dst
}

// hasChangedBy reports whether a file that an open call names has changed since a command or the last call that named it may have written it.
func (d *decoder) hasChangedBy(c *call, path string) bool {
	at := d.changedAt(c.name(), path)
	return !at.Before(d.quiet) && !at.Equal(d.written[d.absolute(path)])
}

// pass ends a call whose end the agent has not reported, and may still report.
func (d *decoder) pass(dst []agent.Event, c *call) []agent.Event {
	dst = d.conclude(dst, c)
	if c.refused == "" {
		c.result = nil
		for _, p := range c.report.Call(d.dir).Paths {
			if d.hasChanged(c, p) {
				c.told = append(c.told, p)
			} else {
				c.open = append(c.open, p)
			}
		}
		d.passed[c.report.ID] = c
	}
	return dst
}

// conclude ends a call whose end the agent has not reported.
func (d *decoder) conclude(dst []agent.Event, c *call) []agent.Event {
	if c.refused == "" && len(c.result) == 0 && !d.wrote(c) {
		why := unreported
		if len(c.report.Call(d.dir).Paths) == 0 {
			why = noEnd
		}
		c.result, c.guessed = append(append([]byte(`{"error":`), jsontext.Quote(why)...), '}'), true
	}
	return d.finish(dst, c, false)
}

// late takes in what the agent says of a call that has ended. If goOn has ended it, the files that it names only now, or has written only
// now, become those of a call of their own, so that they are reviewed as the agent's.
func (d *decoder) late(dst []agent.Event, id string, o jsontext.Object) []agent.Event {
	c := d.passed[id]
	if c == nil {
		return dst
	}
	d.learn(c, o)
	if c.refused != "" {
		return d.refusedLate(dst, c, false)
	}
	dst = d.swapped(dst, c)
	if c.status != "completed" || c.writes() != agent.WritesNamed {
		return dst
	}
	return d.writtenLate(dst, c, slices.DeleteFunc(c.report.Call(d.dir).Paths, func(p string) bool {
		return d.names(c.told, p) || d.names(c.open, p) && !d.hasChanged(c, p)
	}))
}

// writtenLate tells files as those of a call of their own.
func (d *decoder) writtenLate(dst []agent.Event, c *call, paths []string) []agent.Event {
	if len(paths) == 0 {
		return dst
	}
	c.told = append(c.told, paths...)
	rest := *c
	rest.started, rest.guessed, rest.report.Args, rest.report.Paths = false, false, nil, paths
	return d.finish(dst, &rest, false)
}

// writtenSince says which files have changed only since goOn has ended their call, and were written by no other call. They may be a
// person's: the agent has not reported that it wrote them.
func (d *decoder) writtenSince(dst []agent.Event) []agent.Event {
	for _, id := range slices.Sorted(maps.Keys(d.passed)) {
		c := d.passed[id]
		if c.refused != "" {
			dst = d.refusedLate(dst, c, true)
			continue
		}
		for _, p := range c.open {
			if _, others := d.written[d.absolute(p)]; !others && !d.names(c.told, p) && d.hasChanged(c, p) {
				dst = append(dst, agent.Notice{Text: plaintext.OneLine("", p) + " has changed since the agent went on without reporting its edit. " +
					"The change counts as a person's: it is not under review."})
			}
		}
	}
	return dst
}

// names reports whether a list has the file with this path.
func (d *decoder) names(list []string, path string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return d.absolute(p) == d.absolute(path) })
}

// wrote reports whether one of the files that a call names has changed since the turn began, or may have where that cannot be seen.
func (d *decoder) wrote(c *call) bool {
	return d.apart || slices.ContainsFunc(c.report.Call(d.dir).Paths, func(p string) bool { return d.hasChanged(c, p) })
}

// hasChanged reports whether a file that a call names has changed since the turn began, or may have where that cannot be seen.
func (d *decoder) hasChanged(c *call, path string) bool {
	return d.apart || !d.changedAt(c.name(), path).Before(d.began.Add(-tick))
}

// tick is how much a file system's clock may be slow.
const tick = 10 * time.Millisecond

// changedAt returns when a call by a name may have changed a file: the time of its text, or now if the call is to delete it and it is gone.
func (d *decoder) changedAt(name, path string) time.Time {
	if agent.Removes(name) {
		if _, err := os.Lstat(d.absolute(path)); os.IsNotExist(err) {
			return d.now()
		}
		return time.Time{}
	}
	info, err := os.Stat(d.absolute(path)) // an edit writes the file that a link leads to
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

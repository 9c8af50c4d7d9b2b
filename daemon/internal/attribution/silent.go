package attribution

import (
	"slices"

	"cursord/diffs"
)

// This file handles calls that do not report their results.

// unreported appends the edit of a call that does not report its result. The edit begins at the first look at the path. All
// later changes may be the call's, except for changes that editors report.
func (c *chain) unreported(r Report, last bool) {
	c.dropTorn(nil, c.disk)
	if now := c.now(); r.Before != nil && c.crowded && now != nil && isText(*now) && c.silent == 0 { // the agent has read this text from the disk
		before := diffs.Content{Exists: true, Data: inFormOf(now.Data, *r.Before), Mode: now.Mode}
		if related(before, *now) {
			c.step(before, c.beside)
		}
	}
	if len(c.looks) > 0 && !r.precedes(c.looks[0]) && !c.within() && (c.now() == nil || !same(c.looks[0].Content, c.disk)) {
		if now := c.now(); now != nil && c.silent > 0 && !same(*now, c.looks[0].Content) {
			c.silent--
		}
		c.step(c.looks[0].Content, c.author(c.looks[0]))
		c.looks = c.looks[1:]
	}
	c.silent++
	if !last { // the next report has more evidence
		if c.beside = &r.Source; c.crowded {
			c.beside = perhaps(r.Source)
		}
		return
	}
	if c.now() == nil {
		c.steps = []Step{{c.disk, &r.Source}}
		return
	}
	c.looks = slices.DeleteFunc(c.looks, func(l Look) bool { return !l.Person && r.precedes(l) })
	by := &r.Source
	several := c.crowded || c.changes(c.looks, c.disk) > c.silent
	if several {
		by = perhaps(r.Source)
	}
	for i, l := range c.looks {
		switch {
		case l.Person:
			c.step(l.Content, nil)
		case i+1 < len(c.looks) && c.looks[i+1].Person: // the person typed over this content
			c.step(l.Content, by)
		case several:
			c.step(withLost(*c.now(), l.Content, c.disk), c.others)
		}
	}
	c.looks = nil
	c.step(c.disk, by)
}

// within reports whether the call may have been open when the text of the first look came, and whether a further change
// followed: since then the path was saved as often as it changed, or the look itself was late.
func (c *chain) within() bool {
	now := c.now()
	if now == nil || c.silent > 0 || same(*now, c.looks[0].Content) {
		return false
	}
	n := c.changes(c.looks, c.disk)
	return n > 1 && (c.saves >= n || c.looks[0].Within)
}

// changes counts the changes of a path from the latest text, by way of the looks, to a last text. It leaves out changes that
// editors report.
func (c *chain) changes(looks []Look, last diffs.Content) (n int) {
	at := *c.now()
	for _, l := range append(slices.Clip(looks), Look{Content: last}) {
		if !l.Person && !same(at, l.Content) {
			n++
		}
		at = l.Content
	}
	return n
}

// perhaps returns src with via "unknown": the author may be somebody else.
func perhaps(src diffs.Source) *diffs.Source {
	src.Via = diffs.ViaUnknown
	return &src
}

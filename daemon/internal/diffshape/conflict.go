package diffshape

import (
	"cmp"
	"slices"
	"strings"

	"cursord/sessions"
)

// A Conflicting is a place that a person has changed in an unsaved text, and an agent on disk.
type Conflicting struct {
	Parts []sessions.Hunk // the hunks on disk
	hunk  sessions.Hunk
}

// Conflict returns a place with the unsaved text's lines, from its line at (counted from 0), and the disk's lines.
func Conflict(text, disk []string, at int) *Conflicting {
	c := &Conflicting{}
	start := func(lines []string) int {
		if len(lines) == 0 {
			return at
		}
		return at + 1
	}
	c.hunk = sessions.Hunk{
		Kind: "text", State: "conflict", OldStart: start(text), OldLines: len(text), NewStart: start(disk), NewLines: len(disk),
		Lines: []string{}, Sources: []sessions.Source{},
	}
	for i, l := range text {
		c.hunk.Lines = append(c.hunk.Lines, "-"+strings.TrimSuffix(l, "\n"))
		c.hunk.OldNoEOL = i == len(text)-1 && !strings.HasSuffix(l, "\n")
	}
	for i, l := range disk {
		c.hunk.Lines = append(c.hunk.Lines, "+"+strings.TrimSuffix(l, "\n"))
		c.hunk.NewNoEOL = i == len(disk)-1 && !strings.HasSuffix(l, "\n")
	}
	return c
}

// Hunk returns the place as a hunk. It has the id of its first part; the other parts are decided with it.
func (c *Conflicting) Hunk() sessions.Hunk {
	for i, p := range c.Parts {
		if i == 0 {
			c.hunk.ID = p.ID
		} else {
			c.hunk.Linked = append(c.hunk.Linked, p.ID)
		}
		for _, s := range p.Sources {
			if !slices.Contains(c.hunk.Sources, s) {
				c.hunk.Sources = append(c.hunk.Sources, s)
			}
		}
	}
	return c.hunk
}

// AddConflicts puts conflicts into the diff of an unsaved text. They replace hunks of the same ids.
func AddConflicts(d *sessions.Diff, found []sessions.Hunk) {
	hidden := map[string]bool{}
	for _, h := range found {
		hidden[h.ID] = true
		for _, id := range h.Linked {
			hidden[id] = true
		}
	}
	d.Hunks = slices.DeleteFunc(slices.Clone(d.Hunks), func(h sessions.Hunk) bool { return h.Kind == "text" && hidden[h.ID] })
	d.Hunks = append(d.Hunks, found...)
	at := func(h sessions.Hunk) int { // the first changed line in the text
		context := max(slices.IndexFunc(h.Lines, func(l string) bool { return l[0] != ' ' }), 0)
		switch {
		case h.Kind == "file":
			return -1
		case h.State != "":
			return h.OldStart + context
		}
		return h.NewStart + context
	}
	slices.SortStableFunc(d.Hunks, func(x, y sessions.Hunk) int { return cmp.Compare(at(x), at(y)) })
	d.State, d.Added, d.Removed = "pending", 0, 0
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			switch l[0] {
			case '+':
				d.Added++
			case '-':
				d.Removed++
			}
		}
		for _, s := range h.Sources {
			if !slices.Contains(d.Turns, s.TurnID) {
				d.Turns = append(d.Turns, s.TurnID)
			}
		}
	}
}

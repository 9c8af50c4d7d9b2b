package diffs

import (
	"cursord/diffs/internal/gitform"
	"cursord/diffs/internal/linetext"
)

// A Change is what has become of a file, from one content to the next.
type Change struct {
	Kind           Kind
	Added, Removed int
	Hunks          string // of a unified diff, without the names of the files; "" for a content that is no text
	Cut            bool   // Hunks lacks some, because it would be too long
}

// Change returns what has become of a file that held before and now holds after. Hunks that do not fit in most bytes are left out; if the
// first one does not fit, its first lines are there.
func (l Limits) Change(before, after Content, most int) Change {
	between := 0 // how many lines come before those that are compared
	if isLines(l, before) && isLines(l, after) && (before.Mode == after.Mode || before.Mode == 0 || after.Mode == 0) {
		before.Data, after.Data, between = linetext.Apart(string(before.Data), string(after.Data), contextLines)
	}
	r := l.New(before)
	r.Observe(after, &Source{})
	c := Change{Kind: r.Kind()}
	hunks := hunkForms(r.Hunks())
	switch {
	case c.Kind == Binary || c.Kind == Large:
		return c
	case r.whole != nil: // a link, before or after
		hunks = []gitform.Hunk{gitform.Whole(before.form(), after.form())}
	}
	c.Hunks, c.Added, c.Removed, c.Cut = gitform.Bounded(hunks, between, most)
	return c
}

// isLines reports whether a content is a file that is reviewed by lines.
func isLines(l Limits, c Content) bool {
	return c.Exists && c.Target == "" && l.Classify(c.Data) == Modified
}

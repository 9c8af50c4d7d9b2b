package attribution

import (
	"slices"

	"cursord/diffs"
)

// A Guess is a change of a path whose author a look has guessed: a call that the daemon had not heard of may have made it, or a
// part of it.
type Guess struct{ From, To diffs.Content }

// Holds reports whether the change has the edit of an ended call in it, as the call's report says. Then this edit is the call's,
// whatever author the look has guessed.
func (g Guess) Holds(reports []Report) bool {
	return slices.ContainsFunc(reports, func(r Report) bool { return g.readBy(r) && g.leftBy(r) || g.passed(r) })
}

// passed reports whether the call's edit came within the change, after and before edits of others.
func (g Guess) passed(r Report) bool {
	switch {
	case r.Deleted:
		return r.Before != nil && !g.To.Exists
	case r.Before == nil || r.After == nil || *r.Before == *r.After || !isText(g.From) || !isText(g.To):
		return false
	}
	said := func(text string) diffs.Content { return diffs.Content{Exists: true, Data: decoded([]byte(text))} }
	in := func(c diffs.Content) bool { return holds(said(string(c.Data)), said(*r.Before), said(*r.After)) }
	return in(g.To) && !in(g.From)
}

func (g Guess) readBy(r Report) bool {
	switch {
	case r.Before == nil:
		return !g.From.Exists && (r.LeavesEmpty || r.Deleted)
	case *r.Before == "" && !g.From.Exists:
		return true // agents report a missing file as an empty one
	}
	return isText(g.From) && reads(g.From.Data, *r.Before)
}

func (g Guess) leftBy(r Report) bool {
	if r.Deleted {
		return !g.To.Exists
	}
	return r.After != nil && isText(g.To) && reads(g.To.Data, *r.After)
}

package attribution

import (
	"cmp"
	"slices"
	"strings"

	"cursord/diffs"
)

// A Report is a finished call's statement about its edit of a path.
type Report struct {
	Source        diffs.Source
	Before, After *string // texts as the agent decoded them; nil if the call does not report them
	Deleted       bool
	LeavesEmpty   bool          // a missing text may be an empty one, because the tool leaves empty texts out
	End           int           // the position of this call's end among the ends of the calls that name the path, from 1; 0: unknown
	Beside        *diffs.Source // another possible author of changes up to the call's end, such as an open command; nil: people
}

// precedes reports whether the call had certainly ended before a look.
func (r *Report) precedes(l Look) bool { return r.End > 0 && l.Ended >= r.End }

// besides returns the other possible author of changes before the last of some reports. The calls of the others ended earlier,
// but the last call's edit came before theirs.
func besides(reports []Report) (by *diffs.Source) {
	for _, r := range slices.Backward(reports) {
		by = cmp.Or(by, r.Beside)
	}
	return by
}

// follows reports whether a call's edit began with a text that contains another call's edit.
func (r Report) follows(other Report) bool {
	if r.Before == nil || other.Before == nil || other.After == nil || r.End == other.End {
		return false
	}
	said := func(text *string) diffs.Content { return diffs.Content{Exists: true, Data: decoded([]byte(*text))} }
	before, after := said(r.Before), said(other.After)
	if holds(before, said(other.Before), after) {
		return true
	}
	if r.After == nil || holds(said(other.Before), before, said(r.After)) {
		return false
	}
	// Somebody has changed the text between the two edits. The order with fewer such changes is likelier.
	return touched(after, before) < touched(said(r.After), said(other.Before))
}

// touched counts the lines that differ between two texts.
func touched(from, to diffs.Content) (n int) {
	for _, e := range diffs.LineEdits(string(from.Data), string(to.Data)) {
		n += max(e.To-e.From, strings.Count(e.Text, "\n"))
	}
	return n
}

// leftBy reports whether one of the calls reports a text as its result.
func leftBy(calls []Report, text diffs.Content) bool {
	return slices.ContainsFunc(calls, func(r Report) bool {
		return r.Deleted && !text.Exists || r.After != nil && isText(text) && reads(text.Data, *r.After)
	})
}

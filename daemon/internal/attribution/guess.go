package attribution

import "cursord/diffs"

// A Guess is a change of a path that a look attributed while a call that names the path may have begun of which the daemon had not heard.
type Guess struct{ From, To diffs.Content }

// MadeBy reports whether an ended call that names the path has made exactly this change, as its report shows: it read From and left
// To. Then the change is the call's, whatever the look made of its time.
func (g Guess) MadeBy(reports []Report) bool {
	for _, r := range reports {
		if g.readBy(r) && g.leftBy(r) {
			return true
		}
	}
	return false
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

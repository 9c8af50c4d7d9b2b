package attribution

import "cursord/diffs"

// A Guess is a change of a path whose author a look has guessed: a call that the daemon had not heard of may have made it.
type Guess struct{ From, To diffs.Content }

// MadeBy reports whether an ended call has made exactly this change: its report says that it read From and left To. Then the
// change is the call's, whatever author the look has guessed.
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

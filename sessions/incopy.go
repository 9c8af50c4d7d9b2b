package sessions

import "slices"

// InCopy returns what diffs have of a session's copy, which goes with the session: the hunks that its agent made there and that
// nobody has decided. Diffs without such hunks are left out.
func InCopy(diffs []*Diff, session string) (left []*Diff, hunks int) {
	for _, d := range diffs {
		only := *d
		only.Hunks = slices.DeleteFunc(slices.Clone(d.Hunks), func(h Hunk) bool {
			return !h.Isolated || !slices.ContainsFunc(h.Sources, func(from Source) bool { return from.SessionID == session })
		})
		if len(only.Hunks) > 0 {
			left = append(left, &only)
			hunks += len(only.Hunks)
		}
	}
	return left, hunks
}

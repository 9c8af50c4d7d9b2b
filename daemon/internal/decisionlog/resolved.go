package decisionlog

import (
	"slices"

	"cursord/diffs"
)

// A ResolvedConflict is a conflict that a decision has decided.
type ResolvedConflict struct {
	Hunks  []uint64 `json:"hunks"`
	Over   []uint64 `json:"over,omitempty"`   // its place in the review, as in diffs.Side
	Mine   []string `json:"mine,omitempty"`   // the person's lines
	Theirs []string `json:"theirs,omitempty"` // the agent's, with what the person has changed beside them
	Both   bool     `json:"both,omitempty"`   // an accept: the person's lines stayed above them
	At     int      `json:"at,omitempty"`     // the place of the first hunk in them
}

// Lines returns the lines that an accept has put into the place of the person's.
func (c *ResolvedConflict) Lines() []string {
	if c.Both {
		return slices.Concat(c.Mine, c.Theirs)
	}
	return c.Theirs
}

// side returns what a reject of the conflict's hunk is to bring back. With both, the person's lines are there anyway.
func (c *ResolvedConflict) side() diffs.Side {
	if c.Both {
		return diffs.Side{Over: c.Over}
	}
	return diffs.Side{Over: c.Over, Mine: c.Mine}
}

// Finish makes a decision of conflicts one about hunks that have the person's lines on their old side, and not those from before both; from
// then on its undo and redo are those of any decision. review is the file's: before the decision if that was a reject, which Finish
// makes there, and else after it. Finish returns false, and changes nothing, if review does not have the lines any more.
func (part *File) Finish(review *diffs.Review) bool {
	now := review.Copy()
	if len(part.Resolved) == 0 || part.Decision.Accept && now.Undo(part.Decision) != nil {
		return false
	}
	var lines []uint64
	for i := range part.Resolved {
		lines = append(lines, now.PutBeneath(part.Resolved[i].side())...)
	}
	again, err := now.Redo(part.Decision, lines...)
	if err != nil || len(lines) == 0 {
		return false
	}
	part.Shown = part.hunks() // the person's lines may make more of a conflict
	*review, part.Decision, part.Conflicts, part.Resolved = *now, again, nil, nil
	if again.Accept {
		part.Conflicts = again.Hunks // an editor's undo may still lead back to the text before
	}
	return true
}

package decisionlog

import (
	"iter"
	"slices"

	"cursord/daemon/internal/threeway"
	"cursord/diffs"
)

// A Taken is a conflict that an accept has decided.
type Taken struct {
	Hunks  []uint64 `json:"hunks"`
	Mine   []string `json:"mine,omitempty"`   // the person's lines
	Theirs []string `json:"theirs,omitempty"` // the agent's, with what the person has changed beside them
	Both   bool     `json:"both,omitempty"`   // the person's lines stayed above them
	At     int      `json:"at,omitempty"`     // the place of the first hunk in them
}

// Lines returns the lines that the accept has put into the place of the person's.
func (c *Taken) Lines() []string {
	if c.Both {
		return slices.Concat(c.Mine, c.Theirs)
	}
	return c.Theirs
}

// TakeBack undoes a decision in the review of its file, and returns what a redo decides. Conflicts of an accept are open again in an
// unsaved text that still has the person's lines. Elsewhere the agent's lines become a change of the person's, so that a reject leaves
// those: a review knows only the lines from before both.
func (part *File) TakeBack(review *diffs.Review, unsaved iter.Seq[string]) (diffs.Decision, error) {
	before := review.Fingerprints()
	if err := review.Undo(part.Decision); err != nil {
		return part.Decision, err
	}
	now, mended := review.Current(), review.Copy()
	mine, places := string(now.Data), slices.DeleteFunc(review.Places(), func(p diffs.Place) bool { return before[p.ID] != "" })
	var rest, ids []uint64
	for _, c := range part.Taken { // the last in the file first
		i := slices.IndexFunc(places, func(p diffs.Place) bool { return p.ID == c.Hunks[0] })
		if i < 0 {
			return part.Decision, nil
		}
		from := places[i].From - c.At
		above, at := threeway.Span{From: from, To: from + len(c.Mine)}, threeway.Span{From: from + len(c.Mine), To: from + len(c.Mine) + len(c.Theirs)}
		if !threeway.Has(mine, above, c.Mine) || !threeway.Has(mine, at, c.Theirs) {
			above, at = threeway.Span{From: from, To: from}, threeway.Span{From: from, To: from + len(c.Theirs)}
			if !threeway.Has(mine, at, c.Theirs) || c.kept(mine, at, unsaved) {
				return part.Decision, nil
			}
		}
		at = threeway.Span{From: above.From, To: at.To}
		for _, p := range places {
			if at.Touches(threeway.Span{From: p.From, To: p.To}) {
				ids = append(ids, p.ID)
			}
		}
		mine = threeway.Replace(mine, at, c.Mine...)
	}
	for _, p := range places {
		if !slices.Contains(ids, p.ID) {
			rest = append(rest, p.ID)
		}
	}
	if len(ids) == 0 {
		return part.Decision, nil
	}
	var by *diffs.Source
	for _, h := range mended.Hunks() {
		if h.ID == ids[0] && len(h.Sources) > 0 {
			by = &h.Sources[len(h.Sources)-1]
		}
	}
	if d, err := mended.Decide(ids, false, nil); by == nil || err != nil || len(d.Hunks) > len(ids) {
		return part.Decision, nil // more would be rejected than what is to be the agent's again
	}
	mended.Observe(diffs.Content{Exists: true, Data: []byte(mine), Mode: now.Mode}, nil)
	old := mended.Fingerprints()
	mended.Observe(now, by)
	for id := range mended.Fingerprints() {
		if _, there := old[id]; !there {
			rest = append(rest, id)
		}
	}
	again, err := mended.Copy().Decide(rest, true, nil)
	if err != nil {
		return part.Decision, nil
	}
	*review = *mended
	part.Conflicts, part.Taken, part.Was, part.Then = nil, nil, "", "" // an accept of plain hunks now
	return again, nil
}

// kept reports whether an unsaved text has the person's lines above the agent's, which have a place on the disk.
func (c *Taken) kept(disk string, at threeway.Span, unsaved iter.Seq[string]) bool {
	for text := range unsaved {
		there, _ := threeway.Moved(at, diffs.LineEdits(disk, text))
		if len(c.Mine) > 0 && threeway.Has(text, threeway.Span{From: there.From - len(c.Mine), To: there.From}, c.Mine) {
			return true
		}
	}
	return false
}

package decisionlog

import (
	"bytes"
	"iter"
	"slices"

	"cursord/daemon/internal/threeway"
	"cursord/diffs"
)

// A Taken is a conflict that was decided.
type Taken struct {
	Hunks  []uint64 `json:"hunks"`
	Mine   []string `json:"mine,omitempty"`   // the person's lines
	Theirs []string `json:"theirs,omitempty"` // the agent's, with what the person has changed beside them
	Both   bool     `json:"both,omitempty"`   // the person's lines stayed above them
	Kept   bool     `json:"kept,omitempty"`   // a reject: the person's lines stayed, and the agent's are gone
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
// those, and so do the agent's lines of a reject: a review knows only the lines from before both.
func (part *File) TakeBack(review *diffs.Review, unsaved iter.Seq[string]) (diffs.Decision, error) {
	before := review.Fingerprints()
	if err := review.Undo(part.Decision); err != nil {
		return part.Decision, err
	}
	now, mended := review.Current(), review.Copy()
	mine, theirs, places := string(now.Data), string(now.Data), slices.DeleteFunc(review.Places(), func(p diffs.Place) bool { return before[p.ID] != "" })
	var rest, ids []uint64
	for _, c := range part.Taken { // the last in the file first
		at, there := c.find(mine, places)
		if !there || !c.Kept && !threeway.Has(mine, at, slices.Concat(c.Mine, c.Theirs)) && c.kept(mine, at, unsaved) {
			return part.Decision, nil
		}
		for _, p := range places {
			if at.Touches(threeway.Span{From: p.From, To: p.To}) {
				ids = append(ids, p.ID)
			}
		}
		if mine = threeway.Replace(mine, at, c.Mine...); c.Kept {
			theirs = threeway.Replace(theirs, at, c.Theirs...)
		}
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
	mended.Observe(diffs.Content{Exists: true, Data: []byte(theirs), Mode: now.Mode}, by)
	for id := range mended.Fingerprints() {
		if _, there := old[id]; !there {
			rest = append(rest, id)
		}
	}
	again, err := mended.Copy().Decide(rest, part.Decision.Accept, nil)
	if err != nil {
		return part.Decision, nil
	}
	*review = *mended
	part.Conflicts, part.Taken, part.Was, part.Then = nil, nil, "", "" // a decision about plain hunks now
	return again, nil
}

// find returns where a text has both sides or, after an accept, the agent's alone. places are those of the hunks that are back.
func (c *Taken) find(text string, places []diffs.Place) (at threeway.Span, there bool) {
	both, turned := slices.Concat(c.Mine, c.Theirs), slices.Concat(c.Theirs, c.Mine)
	for _, p := range places {
		if p.ID != c.Hunks[0] && !c.Kept { // the hunk of a reject is another one if the person has removed the lines from before
			continue
		}
		from := p.From - c.At
		at = threeway.Span{From: from, To: from + len(both)}
		above := threeway.Span{From: from - len(c.Mine), To: from + len(c.Theirs)}
		alone := threeway.Span{From: from, To: from + len(c.Theirs)}
		switch {
		case threeway.Has(text, at, both), c.Kept && threeway.Has(text, at, turned):
			return at, true
		case (c.Kept || c.Both) && threeway.Has(text, above, both):
			return above, true
		case !c.Kept && threeway.Has(text, alone, c.Theirs):
			return alone, true
		}
	}
	return at, false
}

// Keep returns a reject of conflicts that was saved, and the review with it, so that an undo brings the agent's lines back in the place of
// the person's. It returns them as they are where the review does not have the lines any more.
func Keep(review *diffs.Review, d diffs.Decision, kept []Taken) (diffs.Decision, *diffs.Review) {
	part, mended := File{Decision: d, Taken: kept}, review.Copy()
	again, err := part.TakeBack(mended, func(func(string) bool) {})
	if err != nil || part.Taken != nil {
		return d, review
	}
	done, err := mended.Redo(again)
	if err != nil || !bytes.Equal(mended.Current().Data, review.Current().Data) {
		return d, review
	}
	mended.Supersede(review)
	return done, mended
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

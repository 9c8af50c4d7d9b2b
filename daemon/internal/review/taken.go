package review

import (
	"maps"
	"slices"

	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
)

// This file takes back accepts of conflicts. An accept is made in the file's review, and the edits that follow from it in a buffer.

// retraceAccepts is retrace for a way with accepts of conflicts. It returns false if there are none, or if the review has moved on.
func (r *Reviewer) retraceAccepts(f *file, b *buffer, steps []decisionlog.Step) bool {
	trial, found, rest := f.review.Copy(), false, []decisionlog.Step(nil)
	for _, t := range steps {
		err := error(nil)
		switch {
		case !t.Decision.Accept || len(t.Conflicts) == 0:
			rest = append(rest, t)
			continue
		case t.Undo:
			err = trial.Undo(t.Decision)
		default:
			_, err = trial.Redo(t.Decision)
		}
		if found = true; err != nil {
			return false
		}
	}
	if !found {
		return false
	}
	b.findBase(f, b.text(f))
	for _, t := range steps {
		if !t.Undo {
			f.reopen(t.Conflicts, false)
		}
	}
	f.review = trial
	for _, t := range steps {
		if t.Undo {
			f.reopen(t.Conflicts, true)
		}
		r.setUndone(f, t.Group, t.Undo)
	}
	b.steps.Add(rest...)
	return true
}

// undo undoes a decision in a file that no buffer decides about. Conflicts of an accept are open again in a text that still has the
// person's lines unsaved. Else the agent's lines become a change of the person's.
func (f *file) undo(review *diffs.Review, part *decisionlog.File) (diffs.Decision, error) {
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
			if !threeway.Has(mine, at, c.Theirs) || f.keepsUnsaved(mine, at, c.Mine) {
				return part.Decision, nil
			}
		}
		ids = append(ids, touched(places, threeway.Span{From: above.From, To: at.To})...)
		mine = threeway.Replace(mine, threeway.Span{From: above.From, To: at.To}, c.Mine...)
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
	part.Conflicts, part.Taken, part.Was, part.Then = nil, nil, "", "" // it is an accept of plain hunks now
	return again, nil                                                  // for a redo
}

// keepsUnsaved reports whether a text, unlike the disk, has lines above those of a span of the disk.
func (f *file) keepsUnsaved(disk string, at threeway.Span, lines []string) bool {
	return len(lines) > 0 && slices.ContainsFunc(slices.Collect(maps.Values(f.buffers)), func(b *buffer) bool {
		text := b.text(f)
		there, _ := threeway.Moved(at, diffs.LineEdits(disk, text))
		return threeway.Has(text, there.Above(len(lines)), lines)
	})
}

// findBase finds what the buffer's text and the disk had in common when the text became unsaved, if it is not known yet.
func (b *buffer) findBase(f *file, text string) {
	if b.beneath != nil {
		return
	}
	disk := f.review.Current()
	var known *string
	if k := b.doc.Known; k != nil {
		like := editorfile.LikeFile(string(k.Data), disk.Data)
		known = &like
	}
	b.beneath = threeway.New(threeway.Base(known, string(f.review.Baseline().Data), string(disk.Data), text))
}

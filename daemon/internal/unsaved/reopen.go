package unsaved

import (
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
)

// This file opens conflicts again: when an accept is taken back, and when an unsaved text comes back. An accept is made in the file's
// review, and the edits that follow from it in a buffer.

// retraceAccepts is retrace for a way with accepts of conflicts. It returns false if there are none, or if the review has moved on.
func (b *Buffer) retraceAccepts(steps []decisionlog.Step) bool {
	f := b.f
	trial, found, rest := f.Review.Copy(), false, []decisionlog.Step(nil)
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
	b.findBase(b.Text())
	for _, t := range steps {
		if !t.Undo {
			f.Reopen(t.Conflicts, false)
		}
	}
	f.Review = trial
	for _, t := range steps {
		if t.Undo {
			f.Reopen(t.Conflicts, true)
		}
		f.Owner.SetUndone(t.Group, t.Undo)
	}
	b.steps.Add(rest...)
	return true
}

// Undo undoes a decision in a file that no buffer decides about, and returns what a redo decides. Conflicts of an accept of both sides
// are open again while a text is unsaved. Other lines of the agent become a change of the person's.
func (f *File) Undo(review *diffs.Review, part *decisionlog.File) (diffs.Decision, error) {
	if part.Decision.Accept && (!keepsBoth(part) || len(f.Buffers) == 0) && part.Finish(review) {
		part.Before, part.After = "", ""
	}
	return part.Decision, review.Undo(part.Decision)
}

// finishAccepts makes the accepts of conflicts that a save has made final decisions about hunks with both sides. It returns the file's
// review then, and whether there were any, and any of both sides.
func (f *File) finishAccepts() (review *diffs.Review, any, both bool) {
	review = f.Review.Copy()
	f.Owner.FinishConflicts(func(_ uint64, part *decisionlog.File) bool {
		kept := keepsBoth(part)
		finished := part.Decision.Accept && part.Finish(review)
		any, both = any || finished, both || finished && kept
		return finished
	})
	return review, any, both
}

// keepsBoth reports whether a decision has kept the person's lines above the agent's.
func keepsBoth(part *decisionlog.File) bool {
	return slices.ContainsFunc(part.Resolved, func(c decisionlog.ResolvedConflict) bool { return c.Both })
}

// finishSteps makes steps in review, which a save has made final, and the rejects of conflicts among them decisions about hunks with both
// sides. It returns review then, and whether there were such rejects.
func (f *File) finishSteps(review *diffs.Review, steps []decisionlog.Step) (then *diffs.Review, any bool) {
	for i, s := range steps {
		finished, undone := false, decisionlog.Later(steps[i+1:], s)
		f.Owner.FinishConflicts(func(n uint64, part *decisionlog.File) bool {
			if n != s.Group || undone || part.Decision.Accept || !part.Finish(review) {
				return false
			}
			finished, any = true, true
			return true
		})
		if !finished {
			review = decisionlog.Stem(review, steps[i:i+1])
		}
	}
	return review, any
}

// AcceptText returns the client's text as the undo or the redo of an accept of conflicts leaves it: with the person's lines again, or with
// the agent's. It returns false if the text does not have the lines. review is the file's with the decision taken back.
func (b *Buffer) AcceptText(review *diffs.Review, part *decisionlog.File, undo bool) (text string, ok bool) {
	if b == nil || b.beneath == nil || b.EditsInFlight || len(part.Resolved) == 0 || !part.Decision.Accept {
		return "", false
	}
	disk, places := string(review.Current().Data), review.Places()
	text = b.Text()
	for _, c := range part.Resolved { // the last in the file first
		i := slices.IndexFunc(places, func(p diffs.Place) bool { return p.ID == c.Hunks[0] })
		if i < 0 {
			return "", false
		}
		from := places[i].From - c.At
		there, _ := threeway.Moved(threeway.Span{From: from, To: from + len(c.Theirs)}, diffs.LineEdits(disk, b.Text()))
		old, now := c.Mine, c.Lines()
		if undo {
			old, now = now, old
		}
		first := there.From
		there.From = there.To - len(old)
		for there.From > first && !threeway.Has(text, there, old) { // other lines were typed behind them
			there.From, there.To = there.From-1, there.To-1
		}
		if !threeway.Has(text, there, old) {
			return "", false
		}
		text = threeway.Replace(text, there, now...)
	}
	return text, true
}

// SendAcceptText returns the edits that lead to the text that AcceptText has returned, and notes the sums of the texts in the decision.
func (b *Buffer) SendAcceptText(part *decisionlog.File, undo bool, text string) (edits *api.DocumentEdits, back func()) {
	before, known := *b, *b.beneath
	was, then := decisionlog.Sum(b.Text()), decisionlog.Sum(text)
	if part.Before, part.After = was, then; undo {
		part.Before, part.After = then, was
	}
	edits = b.edit(text) // before the look, which would find that the text has the agent's lines
	b.acceptInFlight = b.EditsInFlight
	b.Remake()
	return edits, func() { *b, *before.beneath = before, known }
}

// findBase finds what the buffer's text and the disk had in common when the text became unsaved, if it is not known yet.
func (b *Buffer) findBase(text string) {
	f := b.f
	if b.beneath != nil {
		return
	}
	if f.Apart != nil && (b.Doc.Known == nil || f.Apart.sum == decisionlog.Sum(text)) {
		b.beneath = threeway.New(f.Apart.Base)
		return
	}
	disk := f.Review.Current()
	var known *string
	if k := b.Doc.Known; k != nil {
		like := editorfile.LikeFile(string(k.Data), disk.Data, false)
		known = &like
	}
	b.beneath = threeway.New(threeway.Base(known, string(f.Review.Baseline().Data), string(disk.Data), text))
}

// An Apart is what an unsaved text with conflicts and the disk had in common. It is kept until a save, because the text may come back:
// to the next daemon, and by the editor's undo after it has read the file.
type Apart struct{ sum, Base string } // the sum of the text; "" if another daemon knew it

// remember keeps what the buffer's text and the disk have in common, if they have conflicts.
func (b *Buffer) remember() {
	f := b.f
	if len(b.Conflicts) == 0 {
		return
	}
	base := b.beneath.Common()
	f.Unstored = f.Unstored || f.Apart == nil || f.Apart.Base != base
	f.Apart = &Apart{decisionlog.Sum(b.Text()), base}
}

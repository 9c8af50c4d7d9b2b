package unsaved

import (
	"slices"

	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
)

// This file follows an editor's own undo and redo.

// SetDecision notes the decision that a buffer's change was made for. again is true for an undo or a redo.
func (b *Buffer) SetDecision(g *decisionlog.Group, part decisionlog.File, again bool) {
	t := b.stepInFlight
	t.Group, t.Decision, t.Conflicts, t.Undo, t.Again = g.N, part.Decision, part.Conflicts, g.Undone, again
	if t.Before == "" { // no edits are on their way
		b.steps.Add(*t)
		b.stepInFlight = nil
	}
}

// madeAndUndone reports whether a client that reports text in now may have made the edits on their way to it, and taken them back, since
// the last look: it has the old text again, and has changed it twice.
func (b *Buffer) madeAndUndone(now *documents.Document, text string) bool {
	return now.Version >= b.Doc.Version+2 && text == b.Text()
}

// madeBefore is madeAndUndone for a document that is not unsaved any more, and also reports whether the client has just saved the edits. Only
// half of the save may be on disk: the look at the rest makes the decision again.
func (b *Buffer) madeBefore(now *documents.Document, disk string) bool {
	text := disk
	if now.Known != nil {
		text = string(now.Known.Data)
	}
	return b.madeAndUndone(now, text) || b.stepInFlight != nil && b.stepInFlight.After == decisionlog.Sum(text)
}

// finishStep takes in the client's next text after edits were sent to it, in a report or on disk; old is the text for which
// they were made. A decision that was made and undone can be made again.
func (b *Buffer) finishStep(old, now string, undone bool) {
	t := *b.stepInFlight
	b.stepInFlight = nil
	switch {
	case undone:
		b.steps.Add(t)
		b.retrace()
	case b.Review != nil && threeway.Nearer(now, string(b.f.RealOf(b.Review).Data), old):
		b.steps.Add(t)
	default:
		b.unmake(t)
		if !t.Again {
			b.f.Owner.Forget(t.Group)
		}
	}
}

// retrace notices that the editor's own undo or redo has led to a text from before or after decisions, in the buffer or on disk.
func (b *Buffer) retrace() {
	f, text := b.f, b.Text()
	sum := decisionlog.Sum(text)
	back, again, found := b.steps.Find(sum)
	for _, t := range back {
		f.Reopen(t.Conflicts, !t.Undo)
		b.unmake(t)
	}
	for _, t := range again {
		f.Reopen(t.Conflicts, t.Undo)
		f.Owner.SetUndone(t.Group, t.Undo)
	}
	if found {
		return
	}
	for _, undo := range []bool{true, false} {
		steps := f.Owner.Steps(sum, undo)
		if b.retraceAccepts(steps) {
			return
		}
		if len(steps) == 0 || string(f.RealOf(decisionlog.Stem(b.Stem(), steps)).Data) != text {
			continue
		}
		for _, t := range steps {
			f.Owner.SetUndone(t.Group, t.Undo)
		}
		b.steps.Add(steps...)
		return
	}
}

// regain takes rejects back whose lines the text has again, beside other changes: the editor has read the file, or its undo has led back.
// Then the lines are the agent's, and not typed.
func (b *Buffer) regain() {
	saved := b.f.Owner.Rejects()
	if b.f.Isolated || len(saved)+len(b.steps.Made()) == 0 {
		return
	}
	now := diffs.Content{Exists: true, Data: []byte(b.Text())}
	stem := b.Stem()
	typed := stem.Typed(now)
	for i, t := range slices.Backward(b.steps.Made()) {
		if t.Undo || decisionlog.Later(b.steps.Made()[i+1:], t) || !stem.Regained(t.Decision, now, typed) {
			continue
		}
		b.steps.Drop(i)
		b.f.Reopen(t.Conflicts, true)
		b.unmake(t)
		stem = b.Stem()
	}
	for _, t := range slices.Backward(saved) {
		if !decisionlog.Later(b.steps.All(), t) && stem.Regained(t.Decision, now, typed) {
			t.After = decisionlog.Sum(b.Text())
			b.steps.Add(t)
			b.f.Owner.SetUndone(t.Group, true)
			stem = b.Stem()
		}
	}
}

// leave takes back in the log what a buffer that no longer exists has decided, or taken back. Decisions of a client that has closed the
// text are forgotten; one that has loaded it anew can make them again, also those
// whose edits are on their way, if it may have made them.
func (b *Buffer) leave(closed, made bool) {
	if t := b.stepInFlight; t != nil { // the client did not make its edits, has undone them, or has saved them
		b.unmake(*t)
		if !t.Again && !made {
			b.f.Owner.Forget(t.Group)
		}
	}
	for _, t := range slices.Backward(b.steps.Made()) {
		b.unmake(t)
	}
	for _, t := range b.steps.All() {
		if closed && !t.Again {
			b.f.Owner.Forget(t.Group)
		}
	}
}

// unmake notes in the log that a step was taken back.
func (b *Buffer) unmake(t decisionlog.Step) { b.f.Owner.SetUndone(t.Group, !t.Undo) }

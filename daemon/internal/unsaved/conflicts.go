package unsaved

import (
	"maps"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
	"cursord/sessions"
)

// This file merges a client's unsaved text with the changes that an agent has written to the file beneath it.

// A Conflict is a place that a person has changed in a buffer and an agent on disk.
type Conflict struct {
	threeway.Place
	IDs   []uint64 // hunks of the file's review; the conflict has the id of the first
	inner []uint64 // hunks of the buffer's review that are what the person has left of these
}

// lookBeneath compares the file with the buffer's text and finds conflicts.
func (b *Buffer) lookBeneath(text string) {
	f := b.f
	places := f.Review.Places()
	if f.Isolated || b.beneath == nil && len(places) == 0 || b.Doc.Base.Unreadable != "" {
		return
	}
	disk := f.Review.Current()
	b.findBase(text)
	var together []threeway.Span
	for _, p := range places {
		together = append(together, threeway.Span{From: p.From, To: p.To})
	}
	b.beneath.See(string(disk.Data), text, together)
	for _, c := range b.beneath.Conflicts {
		if ids := touched(places, c.Disk); len(ids) == 0 {
			b.overlaps++
		} else if !b.HasDecisions() || b.Stem().Fingerprint(ids[0]) != "" {
			b.Conflicts = append(b.Conflicts, Conflict{Place: c, IDs: ids, inner: b.inside(c.Text, places)})
		}
	}
}

// inside returns the hunks of the buffer's review in a span of its text that the file's review, with hunks at places, does not have.
func (b *Buffer) inside(s threeway.Span, places []diffs.Place) (ids []uint64) {
	if b.Review == nil {
		return nil
	}
	for _, id := range touched(b.Review.Places(), s) {
		if !slices.ContainsFunc(places, func(p diffs.Place) bool { return p.ID == id }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Reopen makes decided conflicts open in the buffers, or with open false, decided again.
func (f *File) Reopen(ids []uint64, open bool) {
	if len(ids) == 0 {
		return
	}
	disk, before := string(f.Review.Current().Data), string(f.Review.Baseline().Data)
	old := map[uint64][]string{}
	for _, p := range f.Review.OldPlaces() {
		old[p.ID] = threeway.Lines(before, threeway.Span{From: p.From, To: p.To})
	}
	for _, b := range f.Buffers {
		if b.beneath == nil {
			continue
		}
		for _, p := range slices.Backward(f.Review.Places()) {
			if open && slices.Contains(ids, p.ID) {
				b.beneath.Reopen(threeway.Span{From: p.From, To: p.To}, disk, old[p.ID]...)
			}
		}
		for _, c := range slices.Backward(b.Conflicts) {
			if !open && slices.Contains(ids, c.IDs[0]) {
				b.beneath.Resolve(c.Place, disk)
			}
		}
	}
}

// touched returns the hunks that are in a span, or at its edge.
func touched(places []diffs.Place, s threeway.Span) (ids []uint64) {
	for _, p := range places {
		if s.Touches(threeway.Span{From: p.From, To: p.To}) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// Conflict returns the conflict that a hunk of the file's review is part of, or nil.
func (b *Buffer) Conflict(id uint64) *Conflict {
	if b == nil {
		return nil
	}
	for i := range b.Conflicts {
		if c := &b.Conflicts[i]; slices.Contains(c.IDs, id) || slices.Contains(c.inner, id) {
			return c
		}
	}
	return nil
}

// Fingerprint returns the fingerprint of a hunk as a client sees it.
func (f *File) Fingerprint(client api.ClientID, id uint64) string {
	if f.Buffers[client].Conflict(id) != nil {
		return "conflict " + f.Review.Fingerprint(id)
	}
	return f.Seen(client).Fingerprint(id)
}

// addConflicts adds a buffer's conflicts to its diff, and the count of changes that can be merged.
func (b *Buffer) addConflicts(diff *sessions.Diff) {
	f := b.f
	if b.beneath == nil || f.Isolated || b.gone {
		return
	}
	diff.Overlaps = b.overlaps
	switch {
	case b.EditsInFlight:
	case len(f.Review.Places()) > 0:
		diff.Mergeable = b.beneath.Offered
	default: // no more of the agent's is pending, and other programs' changes stay on disk
		diff.Overlaps += b.beneath.Offered
	}
	if len(b.Conflicts) == 0 {
		return
	}
	disk, text := string(f.Review.Current().Data), b.Text()
	onDisk := f.Owner.Diff(f.Review)
	var found []sessions.Hunk
	diff.Hunks = slices.DeleteFunc(slices.Clone(diff.Hunks), func(h sessions.Hunk) bool {
		return slices.ContainsFunc(b.Conflicts, func(c Conflict) bool {
			return slices.ContainsFunc(c.inner, func(id uint64) bool { return f.Owner.HunkID(id) == h.ID })
		})
	})
	for _, c := range b.Conflicts {
		h := diffshape.Conflict(threeway.Lines(text, c.Text), threeway.Lines(disk, c.Disk), c.Text.From)
		for _, id := range c.IDs {
			i := slices.IndexFunc(onDisk.Hunks, func(h sessions.Hunk) bool { return h.ID == f.Owner.HunkID(id) })
			h.Parts = append(h.Parts, onDisk.Hunks[i])
		}
		found = append(found, h.Hunk())
	}
	diffshape.AddConflicts(diff, found)
}

// An Outcome is what became of a decision in a buffer.
type Outcome struct {
	diffs.Decision
	Edits         *api.DocumentEdits             // for the client; nil if its text stays
	Conflicts     []uint64                       // its hunks that were conflicts
	Resolved      []decisionlog.ResolvedConflict // these
	Before, After string                         // the sums of the texts before and after an accept of conflicts
}

// Count returns how many hunks a decision about so many chosen ones has decided, as the client has seen them: a conflict is one, whatever
// parts it has.
func (o *Outcome) Count(done diffs.Decision, chosen int) int {
	if len(o.Conflicts) > 0 {
		return chosen
	}
	return len(done.Hunks)
}

// DecideConflicts decides hunks with conflicts. An accept brings the agent's lines into the buffer: in the place of the person's or,
// with both, behind them. A reject leaves the buffer as it is.
func (b *Buffer) DecideConflicts(ids []uint64, accept, alsoMine bool) (out Outcome, err error) {
	f := b.f
	disk, text := string(f.Review.Current().Data), b.Text()
	known := *b.beneath
	var rest []uint64
	all, places := slices.Clone(ids), f.Review.Places()
	taken, both := text, text
	for _, one := range slices.Backward(b.Conflicts) {
		if !slices.ContainsFunc(ids, func(id uint64) bool { return slices.Contains(one.IDs, id) }) {
			continue
		}
		for _, id := range one.IDs {
			if out.Conflicts = append(out.Conflicts, id); !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
		mine, theirs := threeway.Lines(text, one.Text), threeway.Lines(disk, one.Disk)
		first := slices.IndexFunc(places, func(p diffs.Place) bool { return p.ID == one.IDs[0] })
		out.Resolved = append(out.Resolved, decisionlog.ResolvedConflict{
			Hunks: one.IDs, Over: f.Review.Over(one.Disk.From, one.Disk.To), Mine: mine, Theirs: theirs, Both: alsoMine, At: places[first].From - one.Disk.From,
		})
		taken = threeway.Replace(taken, one.Text, theirs...)
		both = threeway.Replace(both, one.Text, slices.Concat(mine, theirs)...)
		b.beneath.Resolve(one.Place, disk)
	}
	for _, id := range ids {
		if b.Conflict(id) == nil {
			rest = append(rest, id)
		}
	}
	if accept {
		if alsoMine {
			taken = both
		}
		if out.Decision, err = f.Review.Decide(all, true, nil); err != nil {
			*b.beneath = known
			return out, f.Owner.Refused(err)
		}
		b.Remake()
		out.Before, out.After, out.Edits = decisionlog.Sum(text), decisionlog.Sum(taken), b.edit(taken)
		b.acceptInFlight = b.EditsInFlight
		return out, nil
	}
	out.Edits, err = b.Change(func(review *diffs.Review) error {
		if len(rest) > 0 {
			if _, err := review.Decide(rest, false, nil); err != nil {
				return err
			}
		}
		left := review.Current()
		stem := b.Stem()
		*review = *stem.Copy()
		with := left
		with.Data = []byte(both)
		review.Observe(with, nil) // what the person has left of a hunk's old lines changes its id
		if out.Decision, err = review.DecideFrom(stem, all, false, nil); err == nil {
			review.Observe(left, nil)
			parts := out.Decision.Parts(stem, out.Conflicts)
			out.Conflicts = append(out.Conflicts, slices.DeleteFunc(parts, func(id uint64) bool { return slices.Contains(out.Conflicts, id) })...)
		}
		return err
	})
	if err != nil {
		*b.beneath = known
	}
	return out, err
}

// UnsavedConflict reports whether a hunk conflicts with the unsaved text of any client.
func (f *File) UnsavedConflict(id uint64) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(f.Buffers)), func(b *Buffer) bool { return b.Conflict(id) != nil })
}

// edit returns the edits that make the client's text equal to text (in the file's form), and waits for them; nil if it is.
func (b *Buffer) edit(text string) *api.DocumentEdits {
	edits := editorfile.Edits(b.Doc.Text, b.Doc.Form.Text(text))
	if len(edits) == 0 {
		return nil
	}
	b.EditsInFlight = true
	return &api.DocumentEdits{Path: b.f.Owner.RealPath(), Version: b.Doc.Version, Edits: edits}
}

// TakeSaved takes in the save of a buffer. Decisions made in it become decisions of the file. Hunks that the saved text lacks, because a
// person has removed them or never had them, become rejected, by a decision that it returns; nil if there are none. It returns false if
// nothing was decided.
func (f *File) TakeSaved(docs *documents.Set, b *Buffer, disk atomicfile.State) (rejected *diffs.Decision, took bool) {
	b.f = f // a save in a call may be older than the review
	text := string(disk.Data)
	decided := b.HasDecisions() && b.rev == f.Review.Rev()
	exact := decided && disk.Same(atomicfile.State{Content: f.RealOf(b.Review)})
	if b.stepInFlight != nil && decided && !exact { // the file was saved before a report of the text
		b.finishStep(b.Text(), text, false)
	}
	typed := decided && !exact && b.HasDecisions() && b.like(disk) // the client has typed something since its last report
	var steps []decisionlog.Step
	if decided {
		steps = b.made()
	}
	var unseen, seen []uint64
	var sides []diffs.Side
	b.Conflicts = nil
	places := f.Review.Places()
	for _, p := range places {
		seen = append(seen, p.ID)
	}
	if b.lookBeneath(text); b.beneath != nil {
		for _, c := range b.beneath.Unmerged {
			unseen = append(unseen, touched(places, c.Disk)...)
		}
		if b.Doc.Known == nil && !b.beneath.Sure { // the base is a guess: the editor may never have had the hunks that the text lacks
			unseen = seen
		}
	}
	for _, c := range b.Conflicts {
		sides = append(sides, diffs.Side{Over: f.Review.Over(c.Disk.From, c.Disk.To), Mine: threeway.Lines(text, c.Text)})
	}
	before := f.Review
	accepts, settled, both := f.finishAccepts()
	review := decisionlog.Stem(accepts, steps)
	if exact || typed {
		then, rejects := f.finishSteps(accepts.Copy(), steps)
		review, settled = then, settled || rejects
	}
	if !f.Isolated {
		if done, rejects := review.Overwrite(disk.Content, unseen, seen, sides...); rejects {
			rejected = &done
		}
	}
	switch {
	case rejected == nil && exact && !settled:
		f.Review = b.Review
	case rejected != nil || typed || exact:
		f.Review = review
		f.Review.Supersede(before)
	default:
		if settled {
			f.Review = accepts
			f.Review.Supersede(before)
			if f.Apart != nil && both { // if the text from before comes back, the person's lines are on disk, too
				f.Apart, f.Unstored = &Apart{f.Apart.sum, text}, true
			}
		}
		return nil, false
	}
	f.Apart, f.Unstored = nil, f.Unstored || f.Apart != nil
	if !typed || b.Text() == text { // else the next report says whether the client has saved
		docs.Saved(b.Doc)
	}
	if f.Buffers[b.Doc.Client] == b {
		delete(f.Buffers, b.Doc.Client)
	}
	f.Owner.Viewed()
	return rejected, true
}

// like reports whether the disk is more like the buffer, after its decisions, than like the file's last content. It is not if
// the editor's undo has taken the decisions back.
func (b *Buffer) like(disk atomicfile.State) bool {
	f := b.f
	return !f.Isolated && threeway.Nearer(string(disk.Data), string(f.RealOf(b.Review).Data), string(f.Real().Data))
}

// Merge returns the edits that bring changes on disk into other lines of the client's text; nil if there are none.
func (b *Buffer) Merge() *api.DocumentEdits {
	if b == nil || b.gone || b.beneath == nil || b.beneath.Offered == 0 {
		return nil // while the file is gone, the latest merge is of an older text
	}
	// The client sees the merged hunks, and the conflicts beside them, when it has reported the edited text.
	return b.edit(b.beneath.Send())
}

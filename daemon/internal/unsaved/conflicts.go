package unsaved

import (
	"maps"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/diffshape"
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
	known := *b.beneath
	c := b.choose(ids, alsoMine)
	if accept {
		out, err = b.acceptConflicts(c, alsoMine)
	} else {
		out, err = b.rejectConflicts(c)
	}
	if err != nil {
		*b.beneath = known
	}
	return out, err
}

// A conflictChoice is what a decision with conflicts is about, and the texts that it may lead to.
type conflictChoice struct {
	hunks    []uint64 // all of the decision's, with each part of the conflicts
	parts    []uint64 // those that are in conflicts
	plain    []uint64 // the others
	resolved []decisionlog.ResolvedConflict
	theirs   string // the buffer's text with the agent's lines in the place of the person's
	both     string // the same with the agent's lines behind the person's
}

// choose finds the conflicts among hunks, and takes in that they are decided.
func (b *Buffer) choose(ids []uint64, alsoMine bool) conflictChoice {
	disk, text := string(b.f.Review.Current().Data), b.Text()
	c := conflictChoice{hunks: slices.Clone(ids), theirs: text, both: text}
	places := b.f.Review.Places()
	for _, one := range slices.Backward(b.Conflicts) {
		if !slices.ContainsFunc(ids, func(id uint64) bool { return slices.Contains(one.IDs, id) }) {
			continue
		}
		for _, id := range one.IDs {
			if c.parts = append(c.parts, id); !slices.Contains(c.hunks, id) {
				c.hunks = append(c.hunks, id)
			}
		}
		mine, theirs := threeway.Lines(text, one.Text), threeway.Lines(disk, one.Disk)
		first := slices.IndexFunc(places, func(p diffs.Place) bool { return p.ID == one.IDs[0] })
		c.resolved = append(c.resolved, decisionlog.ResolvedConflict{
			Hunks: one.IDs, Over: b.f.Review.Over(one.Disk.From, one.Disk.To), Mine: mine, Theirs: theirs, Both: alsoMine,
			At: places[first].From - one.Disk.From,
		})
		c.theirs = threeway.Replace(c.theirs, one.Text, theirs...)
		c.both = threeway.Replace(c.both, one.Text, slices.Concat(mine, theirs)...)
		b.beneath.Resolve(one.Place, disk)
	}
	for _, id := range ids {
		if b.Conflict(id) == nil {
			c.plain = append(c.plain, id)
		}
	}
	return c
}

// acceptConflicts makes an accept in the file's review, and brings its lines into the buffer by edits.
func (b *Buffer) acceptConflicts(c conflictChoice, alsoMine bool) (out Outcome, err error) {
	out.Conflicts, out.Resolved = c.parts, c.resolved
	text, then := b.Text(), c.theirs
	if alsoMine {
		then = c.both
	}
	if out.Decision, err = b.f.Review.Decide(c.hunks, true, nil); err != nil {
		return out, b.f.Owner.Refused(err)
	}
	b.Remake()
	out.Before, out.After, out.Edits = decisionlog.Sum(text), decisionlog.Sum(then), b.edit(then)
	b.acceptInFlight = b.EditsInFlight
	return out, nil
}

// rejectConflicts makes a reject in the buffer. Only the hunks without a conflict change its text.
func (b *Buffer) rejectConflicts(c conflictChoice) (out Outcome, err error) {
	out.Conflicts, out.Resolved = c.parts, c.resolved
	out.Edits, err = b.Change(func(review *diffs.Review) error {
		if len(c.plain) > 0 {
			if _, err := review.Decide(c.plain, false, nil); err != nil {
				return err
			}
		}
		left := review.Current()
		stem := b.Stem()
		*review = *stem.Copy()
		with := left
		with.Data = []byte(c.both)
		review.Observe(with, nil) // what the person has left of a hunk's old lines changes its id
		if out.Decision, err = review.DecideFrom(stem, c.hunks, false, nil); err == nil {
			review.Observe(left, nil)
			parts := out.Decision.Parts(stem, out.Conflicts)
			out.Conflicts = append(out.Conflicts, slices.DeleteFunc(parts, func(id uint64) bool { return slices.Contains(out.Conflicts, id) })...)
		}
		return err
	})
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

// Merge returns the edits that bring changes on disk into other lines of the client's text; nil if there are none.
func (b *Buffer) Merge() *api.DocumentEdits {
	if b == nil || b.gone || b.beneath == nil || b.beneath.Offered == 0 {
		return nil // while the file is gone, the latest merge is of an older text
	}
	// The client sees the merged hunks, and the conflicts beside them, when it has reported the edited text.
	return b.edit(b.beneath.Send())
}

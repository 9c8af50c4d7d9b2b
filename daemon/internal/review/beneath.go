package review

import (
	"context"
	"maps"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/threeway"
	"cursord/daemon/internal/waiting"
	"cursord/diffs"
	"cursord/sessions"
)

// This file merges a client's unsaved text with the changes that an agent has written to the file beneath it.

// A conflict is a place that a person has changed in a buffer and an agent on disk.
type conflict struct {
	threeway.Place
	ids []uint64 // hunks of the file's review; the conflict has the id of the first
}

// lookBeneath compares the file with the buffer's text and finds conflicts.
func (b *buffer) lookBeneath(f *file, text string) {
	places := f.review.Places()
	if f.tree.isolated() || b.beneath == nil && len(places) == 0 || b.doc.Base.Unreadable != "" {
		return
	}
	disk := f.review.Current()
	b.findBase(f, text)
	var together []threeway.Span
	for _, p := range places {
		together = append(together, threeway.Span{From: p.From, To: p.To})
	}
	b.beneath.See(string(disk.Data), text, together)
	for _, c := range b.beneath.Conflicts {
		if ids := touched(places, c.Disk); len(ids) == 0 {
			b.overlaps++
		} else if !b.decided() || b.stem(f).Fingerprint(ids[0]) != "" {
			b.conflicts = append(b.conflicts, conflict{c, ids})
		}
	}
}

// reopen makes decided conflicts open in the buffers, or with open false, decided again.
func (f *file) reopen(ids []uint64, open bool) {
	if len(ids) == 0 {
		return
	}
	disk, before := string(f.review.Current().Data), string(f.review.Baseline().Data)
	old := map[uint64][]string{}
	for _, p := range f.review.OldPlaces() {
		old[p.ID] = threeway.Lines(before, threeway.Span{From: p.From, To: p.To})
	}
	for _, b := range f.buffers {
		if b.beneath == nil {
			continue
		}
		for _, p := range slices.Backward(f.review.Places()) {
			if open && slices.Contains(ids, p.ID) {
				b.beneath.Unsettle(threeway.Span{From: p.From, To: p.To}, disk, old[p.ID]...)
			}
		}
		for _, c := range slices.Backward(b.conflicts) {
			if !open && slices.Contains(ids, c.ids[0]) {
				b.beneath.Settle(c.Place, disk)
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

// conflict returns the conflict that a hunk of the file's review is part of, or nil.
func (b *buffer) conflict(id uint64) *conflict {
	if b == nil {
		return nil
	}
	for i := range b.conflicts {
		if slices.Contains(b.conflicts[i].ids, id) {
			return &b.conflicts[i]
		}
	}
	return nil
}

// fingerprint returns the fingerprint of a hunk as a client sees it.
func (f *file) fingerprint(client api.ClientID, id uint64) string {
	if f.buffers[client].conflict(id) != nil {
		return "conflict " + f.review.Fingerprint(id)
	}
	return f.seen(client).Fingerprint(id)
}

// addConflicts adds a buffer's conflicts to its diff, and the count of changes that can be merged.
func (r *Reviewer) addConflicts(f *file, b *buffer, diff *sessions.Diff) {
	if b.beneath == nil || f.tree.isolated() {
		return
	}
	diff.Overlaps = b.overlaps
	switch {
	case b.sent:
	case len(f.review.Places()) > 0:
		diff.Mergeable = b.beneath.Offered
	default: // no more of the agent's is pending, and other programs' changes stay on disk
		diff.Overlaps += b.beneath.Offered
	}
	if len(b.conflicts) == 0 {
		return
	}
	disk, text := string(f.review.Current().Data), b.text(f)
	onDisk := r.diffOf(f)
	var found []sessions.Hunk
	for _, c := range b.conflicts {
		h := diffshape.Conflict(threeway.Lines(text, c.Text), threeway.Lines(disk, c.Disk), c.Text.From)
		for _, id := range c.ids {
			i := slices.IndexFunc(onDisk.Hunks, func(h sessions.Hunk) bool { return h.ID == diffshape.HunkID(f.n, id) })
			h.Parts = append(h.Parts, onDisk.Hunks[i])
		}
		found = append(found, h.Hunk())
	}
	diffshape.AddConflicts(diff, found)
}

// decideConflicts is decideInBuffer for a choice with conflicts. An accept brings the agent's lines into the buffer: in the
// place of the person's or, with dec.Both, behind them. A reject leaves the buffer as it is.
func (r *Reviewer) decideConflicts(c *choice, dec api.Decision) (done diffs.Decision, edits *api.DocumentEdits, err error) {
	f, b := c.f, c.buffer
	disk, text := string(f.review.Current().Data), b.text(f)
	known, keep := *b.beneath, f.keep()
	var rest []uint64
	all, places := slices.Clone(c.ids), f.review.Places()
	taken, both := text, text
	for _, one := range slices.Backward(b.conflicts) {
		if !slices.ContainsFunc(c.ids, func(id uint64) bool { return slices.Contains(one.ids, id) }) {
			continue
		}
		for _, id := range one.ids {
			if c.conflicts = append(c.conflicts, id); !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
		mine, theirs := threeway.Lines(text, one.Text), threeway.Lines(disk, one.Disk)
		if dec.Accept {
			first := slices.IndexFunc(places, func(p diffs.Place) bool { return p.ID == one.ids[0] })
			c.taken = append(c.taken, decisionlog.Taken{Hunks: one.ids, Mine: mine, Theirs: theirs, At: places[first].From - one.Disk.From})
		}
		taken = threeway.Replace(taken, one.Text, theirs...)
		both = threeway.Replace(both, one.Text, slices.Concat(mine, theirs)...)
		b.beneath.Settle(one.Place, disk)
	}
	for _, id := range c.ids {
		if b.conflict(id) == nil {
			rest = append(rest, id)
		}
	}
	if dec.Accept {
		if dec.Both {
			taken = both
		}
		if done, err = f.review.Decide(all, true, nil); err != nil {
			*b.beneath = known
			return done, nil, r.decisionError(f, err)
		}
		b.remake(r, f)
		c.was, c.then = decisionlog.Sum(text), decisionlog.Sum(taken)
		return done, b.edit(f, taken), nil
	}
	edits, err = r.changeBuffer(f, b, func(review *diffs.Review) error {
		if len(rest) > 0 {
			if _, err := review.Decide(rest, false, nil); err != nil {
				return err
			}
		}
		left := review.Current()
		*review = *b.stem(f)
		with := left
		with.Data = []byte(both)
		review.Observe(with, nil)
		if done, err = review.Decide(all, false, nil); err == nil {
			review.Observe(left, nil)
		}
		return err
	})
	if err != nil {
		*b.beneath = known
		keep()
	}
	return done, edits, err
}

// conflicting returns the reason why a named hunk cannot be decided as requested; nil if it can be.
func (r *Reviewer) conflicting(c *choice, id uint64, dec api.Decision) error {
	inBuffer := c.buffer.conflict(id) != nil
	switch {
	case dec.Both && !inBuffer:
		return api.Invalid("both", "needs hunks of state conflict")
	case inBuffer && dec.Lines != nil:
		return api.Invalid("lines", "cannot be used with a hunk of state conflict")
	case inBuffer:
		return nil
	case dec.Accept && c.f.unsavedConflict(id):
		return &api.Error{
			Kind: api.KindConflict, Message: c.f.path + " has unsaved changes of the same lines in an editor",
			Hint: "decide there, or save it", Diff: r.shown(dec.Client, c.f.path),
		}
	}
	if err := c.review.Decidable(id, dec.Accept); err != nil {
		return r.decisionError(c.f, err)
	}
	return nil
}

// unsavedConflict reports whether a hunk conflicts with the unsaved text of any client.
func (f *file) unsavedConflict(id uint64) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(f.buffers)), func(b *buffer) bool { return b.conflict(id) != nil })
}

// chooseConflicts adds the buffer's conflicts to a reject of many hunks. An accept of many hunks skips them.
func (r *Reviewer) chooseConflicts(c *choice, dec api.Decision, skip func(uint64, error)) {
	for _, h := range c.f.review.Hunks() {
		switch one := c.buffer.conflict(h.ID); {
		case one == nil || one.ids[0] != h.ID || dec.TurnID != "" && !fromTurn(h, dec.TurnID):
		case dec.Accept:
			skip(h.ID, &api.Error{
				Kind: api.KindConflict, Message: "you and the agent have both changed these lines", Hint: "decide this hunk alone, as mine, the agent's or both",
			})
		default:
			c.ids = append(c.ids, h.ID)
		}
	}
}

// edit returns the edits that make the client's text equal to text (in the file's form), and waits for them; nil if it is.
func (b *buffer) edit(f *file, text string) *api.DocumentEdits {
	edits := editorfile.Edits(b.doc.Text, b.doc.Form.Text(text))
	if len(edits) == 0 {
		return nil
	}
	b.sent = true
	return &api.DocumentEdits{Path: f.realPath(), Version: b.doc.Version, Edits: edits}
}

// Merge answers with edits that bring changes on disk into other lines of a client's unsaved text.
func (r *Reviewer) Merge(ctx context.Context, client api.ClientID, path string, reply func(api.Decided, error)) {
	r.waiting.Take(ctx, reply, func(p *waiting.Request) bool {
		f := r.shared().files[r.named(path)]
		if f == nil || f.buffers[client] == nil {
			return r.refuse(p, client, api.Errorf(api.KindNotFound, "%s has no unsaved text in this client, or nothing to review", path))
		}
		if _, err := r.refresh(f); err != nil {
			return r.refuse(p, client, err)
		}
		b, err := r.buffer(f, client, true)
		if err != nil {
			return r.refuse(p, client, err)
		}
		var out api.Decided
		if b != nil && b.beneath != nil && b.beneath.Offered > 0 {
			// The client sees the merged hunks, and the conflicts beside them, when it has reported the edited text.
			if edits := b.edit(f, b.beneath.Send()); edits != nil {
				out.Edits = append(out.Edits, *edits)
			}
		}
		r.finish(client, []*file{f}, nil, out, p)
		return true
	})
}

// takeSave takes in the save of a buffer. Decisions made in the buffer become decisions of the file. Hunks beneath the
// buffer that the saved text lacks become rejected, which can be undone. It returns false if nothing was decided.
func (r *Reviewer) takeSave(f *file, disk atomicfile.State) bool {
	if doc := r.setup.Documents.Typed(r.absolute(f), disk); doc != nil && !f.tree.isolated() {
		r.bufferOf(f, doc) // its text may be newer than the latest look
	}
	b := r.savedBuffer(f, disk)
	if b == nil && !f.tree.isolated() {
		b = r.savedAs(f.path, disk.Content)
	}
	if b == nil || !r.takeSaved(f, b, disk) {
		return false
	}
	if !f.tree.isolated() {
		f.tree.updateSnapshots(f.path, disk)
	}
	return true
}

// takeSaved is takeSave for a known buffer.
func (r *Reviewer) takeSaved(f *file, b *buffer, disk atomicfile.State) bool {
	review, text := f.review.Copy(), string(disk.Data)
	decided := b.decided() && b.rev == f.review.Rev()
	exact := decided && disk.Same(atomicfile.State{Content: f.realOf(b.review)})
	if b.coming != nil && decided && !exact { // the file was saved before a report of the text
		r.arrived(f, b, b.text(f), text)
	}
	typed := decided && !exact && b.decided() && b.like(f, disk) // the client has typed something since its last report
	if decided {
		review = b.stem(f)
	}
	var unseen, seen []uint64
	b.conflicts = nil
	if b.lookBeneath(f, text); b.beneath != nil {
		places := f.review.Places()
		for _, c := range b.beneath.Unmerged {
			unseen = append(unseen, touched(places, c.Disk)...)
		}
		for _, s := range b.beneath.News(string(f.review.Current().Data)) {
			seen = append(seen, touched(places, s)...)
		}
		if b.doc.Known == nil { // the base is a guess: the editor may never have had the hunks that the text lacks
			for _, p := range places {
				unseen = append(unseen, p.ID)
			}
		}
	}
	before := *f
	var done diffs.Decision
	rejects := false
	if !f.tree.isolated() {
		done, rejects = review.Overwrite(disk.Content, unseen, seen)
	}
	switch {
	case rejects:
		words := r.words(&choice{f: f, review: before.review}, api.Decision{})
		f.review = review
		f.review.Supersede(before.review)
		g := &decisionlog.Group{Files: []decisionlog.File{{Path: f.path, N: f.n, Decision: done}}, Rejections: words.Of(done.Hunks)}
		r.ops = append(r.ops, r.log.Push(g)...)
		r.keepRejections(g)
	case exact:
		f.review = b.review
	case typed:
		f.review = review
		f.review.Supersede(before.review)
	default:
		return false
	}
	f.apart, f.moved = nil, f.moved || f.apart != nil
	if !typed || b.text(f) == text { // else the next report says whether the client has saved
		r.setup.Documents.Saved(b.doc)
	}
	if f.buffers[b.doc.Client] == b {
		delete(f.buffers, b.doc.Client)
	}
	r.viewed[f.path] = true
	return true
}

// like reports whether the disk is more like the buffer, after its decisions, than like the file's last content. It is not if
// the editor's undo has taken the decisions back.
func (b *buffer) like(f *file, disk atomicfile.State) bool {
	return !f.tree.isolated() && threeway.Nearer(string(disk.Data), string(f.realOf(b.review).Data), string(f.real().Data))
}

// savedBuffer returns the buffer whose text is on disk, or that its client has reported as saved; nil if there is none. A file
// that is more like a buffer with decisions than like its own last content has that buffer's text, with typing that the
// client has not reported yet.
func (r *Reviewer) savedBuffer(f *file, disk atomicfile.State) *buffer {
	var saved *buffer
	unsaved := r.setup.Documents.Unsaved(r.absolute(f))
	for client, b := range f.buffers {
		if !disk.Exists || disk.Target != "" || b.review == nil {
			continue
		}
		if b.text(f) == string(disk.Data) || b.decided() && disk.Same(atomicfile.State{Content: f.realOf(b.review)}) {
			return b
		}
		if b.decided() && b.rev == f.review.Rev() && b.like(f, disk) {
			saved = b
			continue
		}
		still := slices.ContainsFunc(unsaved, func(doc *documents.Document) bool { return doc.Client == client && (!b.sent || b.decided()) })
		if !still && r.setup.Documents.Has(client, b.doc.Path) {
			saved = b
		}
	}
	return saved
}

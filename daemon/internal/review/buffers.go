package review

import (
	"context"
	"path/filepath"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/unsaved"
	"cursord/daemon/internal/waiting"
	"cursord/diffs"
	"cursord/sessions"
)

// This file has what the reviewer makes of unsaved texts.

// An owner is the reviewer as the texts of a file see it.
type owner struct {
	r *Reviewer
	f *file
}

func (o owner) Diff(review *diffs.Review) *sessions.Diff { return o.r.diffOf(o.f, review) }

func (o owner) HunkID(id uint64) string { return diffshape.HunkID(o.f.n, id) }

func (o owner) RealPath() string { return o.f.realPath() }

func (o owner) Viewed() { o.r.viewed[o.f.path] = true }

func (o owner) Refused(err error) error { return o.r.stepError(o.f, err) }

func (o owner) Conflict(client api.ClientID, message, hint string) error {
	return &api.Error{Kind: api.KindConflict, Message: o.f.realPath() + message, Hint: hint, Diff: o.r.shown(client, o.f.path)}
}

func (o owner) Steps(sum string, undo bool) []decisionlog.Step {
	return o.r.log.Path(o.f.decidedIn, sum, undo)
}

func (o owner) Rejects() []decisionlog.Step { return o.r.log.Rejects(o.f.decidedIn) }

func (o owner) FinishConflicts(finish func(uint64, *decisionlog.File) bool) {
	o.r.ops = append(o.r.ops, o.r.log.FinishConflicts(o.f.decidedIn, finish)...)
}

func (o owner) Forget(n uint64) { o.r.ops = append(o.r.ops, o.r.log.Without(n, o.f.decidedIn)...) }

func (o owner) SetUndone(n uint64, undone bool) {
	g, ops := o.r.log.SetUndone(n, o.f.decidedIn, undone)
	switch o.r.ops = append(o.r.ops, ops...); {
	case g == nil:
	case g.Undone:
		o.r.setup.Loop.ForgetRejections(n)
	case !undone:
		o.r.keepRejections(g)
	}
}

func (r *Reviewer) syncBuffers(f *file) {
	held := len(f.Buffers) > 0
	f.Sync(r.setup.Documents, r.absolute(f))
	r.rewatch = r.rewatch || held != (len(f.Buffers) > 0)
}

// heldElsewhere returns an error if a change writes a path of the work tree that another client holds unsaved. A file's buffers are
// those of one path, and a move writes two.
func (r *Reviewer) heldElsewhere(client api.ClientID, c *treeChange) error {
	if c.in.Isolated() || !c.Writes() {
		return nil
	}
	for _, name := range []string{c.From, c.To} {
		docs := r.setup.Documents.Unsaved(filepath.Join(r.setup.Root, filepath.FromSlash(name)))
		if slices.ContainsFunc(docs, func(doc *documents.Document) bool { return doc.Client != client }) {
			return &api.Error{Kind: api.KindConflict, Message: name + unsaved.UnsavedThere, Hint: unsaved.HintThere, Diff: r.shown(client, c.From)}
		}
	}
	return nil
}

// decideInBuffer carries out a choice in a buffer. Instead of writing the file, it returns edits for the client.
func (r *Reviewer) decideInBuffer(c *choice, dec api.Decision) (out unsaved.Outcome, err error) {
	f, b, accept, lines := c.f, c.buffer, dec.Accept, diffshape.Range(dec.Lines)
	if slices.ContainsFunc(c.ids, func(id uint64) bool { return b.Conflict(id) != nil }) {
		return b.DecideConflicts(c.ids, dec.Accept, dec.Both)
	}
	decide := func() (unsaved.Outcome, error) {
		out.Edits, err = b.Change(func(review *diffs.Review) (err error) {
			out.Decision, err = c.decide(review, dec)
			return err
		})
		return out, err
	}
	if f.WritesReal(accept) {
		return decide()
	}
	undo := f.keep()
	out.Decision, err = f.Review.DecideFrom(b.Review, c.ids, accept, lines)
	if _, more := b.Stem().DecideFrom(b.Review, c.ids, accept, lines); b.HasDecisions() && more == nil {
		// A hunk whose decision was taken back in the buffer is pending only there.
		undo()
		return decide()
	}
	if err != nil {
		return out, r.decisionError(f, err)
	}
	if f.tree.Isolated() {
		if err := r.write(f, r.change(f, c.disk)); err != nil {
			undo()
			return out, err
		}
	}
	b.Remake()
	return out, nil
}

// conflicting returns the reason why a named hunk cannot be decided as requested; nil if it can be.
func (r *Reviewer) conflicting(c *choice, id uint64, dec api.Decision) error {
	inBuffer := c.buffer.Conflict(id) != nil
	switch both := inBuffer || c.review.IsBeside(id); {
	case dec.Both && !both:
		return api.Invalid("both", "needs hunks whose lines a person has changed, too: of state conflict, or with beside")
	case dec.Replace && !(both && c.f.tree.Isolated()):
		return api.Invalid("replace", "needs isolated hunks whose lines a person has changed, too")
	case dec.Lines != nil && both:
		return api.Invalid("lines", "cannot be used with a hunk whose lines a person has changed, too")
	case inBuffer:
		return nil
	case dec.Accept && c.f.UnsavedConflict(id):
		return r.conflictHint(c.f, c.f.path+" has unsaved changes of the same lines in an editor", "decide there, or save it")
	}
	if err := c.review.Decidable(id, dec.Accept); err != nil {
		return r.decisionError(c.f, err)
	}
	return nil
}

// chooseConflicts adds the buffer's conflicts to a reject of many hunks. An accept of many hunks skips them.
func (r *Reviewer) chooseConflicts(c *choice, dec api.Decision, skip func(uint64, error)) {
	for _, h := range c.f.Review.Hunks() {
		switch one := c.buffer.Conflict(h.ID); {
		case one == nil || one.IDs[0] != h.ID || dec.TurnID != "" && !h.FromTurn(dec.TurnID):
		case dec.Accept:
			skip(h.ID, &api.Error{
				Kind: api.KindConflict, Message: "you and the agent have both changed these lines", Hint: "decide this hunk alone, as mine, the agent's or both",
			})
		default:
			c.ids = append(c.ids, h.ID)
		}
	}
}

// Merge answers with edits that bring changes on disk into other lines of a client's unsaved text.
func (r *Reviewer) Merge(ctx context.Context, client api.ClientID, path string, reply func(api.Decided, error)) {
	r.waiting.Take(ctx, reply, func(p *waiting.Request) bool {
		f := r.shared().files[r.named(path)]
		if f == nil || f.Buffers[client] == nil {
			return r.refuse(p, client, api.Errorf(api.KindNotFound, "%s has no unsaved text in this client, or nothing to review", path))
		}
		if _, err := r.refresh(f); err != nil {
			return r.refuse(p, client, err)
		}
		b, err := f.BufferFor(client, true)
		if err != nil {
			return r.refuse(p, client, err)
		}
		var out api.Decided
		if edits := b.Merge(); edits != nil {
			out.Edits = append(out.Edits, *edits)
		}
		r.finish(client, []*file{f}, nil, out, p)
		return true
	})
}

// takeSave takes in the save of a buffer. Decisions made in the buffer become decisions of the file. Hunks beneath the
// buffer that the saved text lacks become rejected, which can be undone. It returns false if nothing was decided.
func (r *Reviewer) takeSave(f *file, disk atomicfile.State) (took bool) {
	if undo := f.keep(); f.uncut(disk.Content) {
		defer func() { // half a save has hidden what was decided; if this is no save, the latest look stands
			if !took {
				undo()
				f.Remake()
			}
		}()
	}
	if doc := r.setup.Documents.Typed(r.absolute(f), disk); doc != nil && !f.tree.Isolated() {
		f.SyncBuffer(doc) // its text may be newer than the latest look
	}
	b := f.Saved(r.setup.Documents, r.absolute(f), disk)
	if f.tree.Isolated() {
		b = f.SavedBack(b, disk)
	} else if b == nil {
		b = r.saves.As(f.path, disk.Content)
	}
	if b == nil && !f.tree.Isolated() && r.author(f.path, disk, f.lookedAt) == nil {
		if b = f.SavedUnheard(disk); b == nil && r.setup.Documents.HasAny(r.absolute(f)) {
			b = f.SavedRejected(disk)
		}
	}
	if b == nil || !r.takeSaved(f, b, disk) {
		return false
	}
	if !f.tree.Isolated() {
		f.tree.UpdateSnapshots(f.path, disk)
	}
	return true
}

// takeSaved is takeSave for a known buffer.
func (r *Reviewer) takeSaved(f *file, b *unsaved.Buffer, disk atomicfile.State) bool {
	words := r.words(&choice{f: f, review: f.Review}, api.Decision{})
	rejected, took := f.TakeSaved(r.setup.Documents, b, disk)
	if !took {
		return false
	}
	if rejected != nil {
		g := &decisionlog.Group{Files: []decisionlog.File{{Path: f.path, N: f.n, Decision: *rejected}}, Rejections: words.Of(rejected.Hunks)}
		r.ops = append(r.ops, r.log.Push(g)...)
		r.keepRejections(g)
	}
	return true
}

package review

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/stored"
	"cursord/daemon/internal/unsaved"
	"cursord/daemon/internal/waiting"
	"cursord/diffs"
	"cursord/sessions"
)

// A choice is the part of a decision in one file.
type choice struct {
	f      *file
	ids    []uint64
	prints map[uint64]string // fingerprints of the named hunks from before the disk was read again; nil: the decision is about all hunks
	disk   sides
	buffer *unsaved.Buffer // the decision is about this buffer; nil: about the disk
	review *diffs.Review
}

// decide carries out a request. It returns false if the request must wait for an agent.
func (r *Reviewer) decide(dec api.Decision, p *waiting.Request) bool {
	fail := func(err error) bool { return r.refuse(p, dec.Client, err) }
	if err := r.setup.Store.Trouble(); err != nil {
		return fail(api.StoreError(err))
	}
	choices, err := r.choose(dec)
	if err != nil {
		return fail(err)
	}
	if slices.ContainsFunc(choices, func(c *choice) bool { return r.agentWrites(c.f, dec.Client, dec.Accept) }) {
		return false
	}
	var skipped []api.Skipped
	defer func() { r.ahead = ahead{} }()
	for _, c := range choices {
		if err := r.prepare(c, dec, &skipped); err != nil {
			r.refreshPending() // publishes the new contents of the disk
			return fail(err)
		}
	}
	for _, c := range choices { // the latest disk and documents count, even if nobody has looked at them yet
		if err := r.revConflict(c.f.path, dec.Client, dec.Rev); err != nil {
			r.refreshPending()
			return fail(err)
		}
	}
	r.holdAll(choices, dec)
	defer func() {
		for _, c := range choices {
			r.letGo(dec.Client, c.f)
		}
	}()
	was, said := sums(choices, dec.Accept), comment(choices, dec.Comment) // before a rejected move takes a file's diff away
	out := api.Decided{Diffs: []*sessions.Diff{}, Skipped: skipped}
	g := &decisionlog.Group{Accept: dec.Accept, Commit: dec.Commit}
	plan, failed := r.planAll(choices, dec, was, &out.Skipped)
	drop, err := r.intend(stored.Intent{Group: *g}, plan)
	if err != nil {
		return fail(err)
	}
	r.ahead.begins()
	var touched []*file
	inBuffers := map[int]*unsaved.Buffer{} // by their place in the group
	for _, i := range writeOrder(plan) {
		c := choices[i]
		touched = append(touched, c.f)
		if len(c.ids) == 0 {
			continue
		}
		var done diffs.Decision
		var rejections []decisionlog.Rejection
		var in unsaved.Outcome
		err := failed[i]
		switch p := plan[i]; {
		case c.buffer != nil:
			words := r.words(c, dec)
			in, err = r.decideInBuffer(c, dec)
			done, rejections = in.Decision, words.Of(in.Hunks)
		case p != nil:
			if err = r.carryOut(p); err != nil {
				p.undo()
			}
			done, rejections, plan[i] = p.done, p.rejections, nil
		}
		if err != nil {
			if dec.Hunks != nil && len(g.Files) == 0 {
				abandon(plan)
				r.ops = append(r.ops, drop...)
				r.refreshPending()
				return fail(err)
			}
			for _, id := range c.ids {
				out.Skipped = append(out.Skipped, skippedFor(c.f, id, err))
			}
			continue
		}
		out.Applied += in.Count(done, len(c.ids))
		if in.Edits != nil {
			out.Edits = append(out.Edits, *in.Edits)
		}
		g.Rejections = append(g.Rejections, rejections...)
		then, inBuffer := c.buffer.StepInFlight()
		if inBuffer {
			inBuffers[len(g.Files)], done = c.buffer, c.f.Review.ForOthers(done)
		}
		part := decisionlog.File{Path: c.f.path, N: c.f.n, Decision: done, Conflicts: in.Conflicts, Resolved: in.Resolved, Edited: inBuffer}
		part.Before, part.After = in.Sums(&c.f.File, c.buffer, was[i], then)
		g.Files = append(g.Files, part)
	}
	r.reach("store")
	ops := drop
	if len(g.Files) > 0 {
		g.Rejections = append(g.Rejections, said...)
		ops = append(ops, r.log.Push(g)...)
		out.Decision = g.N
		r.keepRejections(g)
		for j, b := range inBuffers {
			b.SetDecision(g, g.Files[j], false)
		}
	}
	r.finish(dec.Client, touched, ops, out, p)
	return true
}

// decide makes the choice in a review of its file.
func (c *choice) decide(review *diffs.Review, dec api.Decision) (diffs.Decision, error) {
	if dec.Replace {
		return review.Replace(c.ids)
	}
	return review.Decide(c.ids, dec.Accept, diffshape.Range(dec.Lines))
}

// planAll plans choices on the disk. Each gets a plan, or an error that says why it has none. One for a file that an earlier plan writes
// begins with what that leaves there; was gets the sum of that.
func (r *Reviewer) planAll(choices []*choice, dec api.Decision, was []string, skipped *[]api.Skipped) (plan []*planned, failed []error) {
	plan, failed = make([]*planned, len(choices)), make([]error, len(choices))
	for i, c := range choices {
		if len(c.ids) == 0 || c.buffer != nil {
			continue
		}
		if _, planned := r.ahead.at(c.f.realPath()); planned {
			if failed[i] = r.prepareAgain(c, dec, skipped); failed[i] != nil || len(c.ids) == 0 {
				if c.disk.unplan != nil {
					c.disk.unplan()
				}
				continue
			}
			was[i] = c.f.SumBefore(nil, dec.Accept)
		}
		words := r.words(c, dec)
		p, err := r.plan(dec.Client, c.f, c.disk, func(review *diffs.Review) (diffs.Decision, error) { return c.decide(review, dec) })
		if err != nil {
			failed[i] = r.decisionError(c.f, err)
			continue
		}
		p.rejections = words.Of(p.done.Hunks)
		plan[i] = p
		r.ahead.plans(p)
	}
	return plan, failed
}

// prepareAgain is prepare for a file that an earlier plan is to write. Hunks that are still there after that plan are decided. New ones are
// skipped, because nobody has seen them.
func (r *Reviewer) prepareAgain(c *choice, dec api.Decision, skipped *[]api.Skipped) error {
	ids := c.ids
	if c.prints == nil {
		c.ids = nil
	}
	if err := r.prepare(c, dec, new([]api.Skipped)); err != nil || c.prints != nil {
		return err
	}
	c.ids = slices.DeleteFunc(c.ids, func(id uint64) bool {
		if slices.Contains(ids, id) {
			return false
		}
		err := r.conflictHint(c.f, c.f.path+" is changed by another hunk of this decision, and so is this one", "look at what the hunk is now, and decide again")
		*skipped = append(*skipped, skippedFor(c.f, id, err))
		return true
	})
	return nil
}

// writeOrder returns the order in which to carry out plans.
func writeOrder(plan []*planned) []int {
	return atomicfile.Order(len(plan), func(i int) (in any, c *atomicfile.Change) {
		if p := plan[i]; p != nil {
			in, c = p.change.in, &p.change.Change
		}
		return in, c
	})
}

// abandon takes back plans that will not be carried out.
func abandon(plan []*planned) {
	for _, p := range plan {
		if p != nil {
			p.undo()
		}
	}
}

// finish stores and publishes the touched files, and answers with their diffs as the client sees them.
func (r *Reviewer) finish(client api.ClientID, touched []*file, ops []sessions.Op, out api.Decided, p *waiting.Request) {
	changed := slices.Clone(touched)
	for f := range r.affected {
		changed = append(changed, f)
	}
	clear(r.affected)
	changed = slices.DeleteFunc(changed, func(f *file) bool { return !r.stale(f) })
	published, more := r.render(changed)
	// Commit gives each diff its seq.
	r.submitThen(published, append(ops, more...), func() {
		paths := pathsOf(touched)
		for _, d := range published { // a renamed file was shown at a path that no touched file has now
			paths = append(paths, d.Path)
		}
		out.Diffs = append(out.Diffs, r.shownAt(client, paths)...)
	}, func(err error) { p.Answer(out, err) })
}

// choose finds the hunks that a decision selects.
func (r *Reviewer) choose(dec api.Decision) ([]*choice, error) {
	var choices []*choice
	r.refreshAll(nil)    // a file may be where another one was
	r.followFound(false) // or anywhere else
	if dec.Hunks == nil {
		r.lookAtDocuments() // what a client has just reported may have hunks
		files, err := r.listed(dec.Client, dec.Path, dec.TurnID)
		if err != nil {
			return nil, err
		}
		if dec.Path != "" {
			path := r.named(dec.Path)
			if r.published[path] == nil {
				return nil, api.Errorf(api.KindNotFound, "%s is not under review", dec.Path)
			} else if err := r.revConflict(path, dec.Client, dec.Rev); err != nil {
				return nil, err
			}
		}
		// A move may make room for another file, so moved files come first.
		slices.SortStableFunc(files, func(a, b *file) int { return strings.Compare(b.movedFrom(), a.movedFrom()) })
		for _, f := range files {
			choices = append(choices, &choice{f: f})
		}
		return choices, nil
	}
	for _, name := range dec.Hunks {
		f, id, err := r.hunk(name, dec.Client)
		if err != nil {
			return nil, err
		}
		if err := r.revConflict(f.path, dec.Client, dec.Rev); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(choices, func(c *choice) bool { return c.f == f })
		if i < 0 {
			i = len(choices)
			choices = append(choices, &choice{f: f, prints: map[uint64]string{}})
		}
		if c := choices[i]; !slices.Contains(c.ids, id) {
			c.ids, c.prints[id] = append(c.ids, id), f.Fingerprint(dec.Client, id)
		}
	}
	return choices, nil
}

// hunk finds a pending hunk, as a client sees them, by its name on the wire.
func (r *Reviewer) hunk(name string, client api.ClientID) (*file, uint64, error) {
	number, atom, _ := strings.Cut(name, ".")
	n, err1 := strconv.ParseUint(number, 10, 64)
	id, err2 := strconv.ParseUint(atom, 10, 64)
	if err1 == nil && err2 == nil {
		if f := r.numbered(n); f != nil {
			if err := r.load(f); err != nil {
				return nil, 0, api.StoreError(err)
			}
			if f.Fingerprint(client, id) == "" {
				r.syncBuffers(f) // the client's latest text counts, even if nobody has looked at it yet
			}
			if f.Fingerprint(client, id) != "" {
				return f, id, nil
			}
		}
	}
	return nil, 0, &api.Error{
		Kind: api.KindNotFound, Message: fmt.Sprintf("no pending hunk %q in %s", name, r.setup.Root),
		Hint: "It may already be decided. List pending hunks: cursord diff",
	}
}

// numbered returns the file whose review has a number, or nil.
func (r *Reviewer) numbered(n uint64) *file {
	for _, t := range r.trees {
		for _, f := range t.files {
			if f.n == n {
				return f
			}
		}
	}
	return nil
}

// prepare reads the disk again and checks that the decision still means what the client asked for.
func (r *Reviewer) prepare(c *choice, dec api.Decision, skipped *[]api.Skipped) error {
	f := c.f
	skip := func(id uint64, err error) { *skipped = append(*skipped, skippedFor(f, id, err)) }
	if err := r.load(f); err != nil {
		return api.StoreError(err)
	}
	if f.outside() {
		err := api.Errorf(api.KindOutsideWorkspace, "%s is outside of the workspace: its changes cannot be decided here", f.path)
		err.Hint = `diff/dismiss (cursord dismiss) takes it off the list`
		if c.prints != nil {
			return err
		}
		for _, h := range f.Review.Hunks() {
			skip(h.ID, err)
		}
		return nil
	}
	disk, err := r.refreshAhead(f)
	c.disk = disk
	if err == nil {
		c.buffer, err = f.BufferForHunks(dec.Client, f.WritesReal(dec.Accept))
	}
	c.review = f.Seen(dec.Client)
	if err != nil {
		if c.prints != nil {
			return err
		}
		for _, h := range c.review.Hunks() {
			if dec.TurnID == "" || h.FromTurn(dec.TurnID) {
				skip(h.ID, err)
			}
		}
		return nil
	}
	if c.prints != nil {
		for _, id := range c.ids {
			if f.Fingerprint(dec.Client, id) != c.prints[id] {
				return r.conflict(f, fmt.Sprintf("hunk %s of %s has changed since it was shown", diffshape.HunkID(f.n, id), f.path))
			}
			if err := r.conflicting(c, id, dec); err != nil {
				return err
			}
		}
		return nil
	}
	hunks := c.review.Hunks()
	var yours map[uint64]bool
	if !dec.Accept && !f.tree.Isolated() {
		yours = diffs.MaybeYours(hunks)
	}
	for _, h := range hunks {
		switch err := c.review.Decidable(h.ID, dec.Accept); {
		case c.buffer.Conflict(h.ID) != nil:
		case f.UnsavedConflict(h.ID) && dec.Accept:
			skip(h.ID, r.conflicting(c, h.ID, dec))
		case dec.TurnID != "" && !h.FromTurn(dec.TurnID):
		case err != nil:
			skip(h.ID, r.decisionError(f, err))
		case yours[h.ID]:
			skip(h.ID, &api.Error{Kind: api.KindMaybeYours})
		default:
			c.ids = append(c.ids, h.ID)
		}
	}
	if c.buffer != nil {
		r.chooseConflicts(c, dec, skip)
	}
	return nil
}

// Decide carries out a decision. If an agent's call is about to write one of its files, the decision waits for the end of
// that call. reply is called once.
func (r *Reviewer) Decide(ctx context.Context, dec api.Decision, reply func(api.Decided, error)) {
	if err := dec.Check(); err != nil {
		reply(api.Decided{}, err)
		return
	}
	r.waiting.Take(ctx, reply, func(p *waiting.Request) bool { return r.decide(dec, p) })
}

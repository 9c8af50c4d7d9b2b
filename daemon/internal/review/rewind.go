package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/origins"
	"cursord/daemon/internal/preview"
	"cursord/daemon/internal/stored"
	"cursord/daemon/internal/waiting"
	"cursord/diffs"
	"cursord/sessions"
)

// A Cut are the turns that leave a session's transcript.
type Cut = stored.Cut

// A Rewind takes back, as one decision, what turns of a session did to files, and cuts them off the session's transcript.
type Rewind struct {
	Client api.ClientID
	Cut    Cut
	Files  bool // false: only the transcript is cut
	Dry    bool // change nothing, and return the patch of the files
}

// Rewind carries out a rewind. If an agent's call is about to write one of the files, it waits for the end of that call.
// reply is called once.
func (r *Reviewer) Rewind(ctx context.Context, rw Rewind, reply func(api.Decided, error)) {
	r.waiting.Take(ctx, reply, func(p *waiting.Request) bool { return r.rewind(rw, p) })
}

// rewind returns false if it must wait for an agent.
func (r *Reviewer) rewind(rw Rewind, p *waiting.Request) bool {
	if err := r.setup.Store.Trouble(); err != nil && !rw.Dry {
		return r.refuse(p, rw.Client, api.StoreError(err))
	}
	u := diffs.Undone{Session: rw.Cut.Session, Turns: rw.Cut.Turns}
	out := api.Decided{Diffs: []*sessions.Diff{}}
	var plan []*planned
	if rw.Files {
		r.refreshAll(nil)   // a file may be where another one was
		r.followFound(true) // or anywhere else
		files := r.editedBy(u, &out)
		if slices.ContainsFunc(files, func(f *file) bool { return r.agentWrites(f, rw.Client, false) }) {
			return false
		}
		for _, f := range files {
			one, err := r.planRewind(rw.Client, f, u, &out)
			if err != nil {
				abandon(plan)
				return r.refuse(p, rw.Client, err)
			}
			if one != nil {
				plan = append(plan, one)
			}
		}
	}
	copiesFirst(plan)
	if rw.Dry {
		r.carryAll(plan, atomicfile.Tried{}, &out)
		out.Patch = r.patchOf(plan)
		abandon(plan)
		return p.Answer(out, nil)
	}
	rw.Cut.Told = r.log.Rejected(rw.Cut.Session, rw.Cut.Since)
	g := &decisionlog.Group{Rewind: true}
	drop, err := r.intend(stored.Intent{Group: *g, Cut: &rw.Cut}, plan)
	if err != nil {
		return r.refuse(p, rw.Client, err)
	}
	var touched []*file
	touched, g.Files = r.carryAll(plan, nil, &out)
	r.reach("store")
	ops := drop
	if len(g.Files) > 0 {
		ops = append(ops, r.log.Push(g)...)
		out.Decision = g.N
	}
	r.cut = &rw.Cut
	r.finish(rw.Client, touched, ops, out, p)
	return true
}

// carryAll writes what a rewind has planned or, with tried, tries that. It returns what went well, and takes the rest out of the plan.
func (r *Reviewer) carryAll(plan []*planned, tried atomicfile.Tried, out *api.Decided) (touched []*file, parts []decisionlog.File) {
	for _, i := range writeOrder(plan) {
		one := plan[i]
		one.change.Tried = tried
		if err := r.write(one.f, one.change); err != nil {
			one.undo()
			out.Skipped, plan[i] = append(out.Skipped, api.SkippedBy(one.f.path, err)), nil
			continue
		}
		out.Applied += one.done.Size()
		touched = append(touched, one.f)
		parts = append(parts, decisionlog.File{Path: one.f.path, N: one.f.n, Decision: one.done})
	}
	return touched, parts
}

// editedBy lists the files that the edits to take back may have changed, and adds to out what is not known any more.
func (r *Reviewer) editedBy(u diffs.Undone, out *api.Decided) (files []*file) {
	for _, f := range r.sorted() {
		past := f.stored.Past
		switch {
		case f.outside():
		case past != nil && slices.Contains(past.Sessions, u.Session), f.pending():
			files = append(files, f)
		case f.stored.Dropped:
			out.Skipped = append(out.Skipped, api.Skipped{
				Path: f.path, Kind: api.KindForgotten, Message: "what was accepted in it is not known any more: it was more than history_size keeps",
			})
		}
	}
	return files
}

// planRewind plans the part of a rewind in one file. It returns nil if nothing is to be changed there, and adds to out what stays. An error
// refuses the rewind: the file is to be changed, and an editor holds it unsaved.
func (r *Reviewer) planRewind(client api.ClientID, f *file, u diffs.Undone, out *api.Decided) (*planned, error) {
	skip := func(err error) (*planned, error) {
		out.Skipped = append(out.Skipped, api.SkippedBy(f.path, err))
		return nil, nil
	}
	if err := r.load(f); err != nil {
		return skip(api.StoreError(err))
	}
	rewind := (*diffs.Review).Rewind
	if f.tree.Isolated() {
		rewind = (*diffs.Review).RewindAll // only the agent writes there
	}
	if _, left, err := rewind(f.Review.Copy(), u); err != nil && left == (diffs.Left{}) {
		return nil, nil // nothing in it is of these edits
	}
	disk, err := r.refresh(f)
	if err != nil {
		return skip(err)
	}
	unsaved := len(f.Buffers) > 0 && f.WritesReal(false)
	var left diffs.Left
	p, err := r.plan(client, f, disk, func(review *diffs.Review) (d diffs.Decision, err error) {
		if d, left, err = rewind(review, u); err == nil && unsaved {
			if err = unsavedStep(f); d.Forgets() {
				err = diffs.ErrNotFound // nothing that the editor holds would change
			}
		}
		return d, err
	})
	out.Skipped = append(out.Skipped, origins.Left(f.path, left)...)
	if errors.Is(err, diffs.ErrNotFound) {
		err = nil
	}
	return p, err
}

// copiesFirst puts the plans for copies first. When the work tree changes, the copies are compared with it, and by then they must hold what their
// reviews say. Rewinds need that, and the undo and redo of rewinds and rejects.
func copiesFirst(plan []*planned) {
	rank := map[bool]int{true: -1} // by isolation
	slices.SortStableFunc(plan, func(a, b *planned) int { return rank[a.f.tree.Isolated()] - rank[b.f.tree.Isolated()] })
}

// patchOf returns the patch of planned changes. A file that changes in the work tree and in a copy is in it once.
func (r *Reviewer) patchOf(plan []*planned) string {
	var changes []preview.Change
	for _, p := range slices.Backward(plan) { // the work tree's first
		if p != nil {
			c := p.change
			before, after := c.in.TranslatedContent(c.Before.Content), c.in.TranslatedContent(c.After)
			changes = append(changes, preview.Change{Tree: c.in.Session, From: c.From, To: c.To, Before: before, After: after})
		}
	}
	return preview.Patch(r.setup.Large, changes)
}

// unsavedStep is the answer to a rewind, and to the undo of one, in a file that a client holds unsaved.
func unsavedStep(f *file) error {
	return &api.Error{Kind: api.KindConflict, Message: fmt.Sprintf("%s has unsaved changes in an editor", f.path), Hint: "save it and try again"}
}

// Why returns where lines of a file come from: those from from to to (exclusive), as far as the file has them; all for to < 0.
// The runs follow each other without a gap. Only if lines were named, the origins have what the lines were before.
func (r *Reviewer) Why(path string, from, to int) (t origins.Text, err error) {
	stopped := r.call(func() { t, err = r.why(path, from, to) })
	return t, cmp.Or(stopped, err)
}

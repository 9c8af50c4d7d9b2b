package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/wire"
	"cursord/diffs"
	"cursord/sessions"
)

// maxGroups bounds the log of decisions that can be taken back.
const maxGroups = 500

// A group is what one request decided: one step of undo.
type group struct {
	n          uint64
	Accept     bool        `json:"accept"`
	Undone     bool        `json:"undone,omitempty"`
	Files      []groupFile `json:"files"`
	Rejections []Rejection `json:"told,omitempty"` // to agents, of a reject
}

// A groupFile is the part of a group in one file.
type groupFile struct {
	Path     string         `json:"path"`
	N        uint64         `json:"n,omitempty"` // the review's, which stays when the file moves
	Decision diffs.Decision `json:"decision"`
}

func (r *Reviewer) loadLog() error {
	recs, err := r.setup.Store.Decisions(r.setup.Root)
	if err != nil {
		return err
	}
	for _, rec := range recs {
		g := &group{n: rec.N}
		if err := json.Unmarshal(rec.Data, g); err != nil {
			r.setup.Damaged(fmt.Sprint("decision ", rec.N), err)
			r.ops = append(r.ops, sessions.DropDecision{N: rec.N}) // it cannot be undone
			continue
		}
		r.log = append(r.log, g)
	}
	return nil
}

// push adds a group to the log, forgets what could have been made again, and returns what to store.
func (r *Reviewer) push(g *group) (ops []sessions.Op) {
	g.n = 1
	if len(r.log) > 0 {
		g.n = r.log[len(r.log)-1].n + 1 // also if that one is forgotten now: a number means one decision
	}
	for len(r.log) > 0 && r.log[len(r.log)-1].Undone {
		ops = append(ops, sessions.DropDecision{N: r.log[len(r.log)-1].n})
		r.log = r.log[:len(r.log)-1]
	}
	for len(r.log) >= maxGroups {
		ops = append(ops, sessions.DropDecision{N: r.log[0].n})
		r.log = slices.Delete(r.log, 0, 1)
	}
	r.log = append(r.log, g)
	return append(ops, sessions.PutDecision{N: g.n, Data: wire.Encode(g)})
}

// step takes a group back, or makes it again: in all of its files or in none. It returns false if it must wait for an
// agent.
func (r *Reviewer) step(client api.ClientID, undo bool, only uint64, p *waitingRequest) bool {
	fail := func(err error) bool { return r.refuse(p, client, err) }
	if err := r.setup.Store.Trouble(); err != nil {
		return fail(api.StoreError(err))
	}
	i := -1
	if undo {
		for j, g := range r.log {
			if !g.Undone && len(g.Files) > 0 {
				i = j
			}
		}
	} else {
		i = slices.IndexFunc(r.log, func(g *group) bool { return g.Undone && len(g.Files) > 0 })
	}
	if i < 0 {
		what := map[bool]string{true: "undo", false: "redo"}[undo]
		return fail(&api.Error{Kind: api.KindNotFound, Message: "there is nothing to " + what + " in " + r.setup.Root})
	}
	if only != 0 && r.log[i].n != only {
		return fail(&api.Error{Kind: api.KindConflict, Message: "another decision was made since"})
	}
	if slices.ContainsFunc(r.log[i].Files, func(gf groupFile) bool {
		f := r.decided(gf)
		return f != nil && r.agentWrites(f, client, r.log[i].Accept)
	}) {
		return false
	}
	g := *r.log[i]
	g.Files = slices.Clone(g.Files)
	g.Undone = undo
	out := api.Decided{Diffs: []*sessions.Diff{}, Applied: g.hunks()}
	var touched, inBuffers []*file
	var restore []func()
	rollback := func(err error) bool {
		for _, back := range restore {
			back()
		}
		r.refreshPending()
		return fail(err)
	}
	// First the reviews, which can be put back, then the disk.
	var plan []*planned
	for j := range g.Files {
		if undo {
			j = len(g.Files) - 1 - j
		}
		gf := &g.Files[j]
		f := r.decided(*gf)
		if f == nil {
			return rollback(r.withoutLost(i, gf.Path))
		}
		disk, err := r.refresh(f)
		if err != nil {
			return rollback(err)
		}
		b, err := r.buffer(f, client, f.writesReal(gf.Decision.Accept))
		if err != nil {
			return rollback(err)
		}
		if b != nil && f.writesReal(gf.Decision.Accept) {
			edits, back, err := r.stepInBuffer(f, b, undo, &gf.Decision)
			restore = append(restore, back)
			if err != nil {
				return rollback(err)
			}
			if edits != nil {
				out.Edits = append(out.Edits, *edits)
			}
			b.groups = append(b.groups, g.n)
			inBuffers = append(inBuffers, f)
			continue
		}
		p, err := r.plan(f, disk, func(review *diffs.Review) (diffs.Decision, error) {
			if undo {
				return gf.Decision, review.Undo(gf.Decision)
			}
			return review.Redo(gf.Decision)
		})
		if errors.Is(err, diffs.ErrOvertaken) && r.beyond(*gf, undo) {
			return rollback(r.withoutLost(i, f.path))
		}
		if err != nil {
			return rollback(r.stepError(f, err))
		}
		gf.Decision = p.done
		restore = append(restore, p.undo)
		plan = append(plan, p)
		touched = append(touched, f)
	}
	drop, err := r.intend(intent{Group: g, N: g.n}, plan)
	if err != nil {
		return rollback(err)
	}
	for j, p := range plan {
		if err := r.write(p.f, p.change); err != nil {
			for _, back := range restore {
				back()
			}
			for _, p := range slices.Backward(plan[:j]) { // what a person wrote meanwhile stays
				if err := r.write(p.f, r.reverse(p.change)); err != nil {
					r.setup.Log.Error("a file was left as it is", "path", p.f.path, "err", err)
				}
			}
			r.ops = append(r.ops, drop...)
			return rollback(err)
		}
	}
	r.reach("store")
	r.log[i] = &g
	ops := append(drop, sessions.PutDecision{N: g.n, Data: wire.Encode(&g)})
	if undo {
		r.setup.Loop.ForgetRejections(g.n)
	} else {
		r.keepRejections(&g)
	}
	r.finish(client, append(touched, inBuffers...), ops, out, p)
	return true
}

// beyond reports whether the file of a decision is gone, and the decision with it.
func (r *Reviewer) beyond(gf groupFile, undo bool) bool {
	f := r.decided(gf)
	if f == nil {
		return true
	}
	if r.load(f) != nil || f.review.Current().Exists {
		return false
	}
	trial, err := f.review.Copy(), error(nil)
	if undo {
		err = trial.Undo(gf.Decision)
	} else {
		_, err = trial.Redo(gf.Decision)
	}
	return errors.Is(err, diffs.ErrOvertaken)
}

// withoutLost has a decision no longer bar the way to the others because of files that are gone, and says so.
func (r *Reviewer) withoutLost(i int, path string) error {
	undo := !r.log[i].Undone
	r.dropFromDecision(i, func(gf groupFile) bool { return r.beyond(gf, undo) })
	return &api.Error{
		Kind: api.KindConflict, Message: path + " is gone, or not under review any more: what was decided about it stays",
		Hint: "ask again for what else was decided",
	}
}

// dropFromDecision takes files out of a decision that cannot be taken back in them any more. One that is left without files is passed
// over: it keeps its number from being given again.
func (r *Reviewer) dropFromDecision(i int, lost func(groupFile) bool) {
	g := *r.log[i]
	g.Files = slices.DeleteFunc(slices.Clone(g.Files), lost)
	r.log[i] = &g
	r.ops = append(r.ops, sessions.PutDecision{N: g.n, Data: wire.Encode(&g)})
}

// forgetSources has a file's review forget who made edits that are settled for good, once there are many of them.
func (r *Reviewer) forgetSources(f *file) {
	const few = 64
	if f.review.Sources() < 2*f.sources+few || len(f.buffers) > 0 || f.vanished != nil { // copies ask about edits, too
		return
	}
	f.review.ForgetSources(func(yield func(*diffs.Decision) bool) {
		for _, g := range r.log {
			for i := range g.Files {
				if g.Files[i].of(f) && !yield(&g.Files[i].Decision) {
					return
				}
			}
		}
	})
	f.sources = f.review.Sources()
}

// of reports whether the part is one in f.
func (gf *groupFile) of(f *file) bool { return gf.N == f.n || gf.N == 0 && gf.Path == f.path }

func (g *group) hunks() (n int) {
	for _, f := range g.Files {
		n += len(f.Decision.Hunks)
	}
	return n
}

// decided returns the file that a decision was about, wherever it is now, or nil.
func (r *Reviewer) decided(gf groupFile) *file {
	if gf.N == 0 {
		return r.shared().files[gf.Path]
	}
	return r.numbered(gf.N)
}

func (r *Reviewer) stepError(f *file, err error) error {
	if errors.Is(err, diffs.ErrOvertaken) {
		return r.conflict(f, fmt.Sprintf("%s has changed in those lines since", f.path))
	}
	return r.decisionError(f, err)
}

// Undo takes back the latest decision that is not undone yet; if only is not 0, only if that is its number.
func (r *Reviewer) Undo(ctx context.Context, client api.ClientID, only uint64, reply func(api.Decided, error)) {
	r.request(ctx, reply, func(p *waitingRequest) bool { return r.step(client, true, only, p) })
}

// Redo makes again the latest decision that was undone.
func (r *Reviewer) Redo(ctx context.Context, client api.ClientID, reply func(api.Decided, error)) {
	r.request(ctx, reply, func(p *waitingRequest) bool { return r.step(client, false, 0, p) })
}

package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/stored"
	"cursord/daemon/internal/waiting"
	"cursord/diffs"
	"cursord/sessions"
)

func (r *Reviewer) loadLog() error {
	recs, err := r.setup.Store.Decisions(r.setup.Root)
	if err != nil {
		return err
	}
	log, ops := decisionlog.Load(recs, r.setup.Damaged)
	r.log, r.ops = log, append(r.ops, ops...)
	return nil
}

// step undoes or redoes a group of decisions: in all of its files or in none. It returns false if it must wait for an agent. One whose
// lines have changed since is refused once, and then passed over as long as that is so; but has those that were.
func (r *Reviewer) step(client api.ClientID, undo, asEdits bool, only uint64, p *waiting.Request, but ...uint64) bool {
	fail := func(err error) bool { return r.refuse(p, client, err) }
	if err := r.setup.Store.Trouble(); err != nil {
		return fail(api.StoreError(err))
	}
	if len(but) == 0 {
		r.lookAtDocuments() // the text that a client has just reported may be that from before an accept
	}
	next := r.log.Next(undo, but...)
	if next == nil {
		return fail(decisionlog.NothingTo(undo, len(but), r.setup.Root))
	}
	if only != 0 && next.N != only && next.Passed {
		return r.step(client, undo, asEdits, only, p, append(but, next.N)...)
	}
	if only != 0 && next.N != only {
		return fail(decisionlog.NotNext(undo))
	}
	if slices.ContainsFunc(next.Files, func(gf decisionlog.File) bool {
		f := r.decided(gf)
		return f != nil && r.agentWrites(f, client, next.Accept)
	}) {
		return false
	}
	g := *next
	g.Files = slices.Clone(g.Files)
	g.Undone, g.Passed = undo, false
	out := api.Decided{Diffs: []*sessions.Diff{}}
	gone, nothing := map[uint64]bool{}, error(nil) // files in which an accept has no lines left; the decision about them stays
	var touched, inBuffers, held []*file
	defer func() { r.letGo(client, held...) }()
	var restore []func()
	r.ahead = ahead{}
	defer func() { r.ahead = ahead{} }()
	rollback := func(err error) bool {
		r.ahead = ahead{}
		for _, back := range restore {
			back()
		}
		r.refreshPending()
		if errors.Is(err, diffs.ErrOvertaken) {
			if only == 0 && next.Passed {
				r.letGo(client, held...)
				held = nil
				return r.step(client, undo, asEdits, only, p, append(but, next.N)...)
			}
			err = r.overtaken(next.N, undo, append(but, next.N), err)
		}
		return fail(err)
	}
	// The reviews are changed first, because they can be restored; then the disk.
	var plan []*planned
	for j := range g.Files {
		if undo {
			j = len(g.Files) - 1 - j
		}
		gf := &g.Files[j]
		if gf.Undone {
			continue // this file has taken the step already
		}
		f := r.decided(*gf)
		if f == nil {
			return rollback(r.withoutLost(next, gf.Path))
		}
		disk, err := r.refreshAhead(f)
		if err != nil {
			return rollback(err)
		}
		if disk.unplan != nil {
			restore = append(restore, disk.unplan)
		}
		if !r.reread(g.N, gf, undo) {
			continue
		}
		b, err := f.BufferForStep(client, gf, undo)
		if err != nil {
			return rollback(err)
		}
		if b == nil && asEdits && gf.Edited && f.WritesReal(gf.Decision.Accept) {
			b = r.holdStep(client, f, gf.Decision, undo)
			held = append(held, f)
		}
		if b != nil && gf.Decision.Rewinds() {
			return rollback(unsavedStep(f))
		}
		if b != nil && (f.WritesReal(gf.Decision.Accept) || b.HasDecision(g.N)) {
			edits, back, err := b.Step(undo, g.N, gf)
			restore = append(restore, back)
			if err != nil {
				return rollback(err)
			}
			if edits != nil {
				out.Edits = append(out.Edits, *edits)
			}
			if b.SetDecision(&g, *gf, true); edits == nil {
				b.Remake() // a conflict may be open again
			}
			inBuffers = append(inBuffers, f)
			continue
		}
		place := f.path
		if f.displaced(*gf) {
			f.path, f.leaves = gf.Path, true
			defer func() { f.leaves = false }()
		}
		text, taken := "", false // of b, with the lines that an accept of conflicts has taken, or without them
		p, err := r.plan(client, f, disk, func(review *diffs.Review) (diffs.Decision, error) {
			if !undo {
				text, taken = b.AcceptText(review, gf, false)
				return review.Redo(gf.Decision)
			}
			trial := review.Copy()
			if err := trial.Undo(gf.Decision); err != nil {
				return gf.Decision, err
			}
			if text, taken = b.AcceptText(trial, gf, true); taken {
				*review = *trial
				return gf.Decision, nil
			}
			return f.Undo(review, gf)
		})
		f.path = place
		if errors.Is(err, diffs.ErrOvertaken) && r.beyond(*gf, undo) {
			return rollback(r.withoutLost(next, f.path))
		}
		if errors.Is(err, diffs.ErrGone) {
			gone[gf.N], nothing = true, r.stepError(f, err)
			continue
		}
		if err != nil {
			return rollback(r.stepError(f, err))
		}
		f.Reopen(gf.Conflicts, undo)
		gf.Decision = p.done
		restore = append(restore, p.undo)
		if taken {
			edits, back := b.SendAcceptText(gf, undo, text)
			restore = append(restore, back)
			if edits != nil {
				out.Edits = append(out.Edits, *edits)
			}
		}
		if plan = append(plan, p); !g.Rewind {
			r.ahead.plans(p)
		}
		touched = append(touched, f)
	}
	if nothing != nil && len(plan)+len(inBuffers) == 0 {
		return rollback(nothing)
	}
	g.Files = slices.DeleteFunc(g.Files, func(gf decisionlog.File) bool { return gone[gf.N] })
	out.Applied, out.Step = g.Hunks(), g.Step()
	if !g.Accept {
		copiesFirst(plan)
	}
	drop, err := r.intend(stored.Intent{Group: g, N: g.N}, plan)
	if err != nil {
		return rollback(err)
	}
	r.ahead.begins()
	for j, p := range plan {
		if err := r.carryOut(p); err != nil {
			for _, back := range restore {
				back()
			}
			for _, p := range slices.Backward(plan[:j]) { // keeps what a person has written since
				if err := r.write(p.f, r.reverse(p.change)); err != nil {
					r.setup.Log.Error("a file was left as it is", "path", p.f.path, "err", err)
				}
			}
			r.ops = append(r.ops, drop...)
			return rollback(err)
		}
	}
	r.reach("store")
	ops := append(drop, r.log.Replace(&g))
	if undo {
		r.setup.Loop.ForgetRejections(g.N)
	} else {
		r.keepRejections(&g)
	}
	r.finish(client, append(touched, inBuffers...), ops, out, p)
	return true
}

// displaced reports whether another review has taken the place that this one had when it was decided.
func (f *file) displaced(gf decisionlog.File) bool {
	at := f.Review.Path()
	return gf.N == f.n && gf.Path != f.path && !f.Review.Current().Exists && (at == "" || at == gf.Path)
}

// reread brings a part of a decision up to date with the log after a look at its file, which may have found a save or an editor's undo. It
// returns false if that has taken the step already.
func (r *Reviewer) reread(n uint64, gf *decisionlog.File, undo bool) bool {
	g := r.log.Numbered(n)
	if g == nil {
		return false
	}
	i := slices.IndexFunc(g.Files, func(now decisionlog.File) bool { return now.N == gf.N && now.Path == gf.Path })
	if i < 0 || (g.Undone || g.Files[i].Undone) == undo {
		return false
	}
	*gf = g.Files[i]
	return true
}

// beyond reports whether a step cannot be made any more, because the file was deleted or is no longer under review.
func (r *Reviewer) beyond(gf decisionlog.File, undo bool) bool {
	f := r.decided(gf)
	if f == nil {
		return true
	}
	if r.load(f) != nil || f.Review.Current().Exists {
		return false
	}
	trial, err := f.Review.Copy(), error(nil)
	if undo {
		err = trial.Undo(gf.Decision)
	} else {
		_, err = trial.Redo(gf.Decision)
	}
	return errors.Is(err, diffs.ErrOvertaken)
}

// withoutLost removes files that are gone from a decision, because they would keep all earlier decisions from being undone.
// It returns the error that says so.
func (r *Reviewer) withoutLost(g *decisionlog.Group, path string) error {
	r.ops = append(r.ops, r.log.Without(g.N, func(gf decisionlog.File) bool { return r.beyond(gf, !g.Undone) })...)
	message := path + " is gone or no longer under review: the decision about it stays"
	return &api.Error{Kind: api.KindConflict, Message: message, Hint: "call again to undo the decision before it"}
}

// forgetSources drops the sources of finally decided edits from a file's review, once there are many.
func (r *Reviewer) forgetSources(f *file) {
	const few = 64
	if f.Review.Sources() < 2*f.sources+few || len(f.Buffers) > 0 || f.vanished != nil || f.guess != nil { // copies of the review need the sources
		return
	}
	f.Review.ForgetSources(func(yield func(*diffs.Decision) bool) {
		for gf := range r.log.Files() {
			if f.decidedIn(*gf) && !yield(&gf.Decision) {
				return
			}
		}
	})
	f.sources = f.Review.Sources()
}

// decidedIn reports whether gf, a part of a decision, is about f.
func (f *file) decidedIn(gf decisionlog.File) bool {
	return gf.N == f.n || gf.N == 0 && gf.Path == f.path
}

// decided returns the file that a part of a decision is about, wherever the file is now; nil if there is none.
func (r *Reviewer) decided(gf decisionlog.File) *file {
	if gf.N == 0 {
		return r.shared().files[gf.Path]
	}
	return r.numbered(gf.N)
}

// An overtakenError refuses a step because its lines have changed since: it is diffs.ErrOvertaken, and the answer to clients.
type overtakenError struct{ answer *api.Error }

func (e overtakenError) Error() string   { return e.answer.Error() }
func (e overtakenError) Unwrap() []error { return []error{e.answer, diffs.ErrOvertaken} }

func (r *Reviewer) stepError(f *file, err error) error {
	if errors.Is(err, diffs.ErrOvertaken) {
		var refused *api.Error
		if errors.As(r.conflict(f, fmt.Sprintf("those lines of %s have changed since", f.path)), &refused) {
			return overtakenError{refused}
		}
	}
	return r.decisionError(f, err)
}

// overtaken notes that a step was refused, so that the next one may pass it over, and returns an error that says which it was and which
// comes then. why is an overtakenError.
func (r *Reviewer) overtaken(n uint64, undo bool, but []uint64, why error) error {
	r.submit(nil, r.log.Pass(n), nil)
	var said *api.Error
	g := r.log.Numbered(n)
	if g == nil || !errors.As(why, &said) {
		return why
	}
	e, verb, again := *said, "undo", "taken back"
	if !undo {
		verb, again = "redo", "made again"
	}
	e.Message = fmt.Sprintf("%s cannot be %s: %s", g.Name(time.Now()), again, said.Message)
	e.Hint = "there is nothing else to " + verb
	if after := r.log.Next(undo, but...); after != nil {
		e.Hint = fmt.Sprintf("call %s again to pass it over: next is %s", verb, after.Name(time.Now()))
	}
	return &e
}

// Undo undoes the latest decision that stands. If only is not 0, it does so only if only is the decision's number. With
// asEdits, documents that the client has open and that the decision changed by edits are changed back by edits.
func (r *Reviewer) Undo(ctx context.Context, client api.ClientID, only uint64, asEdits bool, reply func(api.Decided, error)) {
	r.waiting.Take(ctx, reply, func(p *waiting.Request) bool { return r.step(client, true, asEdits, only, p) })
}

// WouldUndo answers with the decision that Undo would take back. Its paths are also those of the decision behind it, as long as Undo may pass over
// the one before.
func (r *Reviewer) WouldUndo(ctx context.Context, reply func(api.Decided, error)) {
	r.waiting.Take(ctx, reply, func(p *waiting.Request) bool {
		var out api.Decided
		var before []uint64
		for {
			next := r.log.Next(true, before...)
			if next == nil {
				break
			}
			if out.Step == nil {
				out.Step = next.Step()
			}
			for _, gf := range next.Files {
				f := r.decided(gf)
				if f == nil || r.load(f) != nil || !f.WritesReal(gf.Decision.Accept) {
					continue
				}
				for _, path := range []string{gf.Path, f.realPath()} {
					if !slices.Contains(out.Step.Paths, path) {
						out.Step.Paths = append(out.Step.Paths, path)
					}
				}
			}
			if before = append(before, next.N); !next.Passed {
				break
			}
		}
		if out.Step == nil {
			return p.Answer(out, decisionlog.NothingTo(true, 0, r.setup.Root))
		}
		return p.Answer(out, nil)
	})
}

// Redo makes the decision again that was undone last. only and asEdits are as in Undo.
func (r *Reviewer) Redo(ctx context.Context, client api.ClientID, only uint64, asEdits bool, reply func(api.Decided, error)) {
	r.waiting.Take(ctx, reply, func(p *waiting.Request) bool { return r.step(client, false, asEdits, only, p) })
}

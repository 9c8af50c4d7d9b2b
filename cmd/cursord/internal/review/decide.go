package review

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// A reviewStep is a decision, with all that undo needs.
type reviewStep struct {
	decision uint64 // its number in the workspace
	path     string
	before   []string // the file's steps before the decision
	cuts     []int
	at       int
	accept   bool
	hunks    int // hunks that were decided
}

// decide accepts or rejects a part; with rest, also everything behind it in the file. A reject with rest leaves the later
// hunks that may be the person's. again reports whether to ask about the same part again.
func (r *review) decide(ctx context.Context, f *reviewFile, p part, accept, rest bool) (again bool, err error) {
	again, err = r.decidePart(ctx, f, p, accept, rest)
	if i, known := r.find(f.diff.Path); known && r.files[i] == f && rest && !accept && !again && err == nil {
		if n := len(f.diff.MaybeYours()); n > 0 {
			r.tell(fmt.Sprintf("Left %s that may be yours; n rejects one at a time.", term.Count(n, "hunk")))
		}
	}
	return again, err
}

func (r *review) decidePart(ctx context.Context, f *reviewFile, p part, accept, rest bool) (again bool, err error) {
	ids := []string{p.hunk.ID}
	var lines *api.LineRange
	end := p.step + max(p.to-p.from, 1)
	last := end == len(steps(f.diff))
	switch {
	case !rest && !p.whole():
		lines = &api.LineRange{From: p.from, To: p.to}
	case rest && p.from > 0: // first the rest of this hunk, then the later hunks
		lines = &api.LineRange{From: p.from, To: p.of}
		end = p.step + p.of - p.from
		last = end == len(steps(f.diff))
	case rest:
		last = true
		i := slices.IndexFunc(f.diff.Hunks, func(h sessions.Hunk) bool { return h.ID == p.hunk.ID })
		yours := yoursUnless(accept, f.diff)
		for _, h := range f.diff.Hunks[i+1:] {
			if !yours[h.ID] {
				ids = append(ids, h.ID)
			}
		}
		if i+len(ids) == len(f.diff.Hunks) { // no hunk is left out
			end = len(steps(f.diff))
		}
	}
	done, again, err := r.request(ctx, f, accept, ids, lines, p.step, end)
	if err != nil || !done || !rest || last {
		return again, err
	}
	p, _, _, ok := f.present()
	if !ok || p.from > 0 {
		return false, nil // the file has changed meanwhile
	}
	yours := yoursUnless(accept, f.diff)
	for _, p := range f.parts() {
		if p.step >= f.at && !yours[p.hunk.ID] {
			return r.decidePart(ctx, f, p, accept, true)
		}
	}
	return false, nil
}

// yoursUnless returns the hunks that a decision about several hunks leaves because they may be the person's. An accept
// leaves none.
func yoursUnless(accept bool, d *sessions.Diff) map[string]bool {
	if accept {
		return nil
	}
	return d.MaybeYours()
}

// request decides hunks, or lines of one hunk. In the file these are the steps from (included) to to (excluded). If other
// places of the file have changed since the person saw it, request takes these changes in and tries again; if the hunks
// themselves have changed, it decides nothing.
func (r *review) request(
	ctx context.Context, f *reviewFile, accept bool, ids []string, lines *api.LineRange, from, to int,
) (done, again bool, err error) {
	const tries = 5 // an agent may be writing the file
	method := "diff/reject"
	if accept {
		method = "diff/accept"
	}
	path := f.diff.Path
	shown := f.diff
	for try := 1; ; try++ {
		sent := shown.Rev
		var out api.Decided
		err := r.client.Call(ctx, method, rpc.DecideParams{Workspace: r.root, Hunks: &ids, Lines: lines, Replace: r.replace, Rev: &sent}, &out)
		if err == nil {
			r.log = append(r.log, reviewStep{
				decision: out.Decision, path: path, before: steps(shown), cuts: slices.Clone(f.cuts), at: f.at, accept: accept, hunks: out.Applied,
			})
			*r.counter(accept) += out.Applied
			for _, d := range out.Diffs {
				if d.Path == path {
					r.setDiff(d, from, to)
				} else {
					r.setDiff(d, 0, 0)
				}
			}
			return true, false, nil
		}
		var answer *rpc.Error
		if !errors.As(err, &answer) {
			return false, false, err
		}
		if answer.Data.Kind != api.KindConflict && answer.Data.Kind != api.KindNotFound {
			return false, true, r.fail(err)
		}
		now, err := r.look(ctx, path)
		if err != nil {
			return false, true, r.fail(err)
		}
		switch {
		case now == nil || hunkOf(now, ids[0]) == nil:
			r.tell(fmt.Sprintf("Hunk %s of %s is there no more: it was decided, or changed, elsewhere.", ids[0], path))
			_, err = r.refresh(ctx, path)
			return false, false, err
		case now.Rev == sent: // nothing has changed, so another try would fail too
			return false, true, r.fail(answer)
		case !sameHunks(shown, now, ids) || try == tries:
			r.tell(path + " has changed meanwhile. This is what there is now:")
			r.setDiff(now, 0, 0)
			return false, false, nil
		}
		r.setDiff(now, 0, 0)
		at := f.find(now)
		if lines != nil {
			at += lines.From
		}
		from, to = at, at+to-from
		shown, f.at = now, from
	}
}

func (r *review) counter(accept bool) *int {
	if accept {
		return &r.accepted
	}
	return &r.rejected
}

// undo takes back the latest decision of this review and returns to its place. It leaves what others have decided since: then
// the daemon refuses.
func (r *review) undo(ctx context.Context) (again bool, err error) {
	if len(r.log) == 0 {
		r.tell("Nothing has been decided in this review.")
		return true, nil
	}
	last := r.log[len(r.log)-1]
	out, err := r.client.DiffUndo(ctx, rpc.UndoParams{Workspace: r.root, Decision: last.decision})
	if err != nil {
		return true, r.fail(err)
	}
	for _, d := range out.Diffs {
		r.setDiff(d, 0, 0)
	}
	r.log = r.log[:len(r.log)-1]
	*r.counter(last.accept) -= last.hunks
	i, known := r.find(last.path)
	if !known {
		return false, nil
	}
	f := r.files[i]
	r.at, f.at = i, min(last.at, len(steps(f.diff))-1)
	if slices.Equal(steps(f.diff), last.before) {
		f.cuts = last.cuts
	}
	r.tell(fmt.Sprintf("Taken back: %s in %s is to review again.", term.Count(last.hunks, "hunk"), last.path))
	return false, nil
}

package review

import (
	"errors"
	"fmt"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/waiting"
)

// revConflict publishes the present diff of a path, and returns an error if the client has not seen that diff.
func (r *Reviewer) revConflict(path string, client api.ClientID, rev *uint64) error {
	if rev == nil {
		return nil
	}
	r.save(slices.DeleteFunc(r.at(path), func(f *file) bool { return !r.stale(f) })...)
	diff := r.shown(client, path)
	if diff != nil && diff.Rev == *rev {
		return nil
	}
	return &api.Error{
		Kind: api.KindConflict, Message: fmt.Sprintf("%s has changed since revision %d", path, *rev),
		Hint: "look at the present diff and decide again", Diff: diff,
	}
}

// refuse answers a request with an error. A diff in the answer is the client's present one, and is on disk before, so its
// revision names no other state after a crash.
func (r *Reviewer) refuse(p *waiting.Request, client api.ClientID, err error) bool {
	var e *api.Error
	if !errors.As(err, &e) || e.Diff == nil {
		return p.Answer(api.Decided{}, err)
	}
	now := *e
	if diff := r.shown(client, e.Diff.Path); diff != nil {
		now.Diff = diff
	}
	r.setup.Loop.WhenStored(func() { p.Answer(api.Decided{}, &now) })
	return true
}

// conflict publishes the file's present diff and returns the error with it.
func (r *Reviewer) conflict(f *file, message string) error {
	if r.stale(f) {
		r.save(f)
	}
	return r.conflictHint(f, message, "look at the present diff and decide again")
}

// conflictHint returns the error with the file's published diff.
func (r *Reviewer) conflictHint(f *file, message, hint string) error {
	return &api.Error{Kind: api.KindConflict, Message: message, Hint: hint, Diff: r.published[f.path]}
}

// decisionError turns an error of package diffs into the answer for clients.
func (r *Reviewer) decisionError(f *file, err error) error {
	var known *api.Error
	refused := diffshape.Refused(f.path, err)
	switch {
	case errors.As(err, &known):
		return err
	case refused == nil:
		return r.conflict(f, fmt.Sprintf("%s: %v", f.path, err))
	case refused.Kind == api.KindConflict:
		refused.Diff = r.published[f.path]
	}
	return refused
}

func (r *Reviewer) unreadable(f *file, img atomicfile.State) error {
	return r.conflictHint(f, fmt.Sprintf("%s cannot be read: %s", f.path, img.Unreadable), "repair the file and try again")
}

// skippedFor describes a hunk that cannot be decided because of an error.
func skippedFor(f *file, id uint64, err error) api.Skipped {
	s := api.SkippedBy(f.path, err)
	s.Hunk = diffshape.HunkID(f.n, id)
	return s
}

// agentWrites reports whether a client's decision must wait: it would write a file that an agent is about to write, or that
// nobody may write now.
func (r *Reviewer) agentWrites(f *file, client api.ClientID, accept bool) bool {
	switch {
	case f.tree.busy:
		return true
	case f.WritesReal(accept):
		return f.Buffers[client] == nil && (r.shared().Ledger.Writing(f.realPath()) || r.lags(f))
	}
	return f.tree.Isolated() && f.tree.Ledger.Writing(f.path)
}

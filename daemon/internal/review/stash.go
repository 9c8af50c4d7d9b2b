package review

import (
	"cursord/daemon/internal/commits"
	"cursord/daemon/internal/stored"
	"cursord/diffs"
)

// away reports whether hunks of the file may come back.
func (f *file) away() bool {
	if f.Review == nil {
		return f.stored.Formers != nil || f.stored.Stashed != nil
	}
	return f.Review.Follows() || f.stashed != nil && f.stashed.Rev == f.Review.Rev()
}

// loadStashed makes f.stashed from the store. A stash whose blobs are lost is dropped.
func (r *Reviewer) loadStashed(f *file) {
	if err := stored.LoadFormers(f.stored.Formers, f.Review, r.setup.Store); err != nil {
		r.setup.Log.Warn("what was to be reviewed before a change of the work tree is lost", "path", f.path, "err", err)
	}
	s := f.stored.Stashed
	if s == nil {
		return
	}
	review, err := s.Load(r.setup.Store)
	if err != nil {
		r.setup.Log.Warn("the hunks of a stash are lost", "path", f.path, "err", err)
		return
	}
	f.stashed = stored.NewStashed(review, s.Rev)
}

// putAway takes note of a person's change of a file; before is the review without it. It is kept while hunks are pending or
// may be in a stash, and while the file is gone: a person may have moved it away for a while.
func (r *Reviewer) putAway(f *file, before *diffs.Review) {
	switch kept := f.Review.Pending() || !f.Review.Current().Exists || commits.HasStash(r.setup.Root); {
	case !kept:
		f.stashed = nil
	case f.stashed != nil:
		f.stashed.Changed(before, f.Review)
	case before.Pending() && before.Rev() != f.Review.Rev():
		f.stashed = stored.NewStashed(before, f.Review.Rev())
	}
}

// bringBack restores the review from before a person's changes if the file has its content of then again.
func (r *Reviewer) bringBack(f *file, now diffs.Content) {
	if f.stashed == nil {
		return
	}
	was, left, ok := f.stashed.Back(now, f.Review)
	switch {
	case f.stashed.Rev != f.Review.Rev(): // since then an agent has written the file, or somebody has decided
		f.stashed = nil
	case ok:
		f.Review, f.stashed = was, left
	case !f.Review.Pending() && f.Review.Current().Exists && !commits.HasStash(r.setup.Root):
		f.stashed = nil // the stash was dropped, or git has merged it into another content
	}
}

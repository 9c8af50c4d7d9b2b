package review

import (
	"path/filepath"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/stored"
	"cursord/diffs"
)

// This file keeps the hunks that a person has put away with "git stash", until they come back by "git stash pop".

// A stashed is a file's review as it was before a person put away what was pending.
type stashed struct {
	review *diffs.Review
	rev    uint64 // the revision of the file's review since then, while only people have changed the file
}

func (s *stashed) state() (*stored.Stash, [][]byte) {
	base, now, weave, blobs := stored.Review(s.review)
	return &stored.Stash{Rev: s.rev, Base: base, Now: now, Weave: weave}, blobs
}

// away reports whether hunks of the file are in a stash.
func (f *file) away() bool { return f.stashed != nil || f.review == nil && f.stored.Stashed != nil }

// loadStashed makes f.stashed from the store. A stash whose blobs are lost is dropped.
func (r *Reviewer) loadStashed(f *file) {
	s := f.stored.Stashed
	if s == nil {
		return
	}
	review, err := s.Load(r.setup.Store)
	if err != nil {
		r.setup.Log.Warn("the hunks of a stash are lost", "path", f.path, "err", err)
		return
	}
	f.stashed = &stashed{review, s.Rev}
}

// hasStash reports whether the workspace's repository has a stash. The stash's time does not count: git makes a stash before
// it takes the changes out of the files, and somebody may look at them in between.
func (r *Reviewer) hasStash() bool {
	repo, ok := askgit.Find(r.setup.Root)
	if !ok {
		return false
	}
	dir, err := repo.Common()
	return err == nil && filestat.Of(filepath.Join(dir, "refs", "stash")).Exists()
}

// putAway notes that a person has changed a file whose review was before. If the changes may be in a stash, it keeps that
// review.
func (r *Reviewer) putAway(f *file, before *diffs.Review) {
	switch {
	case f.stashed != nil:
		f.stashed.rev = f.review.Rev()
	case before.Pending() && before.Rev() != f.review.Rev() && r.hasStash():
		f.stashed = &stashed{before, f.review.Rev()}
	}
}

// bringBack restores the review from before a stash if the file has its content from then again.
func (r *Reviewer) bringBack(f *file, now diffs.Content) {
	s := f.stashed
	switch {
	case s == nil:
	case s.rev != f.review.Rev(): // an agent has written the file, or somebody has decided, since then
		f.stashed = nil
	case (atomicfile.State{Content: now}).Same(atomicfile.State{Content: s.review.Current()}):
		s.review.Supersede(f.review)
		f.review, f.stashed = s.review, nil
	case !r.hasStash():
		f.stashed = nil // the stash was dropped, or git has merged it into something else
	}
}

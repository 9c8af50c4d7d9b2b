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

// A stashed is a file's review from before a person put its pending hunks away.
type stashed struct {
	review *diffs.Review
	rev    uint64 // the revision of the file's review after the stash, or after a person's latest change since
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

// hasStash reports whether the workspace's repository has a stash. It ignores the stash's time, because git makes a stash
// before it removes the changes from the files, and somebody may look at the files in between.
func (r *Reviewer) hasStash() bool {
	repo, ok := askgit.Find(r.setup.Root)
	if !ok {
		return false
	}
	dir, err := repo.Common()
	return err == nil && filestat.Of(filepath.Join(dir, "refs", "stash")).Exists()
}

// putAway takes note of a person's change of a file; before is the review without it. If the change may be in a stash,
// before is kept.
func (r *Reviewer) putAway(f *file, before *diffs.Review) {
	switch {
	case f.stashed != nil:
		f.stashed.rev = f.review.Rev()
	case before.Pending() && before.Rev() != f.review.Rev() && r.hasStash():
		f.stashed = &stashed{before, f.review.Rev()}
	}
}

// bringBack restores the review from before a stash if the file has its content of then again.
func (r *Reviewer) bringBack(f *file, now diffs.Content) {
	s := f.stashed
	switch {
	case s == nil:
	case s.rev != f.review.Rev(): // since then an agent has written the file, or somebody has decided
		f.stashed = nil
	case (atomicfile.State{Content: now}).Same(atomicfile.State{Content: s.review.Current()}):
		s.review.Supersede(f.review)
		f.review, f.stashed = s.review, nil
	case !r.hasStash():
		f.stashed = nil // the stash was dropped, or git has merged it into another content
	}
}

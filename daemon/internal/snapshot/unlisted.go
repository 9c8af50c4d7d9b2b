package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/git"
)

// A workspace can keep git from listing it: with a FIFO in the place of a .gitignore, or with a rule that takes years to
// match. Then the folders are read without git. That lists ignored files too, which is better than listing none.

// Times that git may take to list a workspace before the folders are read instead.
const (
	firstListing = 10 * time.Second // for a snapshot
	lastListing  = 8 * time.Second  // out of the time of a turn's last scan
	slowListing  = time.Second      // after a listing that took too long, because a prompt or the end of a call waits for it
)

// patience returns how long git may take to list the workspace. It is most, or less after a listing that took too long.
func (s *Snapshot) patience(most time.Duration) time.Duration {
	if s.guard != nil && s.guard.Slow != nil && s.guard.Slow.Load() {
		return min(most, slowListing)
	}
	return most
}

// took notes how a listing ended. asked is the context of the listing alone.
func (s *Snapshot) took(asked context.Context, err error) {
	if s.guard == nil || s.guard.Slow == nil {
		return
	}
	if err == nil || errors.Is(asked.Err(), context.DeadlineExceeded) {
		s.guard.Slow.Store(err != nil)
	}
}

// listNow lists the files of a repository, without some of the known ones, for a scan, which can go on without the list.
func (s *Snapshot) listNow(ctx context.Context, r git.Repository, left *LeftOut) (files []git.Listed, nested []string, err error) {
	most := ScanTime // a scan between calls leaves the list to the next scan
	if last(ctx) {
		most = lastListing
	}
	asked, cancel := context.WithTimeout(ctx, s.patience(most))
	defer cancel()
	s.mu.Lock()
	known := s.files.clone()
	s.mu.Unlock()
	files, nested, err = r.List(asked, known.has)
	if most == lastListing || err == nil {
		s.took(asked, err)
	}
	if err != nil && ctx.Err() == nil {
		left.git = withoutGit(asked, err)
	}
	return files, nested, err
}

// withoutGit returns a text for people that says why git has not listed a workspace. It is "" if no file in the workspace is
// the cause.
func withoutGit(asked context.Context, err error) string {
	switch {
	case errors.Is(asked.Err(), context.DeadlineExceeded):
		err = askgit.ErrTooLong
	case !askgit.Blocked(err):
		return ""
	}
	return fmt.Sprintf("git cannot list its files, so ignored files may be listed: %v", blockedBy(err))
}

// blockedBy returns the part of an error that names what blocks git, if there is one.
func blockedBy(err error) error {
	var way *askgit.InTheWay
	if errors.As(err, &way) {
		return way
	}
	return err
}

// last reports whether a scan is the last one of its turn, by the time that it has.
func last(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ok && time.Until(end) > 2*ScanTime
}

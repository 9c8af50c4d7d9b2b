package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/git"
)

// Git can be kept from listing a workspace: by a FIFO in the place of a .gitignore, or by a rule that takes its matching years.
// Then the folders are read without it. More is listed then than should be, since nobody knows what git ignores; that is
// better than nothing.

// How long git may take to list a workspace, before its folders are read.
const (
	firstListing = 10 * time.Second // for a snapshot
	lastListing  = 8 * time.Second  // of the time that the last scan of a turn has
	slowListing  = time.Second      // where it took too long the last time: a prompt waits for it, and so does a call's end
)

// patience returns how long git may take to list the workspace, at most.
func (s *Snapshot) patience(most time.Duration) time.Duration {
	if s.guard != nil && s.guard.Slow != nil && s.guard.Slow.Load() {
		return min(most, slowListing)
	}
	return most
}

// took notes how a listing has ended that was asked with a context of its own.
func (s *Snapshot) took(asked context.Context, err error) {
	if s.guard == nil || s.guard.Slow == nil {
		return
	}
	if err == nil || errors.Is(asked.Err(), context.DeadlineExceeded) {
		s.guard.Slow.Store(err != nil)
	}
}

// listNow is list for a scan, which may go on without git.
func (s *Snapshot) listNow(ctx context.Context, r git.Repository, left *LeftOut) (files []git.Listed, nested []string, err error) {
	most := ScanTime // a scan between calls leaves it to the next one
	if end, ok := ctx.Deadline(); ok && time.Until(end) > 2*ScanTime {
		most = lastListing
	}
	asked, cancel := context.WithTimeout(ctx, s.patience(most))
	defer cancel()
	files, nested, err = r.List(asked, false)
	if most == lastListing || err == nil {
		s.took(asked, err)
	}
	if err != nil && ctx.Err() == nil {
		left.git = withoutGit(asked, err)
	}
	return files, nested, err
}

// withoutGit says, for people, why git has not listed a workspace, if a file of it is the cause; else "".
func withoutGit(asked context.Context, err error) string {
	switch {
	case errors.Is(asked.Err(), context.DeadlineExceeded):
		err = askgit.ErrTooLong
	case !askgit.Blocked(err):
		return ""
	}
	return fmt.Sprintf("git cannot list its files, so that ignored ones may be listed: %v", blockedBy(err))
}

// blockedBy returns the part of an error that says what is in git's way, if there is one.
func blockedBy(err error) error {
	var way *askgit.InTheWay
	if errors.As(err, &way) {
		return way
	}
	return err
}

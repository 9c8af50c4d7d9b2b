package review

import (
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/diffs"
)

// This file is about changes whose author was guessed from their time. A call may edit a file right after a command, before
// the daemon has looked at the command's changes or has heard of the call.

// A guess is about a file's latest change.
type guess struct {
	before *diffs.Review // the review without the change
	rev    uint64        // the review's revision with it
	by     diffs.Source  // the author that was guessed
	seen   snapshot.ChangeTime
}

// guessed records that the author of a file's last change was guessed; before is the review without that change, and since the moment
// of the last look before it.
func (f *file) guessed(before *diffs.Review, by diffs.Source, since int64) {
	if f.guess = nil; before != nil && len(f.tree.starts.All()) > 0 && !f.tree.isolated() { // in a copy, all changes are its agent's
		when := f.tree.changedAt(f.path, filestat.Of(f.tree.absolute(f.path)))
		f.guess = &guess{before, f.Review.Rev(), by, snapshot.ChangeTime{Path: f.path, When: when, Since: since}}
	}
}

// doubtGuesses finds the authors of changes again that were taken for those of a call while it was open: now that its end is known,
// some may have come after it.
func (r *Reviewer) doubtGuesses(t *Worktree) {
	var changed []*file
	for _, f := range t.files {
		g := f.guess
		if g == nil || g.by.Via == diffs.ViaUnknown || f.Review == nil || f.Review.Rev() != g.rev || f.vanished != nil || g.seen.Path != f.path {
			continue
		}
		by := t.writerAt(g.seen, nil)
		if by != nil && by.Via != diffs.ViaUnknown {
			continue
		}
		now := f.Review.Current()
		review := g.before.Copy()
		review.Supersede(f.Review)
		review.Observe(now, by)
		f.Review, g.rev = review, review.Rev()
		if by != nil {
			g.by, f.agents = *by, g.rev
		}
		changed = append(changed, f)
	}
	r.save(changed...)
}

// giveUpGuess takes back a file's last change if its author was guessed and reports of calls show that one of them made it.
// It returns false if the file's review stays as it is.
func (f *file) giveUpGuess(reports []attribution.Report) bool {
	g := f.guess
	if g == nil || f.Review.Rev() != g.rev || g.before.Path() != f.Review.Path() {
		f.guess = nil
		return false
	}
	before := g.before
	if !(attribution.Guess{From: before.Current(), To: f.Review.Current()}).MadeBy(reports) {
		return false
	}
	before.Supersede(f.Review)
	f.Review, f.guess = before, nil
	return true
}

// forgetGuesses drops all guesses at the end of a turn: no call can report those changes any more.
func (t *Worktree) forgetGuesses() {
	for _, f := range t.files {
		f.guess = nil
	}
}

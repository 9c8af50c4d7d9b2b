package review

import (
	"cursord/daemon/internal/attribution"
	"cursord/diffs"
)

// This file is about changes that a look attributed by their time, before the daemon heard of the call that made them: a call may edit a
// file right after a command, before the daemon has looked at what the command left.

// guessed notes that the last change of a file was attributed by its time; before is the review without it.
func (f *file) guessed(before *diffs.Review) {
	if len(f.tree.starts.All()) > 0 && !f.tree.isolated() { // in a copy, all changes are its agent's
		f.guess, f.guessRev = before, f.review.Rev()
	}
}

// giveUpGuess takes the last change of a file back if it was attributed by its time, and reports of calls show that one of them
// made it. It returns false if the file's review stays as it is.
func (f *file) giveUpGuess(reports []attribution.Report) bool {
	before := f.guess
	if before == nil || f.review.Rev() != f.guessRev || before.Path() != f.review.Path() {
		f.guess = nil
		return false
	}
	if !(attribution.Guess{From: before.Current(), To: f.review.Current()}).MadeBy(reports) {
		return false
	}
	before.Supersede(f.review)
	f.review, f.guess = before, nil
	return true
}

// forgetGuesses drops what no call can claim any more: a turn has ended.
func (t *Worktree) forgetGuesses() {
	for _, f := range t.files {
		f.guess = nil
	}
}

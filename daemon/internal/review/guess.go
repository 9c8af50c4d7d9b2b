package review

import (
	"cursord/daemon/internal/attribution"
	"cursord/diffs"
)

// This file is about changes whose author was guessed from their time. A call may edit a file right after a command, before
// the daemon has looked at the command's changes or has heard of the call.

// guessed records that the author of a file's last change was guessed; before is the review without that change.
func (f *file) guessed(before *diffs.Review) {
	if len(f.tree.starts.All()) > 0 && !f.tree.isolated() { // in a copy, all changes are its agent's
		f.guess, f.guessRev = before, f.Review.Rev()
	}
}

// giveUpGuess takes back a file's last change if its author was guessed and reports of calls show that one of them made it.
// It returns false if the file's review stays as it is.
func (f *file) giveUpGuess(reports []attribution.Report) bool {
	before := f.guess
	if before == nil || f.Review.Rev() != f.guessRev || before.Path() != f.Review.Path() {
		f.guess = nil
		return false
	}
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

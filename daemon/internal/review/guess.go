package review

import (
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/threeway"
	"cursord/diffs"
)

// This file is about changes whose author was guessed from their time. A call may edit a file right after a command, before
// the daemon has looked at the command's changes or has heard of the call.

// A guess is about a file's latest change.
type guess struct {
	before *diffs.Review       // the review without the change
	by     diffs.Source        // the guessed author, who may be wrong
	rev    uint64              // the review's revision with it
	seen   snapshot.ChangeTime // by a look that took it for a call's while that was open; empty if the change was found in another way
}

// guessed records that the author of a file's last change was guessed; before is the review without that change.
func (f *file) guessed(before *diffs.Review, by diffs.Source) {
	if !f.tree.Isolated() { // in a copy, all changes are its agent's
		by.Via = diffs.ViaUnknown
	}
	if f.guess = nil; before != nil && len(f.tree.Starts.All()) > 0 {
		f.guess = &guess{before: before, by: by, rev: f.Review.Rev()}
	}
}

// seenDuring adds to the guess about a change that a look has seen during a call. A deletion has only its folder's time, which may be later.
func (f *file) seenDuring(by diffs.Source, since int64) {
	if st := filestat.Of(f.tree.Absolute(f.path)); f.guess != nil && st.Exists() && by.Via != diffs.ViaUnknown {
		f.guess.seen = snapshot.ChangeTime{Path: f.path, When: f.tree.ChangedAt(f.path, st), Since: since}
	}
}

// doubtGuesses finds the authors of changes again that were taken for those of an open call: its end is known now, and some came after it.
func (r *Reviewer) doubtGuesses(t *Worktree) {
	var changed []*file
	for _, f := range t.files {
		g := f.guess
		if g == nil || f.Review == nil || f.Review.Rev() != g.rev || g.seen.Path != f.path || !t.Explained(g.seen.When) {
			continue
		}
		by := t.WriterAt(g.seen, nil)
		if by != nil && by.Via != diffs.ViaUnknown {
			continue
		}
		now := f.Review.Current()
		t.made.TakeBack(t.place(f.path), g.before.Current(), now)
		t.made.Note(t.place(f.path), "", g.before.Current(), now, by)
		review := g.before.Copy()
		review.Supersede(f.Review)
		review.Observe(now, by)
		f.Review, g.rev, g.seen = review, review.Rev(), snapshot.ChangeTime{}
		if by != nil {
			f.agents = g.rev
		}
		changed = append(changed, f)
	}
	r.save(changed...)
}

// giveUp takes back a file's last change if its author was guessed and wrong agrees. It returns false if the review stays as it is.
func (f *file) giveUp(wrong func(before, now diffs.Content) bool) bool {
	g := f.guess
	if g == nil || f.Review.Rev() != g.rev || g.before.Path() != f.Review.Path() {
		f.guess = nil
		return false
	}
	if !wrong(g.before.Current(), f.Review.Current()) {
		return false
	}
	f.tree.made.TakeBack(f.tree.place(f.path), g.before.Current(), f.Review.Current())
	g.before.Supersede(f.Review)
	f.Review, f.guess = g.before, nil
	return true
}

// giveUpGuess is giveUp for a change with the edits of calls in it. The guessed author may have made the rest.
func (f *file) giveUpGuess(reports []attribution.Report) (given bool) {
	g := f.guess
	given = f.giveUp(func(before, now diffs.Content) bool { return attribution.Guess{From: before, To: now}.Holds(reports) })
	if given && reports[0].Beside == nil {
		reports[0].Beside = &g.by
	}
	return given
}

// giveUpSave is giveUp for a person's save that the daemon hears of only now. The person may have saved over a command's change, if the client
// does not say that its text began without it. A command may also have changed other lines since: disk is the present content.
func (f *file) giveUpSave(doc *documents.Document, saved, disk atomicfile.State) {
	said := doc.Base.Unreadable == ""
	given := f.giveUp(func(before, now diffs.Content) bool {
		if !said && (doc.Known == nil || !saved.Same(disk) || !atomicfile.State{Content: *doc.Known}.Same(atomicfile.State{Content: before})) {
			return false
		}
		beneath := threeway.Nearer(string(now.Data), string(saved.Data), string(before.Data))
		return saved.Same(atomicfile.State{Content: now}) || beneath && disk.Same(atomicfile.State{Content: now})
	})
	if given && said && !doc.Base.Same(atomicfile.State{Content: f.Review.Current()}) {
		by := f.tree.WriterAt(snapshot.ChangeTime{Path: f.path, When: doc.Based}, nil)
		f.tree.made.Note(f.tree.place(f.path), "", f.Review.Current(), doc.Base.Content, by)
		if f.Review.Observe(doc.Base.Content, by); by != nil {
			f.agents = f.Review.Rev()
		}
	}
}

// forgetGuesses drops all guesses at the end of a turn: no call can report those changes any more.
func (t *Worktree) forgetGuesses() {
	for _, f := range t.files {
		f.guess = nil
	}
}

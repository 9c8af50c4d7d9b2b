package review

import (
	"context"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/commits"
	"cursord/daemon/internal/diffshape"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/waiting"
)

// gitTime bounds each question to git about a commit.
const gitTime = 5 * time.Second

// lookAtHead looks for a commit made since the last look. If the commit counts, the pending hunks that it contains are
// accepted. A commit made while a turn runs counts only if no call, and no process left by a call, can have made it.
func (r *Reviewer) lookAtHead(counts bool) {
	if !r.setup.Settings().CommitAccepts {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	if m := r.head.Look(ctx); m != nil && counts {
		if err := r.acceptCommitted(ctx, m); err != nil {
			r.setup.Log.Warn("the files of a commit cannot be read", "err", err)
		}
	}
}

// committedByPerson reports whether a commit at a moment cannot have been made by a process of an agent.
func (r *Reviewer) committedByPerson(when int64) bool {
	if !filestat.ChangeTimes || r.setup.Survivors.Alive() {
		return false
	}
	for _, t := range r.trees {
		if t.Unattended.Load() > 0 || t.Ledger.Author(attribution.Change{When: when}) != nil {
			return false
		}
	}
	return true
}

// headMoved is lookAtHead for a time when a turn may run. It accepts nothing before the first look.
func (r *Reviewer) headMoved(counts bool) {
	if !r.head.Known() {
		r.answers.Look(counts)
		return
	}
	if when, ok := r.head.Changed(); ok && !counts {
		for _, t := range r.trees {
			if !t.Explained(when) {
				return // a later look knows whether an agent made the commit
			}
		}
		counts = r.committedByPerson(when)
	}
	r.answers.Look(counts)
	r.lookAtHead(counts)
}

// headEnds is headMoved at the end of a turn, when the times of its calls are no longer known.
func (r *Reviewer) headEnds() {
	r.answers.Look(r.setup.Running() <= 1) // the turn has done all
	r.lookAtHead(false)
}

// acceptCommitted accepts, as one decision, the hunks that the new commit has and the old one lacks.
func (r *Reviewer) acceptCommitted(ctx context.Context, m *commits.Move) error {
	var files []*file
	var paths []string
	for _, f := range r.sorted() {
		if f.pending() && !f.outside() && !f.tree.Isolated() { // a change in a copy cannot be in a commit
			files, paths = append(files, f), append(paths, f.path)
		}
	}
	if len(files) == 0 {
		return nil
	}
	texts, err := r.head.Texts(ctx, m, paths)
	if err != nil {
		return err
	}
	var hunks []string
	for _, f := range files {
		c, ok := texts[f.path]
		if !ok || r.load(f) != nil {
			continue
		}
		for _, id := range f.Review.Agreed(c.Before, c.After) {
			hunks = append(hunks, diffshape.HunkID(f.n, id))
		}
	}
	if len(hunks) == 0 {
		return nil
	}
	r.decide(api.Decision{Accept: true, Commit: true, Hunks: hunks}, waiting.NewRequest(func(d api.Decided, err error) {
		if err != nil {
			r.setup.Log.Info("the hunks of a commit are not accepted", "err", err)
			return
		}
		r.setup.Log.Info("accepted by a commit", "hunks", d.Applied)
	}))
	return nil
}

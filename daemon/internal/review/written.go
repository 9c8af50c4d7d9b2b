package review

import (
	"cmp"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/stored"
	"cursord/daemon/internal/toolcalls"
	"cursord/diffs"
)

// agentWrote takes in the files that finished calls have written; sources are their authors, in the same order.
func (t *Turn) agentWrote(files []toolcalls.Written, sources []diffs.Source) {
	latest := map[toolcalls.FileRef]*toolcalls.Written{}
	for i := range files {
		wr := &files[i]
		if !wr.Refused || !t.r.saidToBeSaved(wr, &sources[i]) {
			wr.Tree.Ledger.Report(wr.Path, attribution.Report{
				Source: sources[i], Before: wr.Change.Before, After: wr.Change.After, Deleted: wr.Change.Deleted, LeavesEmpty: wr.LeavesEmpty, End: wr.End,
				Beside: cmp.Or(wr.Beside, wr.Tree.Others()),
			})
			latest[wr.FileRef] = wr
		}
		for _, o := range wr.Open {
			o.Close()
		}
	}
	for i := range files {
		if wr := &files[i]; latest[wr.FileRef] == wr {
			t.r.takeIn(t.worktree(wr.Tree), wr)
		}
	}
}

// saidToBeSaved looks again at a file that a refused call may have written. It reports whether an editor says that a person has made what the
// file holds now. Saves that were taken in before are known to be theirs.
func (r *Reviewer) saidToBeSaved(wr *toolcalls.Written, by *diffs.Source) bool {
	if at, now := clock.Now(), wr.Tree.Read(wr.Path); !wr.Tree.Isolated() && !now.Same(wr.After) {
		wr.At, wr.After, by.Via = at, now, diffs.ViaUnknown
	}
	return r.setup.Documents.Typed(wr.Tree.Absolute(wr.Path), wr.After) != nil
}

// takeIn brings the reports of calls about a file into its review. While another call that names the file is open, it only
// notes the content. Further differences on the disk are left to the next look at the file.
func (r *Reviewer) takeIn(in *Worktree, wr *toolcalls.Written) {
	looks, reports, ok := wr.Tree.Ledger.TakeIn(wr.Path)
	if ok && !wr.Tree.Isolated() {
		defer delete(r.saves, wr.Path)
	}
	if odd := wr.After.Unreadable != ""; !ok || odd { // the transcript has a notice about an odd file
		if !odd {
			wr.Tree.Ledger.Look(wr.Path, attribution.Look{Content: wr.After.Content, At: wr.At})
		}
		return
	}
	f := r.readable(in, wr.Path, wr.After)
	if f == nil {
		f = r.broughtHere(in, wr, looks, reports)
	}
	for i := range reports { // an editor has the file open: only the times say which changes are the call's
		if rep := &reports[i]; rep.After == nil && !rep.Deleted && !wr.Tree.Isolated() && wr.Tree.HeldElsewhere(wr.Path) {
			rep.Source.Via = diffs.ViaUnknown
		}
	}
	given := f != nil && f.giveUpGuess(reports)
	story := attribution.Story{Looks: looks, Reports: reports, Disk: wr.After.Content, Saves: wr.Saves, Late: wr.Late}
	if given {
		now := f.Review.Current()
		story.Last = &now
	} else if start, seen := wr.StartAt(); seen && (f == nil || !f.Review.Pending()) {
		story.Last = &start
	} else if f != nil {
		if before := reports[0].Before; before != nil { // the content that the agent has read
			f.uncut(diffs.Content{Exists: true, Data: []byte(*before)})
		}
		now := f.Review.Current()
		story.Last, story.Agents = &now, f.agents == f.Review.Rev()
	} else if before, known := r.takenOver(in, wr.Path); known {
		story.Last = &before
	}
	steps, known := attribution.Chain(story)
	if len(steps) == 0 {
		return
	}
	var was *diffs.Review
	if f != nil {
		was = f.Review
	}
	in.made.Chain(in.place(wr.Path), was, steps, known)
	if last := steps[len(steps)-1].Content; wr.After.Same(atomicfile.State{Content: last}) {
		wr.Start.Note(wr.Path, filestat.Stat{}, wr.After)
	} // else somebody has written the file since; if it was the next command, the look at that command's end must find the change
	if f = r.observe(in, f, wr, steps, known); f == nil {
		return
	}
	f.lookedAt = wr.At
	if f.is.Ino == 0 && !wr.Tree.Isolated() {
		f.is = wr.Start.Is(wr.Path) // a person may give it another name before the first look at it
	}
	f.made = stored.Union(f.made, wr.Start.MissingDirs(wr.Path))
	for _, img := range []diffs.Content{steps[0].Content, wr.After.Content} {
		if img.Exists && img.Mode != 0 {
			f.mode = img.Mode
		}
	}
	if !wr.After.Same(atomicfile.State{Content: f.Review.Current()}) { // somebody has written the file since, perhaps a command of which the daemon has not heard
		f.lookedAt = min(wr.At, f.tree.ChangedAt(f.path, filestat.Of(f.tree.Absolute(f.path)))-1)
		if _, err := r.refresh(f); err != nil {
			r.setup.Log.Warn("a file under review cannot be read", "path", f.path, "err", err)
		}
	}
	r.noteCarried(in, f)
	if r.stale(f) {
		r.save(f)
	}
}

// observe has the review of a path take the steps of a chain. A path without a review gets one if the steps leave something
// pending; otherwise observe returns nil.
func (r *Reviewer) observe(in *Worktree, f *file, wr *toolcalls.Written, steps []attribution.Step, known bool) *file {
	var review, guess *diffs.Review
	switch {
	case f != nil:
		review = f.Review
		review.Begin(steps[0].Content, wr.Tree.Others()) // with people's changes while nobody watched
		if !known {
			review.Observe(steps[0].Content, steps[0].By)
		}
	case known:
		review = r.setup.Large.New(steps[0].Content)
	default:
		review = r.setup.Large.NewUnknown(steps[0].Content, *steps[0].By)
	}
	for _, step := range steps[1:] {
		if s := r.saves.As(wr.Path, step.Content); s != nil && step.By == nil && review.Pending() && !wr.Tree.Isolated() {
			if f == nil {
				f = r.add(in, wr.Path, review)
			}
			if f.Review = review; r.takeSaved(f, s, atomicfile.State{Content: step.Content}) {
				review = f.Review
				continue
			}
		}
		if wr.Refused {
			guess = review.Copy()
		}
		review.Observe(step.Content, step.By)
	}
	if f != nil {
		f.Review = review
	}
	if f == nil && review.Pending() {
		f = r.add(in, wr.Path, review)
	}
	if by := steps[len(steps)-1].By; wr.Refused && f != nil && by != nil {
		f.guessed(guess, *by) // an editor may still report a person's save
	}
	return f
}

// takeInEnded has the reviews take in reports that waited for other calls of the same files to end.
func (r *Reviewer) takeInEnded() {
	for _, t := range r.trees {
		for _, path := range t.Ledger.Reported() {
			wr := &toolcalls.Written{FileRef: toolcalls.FileRef{Tree: &t.Tree, Path: path}, At: clock.Now(), Start: snapshot.Empty(t.Name)}
			if starts := t.Starts.All(); len(starts) > 0 {
				wr.Start = starts[len(starts)-1]
			}
			if t.Name == "" {
				continue // the copy is gone
			}
			wr.After = t.Read(path)
			wr.Saves = t.Calls.Saves(path)
			r.takeIn(t, wr)
		}
	}
}

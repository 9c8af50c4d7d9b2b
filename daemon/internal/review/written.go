package review

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cursord/agent"
	"cursord/daemon/internal/agentcalls"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/internal/stored"
	"cursord/diffs"
)

// A Written is a file that a finished call reports as changed.
type Written struct {
	spot
	call        int // index of its ToolEnd in the batch
	end         int // its position among the ended calls that name the file, from 1; 0: unknown
	change      agent.FileChange
	at          int64            // a moment before after was read, by package clock
	after       atomicfile.State // the file's content at the call's end
	saves       int              // how many saves of the file were seen by then
	late        bool             // the file was changed after the call had ended
	via         diffs.Via
	leavesEmpty bool // a text that the call does not report may be an empty one
	start       *snapshot.Snapshot
	refused     bool          // a person may have made the change
	open        []namedCall   // calls to close once the report is in the ledger
	beside      *diffs.Source // who may have changed the file since it was last looked at; nil: people
}

// agentWrote takes in the files that finished calls have written; sources are their authors, in the same order.
func (r *Reviewer) agentWrote(files []Written, sources []diffs.Source) {
	latest := map[spot]*Written{}
	for i := range files {
		wr := &files[i]
		if !wr.refused || !r.saidToBeSaved(wr, &sources[i]) {
			wr.tree.Ledger.Report(wr.path, attribution.Report{
				Source: sources[i], Before: wr.change.Before, After: wr.change.After, Deleted: wr.change.Deleted, LeavesEmpty: wr.leavesEmpty, End: wr.end,
				Beside: cmp.Or(wr.beside, wr.tree.Others()),
			})
			latest[wr.spot] = wr
		}
		for _, o := range wr.open {
			o.close()
		}
	}
	for i := range files {
		if wr := &files[i]; latest[wr.spot] == wr {
			r.takeIn(wr)
		}
	}
}

// saidToBeSaved looks again at a file that a refused call may have written. It reports whether an editor says that a person has made what the
// file holds now. Saves that were taken in before are known to be theirs.
func (r *Reviewer) saidToBeSaved(wr *Written, by *diffs.Source) bool {
	if at, now := clock.Now(), wr.tree.Read(wr.path); !wr.tree.Isolated() && !now.Same(wr.after) {
		wr.at, wr.after, by.Via = at, now, diffs.ViaUnknown
	}
	return r.setup.Documents.Typed(wr.tree.Absolute(wr.path), wr.after) != nil
}

// takeIn brings the reports of calls about a file into its review. While another call that names the file is open, it only
// notes the content. Further differences on the disk are left to the next look at the file.
func (r *Reviewer) takeIn(wr *Written) {
	looks, reports, ok := wr.tree.Ledger.TakeIn(wr.path)
	if ok && !wr.tree.Isolated() {
		defer delete(r.saves, wr.path)
	}
	if odd := wr.after.Unreadable != ""; !ok || odd { // the transcript has a notice about an odd file
		if !odd {
			wr.tree.Ledger.Look(wr.path, attribution.Look{Content: wr.after.Content, At: wr.at})
		}
		return
	}
	f := r.readable(wr.tree, wr.path, wr.after)
	for i := range reports { // an editor has the file open: only the times say which changes are the call's
		if rep := &reports[i]; rep.After == nil && !rep.Deleted && !wr.tree.Isolated() && wr.tree.HeldElsewhere(wr.path) {
			rep.Source.Via = diffs.ViaUnknown
		}
	}
	given := f != nil && f.giveUpGuess(reports)
	story := attribution.Story{Looks: looks, Reports: reports, Disk: wr.after.Content, Saves: wr.saves, Late: wr.late}
	if given {
		now := f.Review.Current()
		story.Last = &now
	} else if start, seen := wr.startAt(); seen && (f == nil || !f.Review.Pending()) {
		story.Last = &start
	} else if f != nil {
		if before := reports[0].Before; before != nil { // the content that the agent has read
			f.uncut(diffs.Content{Exists: true, Data: []byte(*before)})
		}
		now := f.Review.Current()
		story.Last, story.Agents = &now, f.agents == f.Review.Rev()
	} else if before, known := r.takenOver(wr.tree, wr.path); known {
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
	wr.tree.made.Chain(wr.tree.place(wr.path), was, steps, known)
	if last := steps[len(steps)-1].Content; wr.after.Same(atomicfile.State{Content: last}) {
		wr.start.Note(wr.path, filestat.Stat{}, wr.after)
	} // else somebody has written the file since; if it was the next command, the look at that command's end must find the change
	if f = r.observe(f, wr, steps, known); f == nil {
		return
	}
	f.lookedAt = wr.at
	f.made = stored.Union(f.made, wr.start.MissingDirs(wr.path))
	for _, img := range []diffs.Content{steps[0].Content, wr.after.Content} {
		if img.Exists && img.Mode != 0 {
			f.mode = img.Mode
		}
	}
	if !wr.after.Same(atomicfile.State{Content: f.Review.Current()}) { // somebody has written the file since, perhaps a command of which the daemon has not heard
		f.lookedAt = min(wr.at, f.tree.ChangedAt(f.path, filestat.Of(f.tree.Absolute(f.path)))-1)
		if _, err := r.refresh(f); err != nil {
			r.setup.Log.Warn("a file under review cannot be read", "path", f.path, "err", err)
		}
	}
	if r.stale(f) {
		r.save(f)
	}
}

// observe has the review of a path take the steps of a chain. A path without a review gets one if the steps leave something
// pending; otherwise observe returns nil.
func (r *Reviewer) observe(f *file, wr *Written, steps []attribution.Step, known bool) *file {
	var review, guess *diffs.Review
	switch {
	case f != nil:
		review = f.Review
		review.Begin(steps[0].Content, wr.tree.Others()) // with people's changes while nobody watched
		if !known {
			review.Observe(steps[0].Content, steps[0].By)
		}
	case known:
		review = r.setup.Large.New(steps[0].Content)
	default:
		review = r.setup.Large.NewUnknown(steps[0].Content, *steps[0].By)
	}
	for _, step := range steps[1:] {
		if s := r.saves.As(wr.path, step.Content); s != nil && step.By == nil && review.Pending() && !wr.tree.Isolated() {
			if f == nil {
				f = r.add(wr.tree, wr.path, review)
			}
			if f.Review = review; r.takeSaved(f, s, atomicfile.State{Content: step.Content}) {
				review = f.Review
				continue
			}
		}
		if wr.refused {
			guess = review.Copy()
		}
		review.Observe(step.Content, step.By)
	}
	if f != nil {
		f.Review = review
	}
	if f == nil && review.Pending() {
		f = r.add(wr.tree, wr.path, review)
	}
	if by := steps[len(steps)-1].By; wr.refused && f != nil && by != nil {
		f.guessed(guess, *by) // an editor may still report a person's save
	}
	return f
}

// startAt returns the content of the path when the turn began or was last looked at; false if it is not known.
func (wr *Written) startAt() (diffs.Content, bool) {
	c, known := wr.start.At(wr.path)
	return wr.tree.TranslatedContent(c), known
}

// takeInEnded has the reviews take in reports that waited for other calls of the same files to end.
func (r *Reviewer) takeInEnded() {
	for _, t := range r.trees {
		for _, path := range t.Ledger.Reported() {
			wr := &Written{spot: spot{t, path}, at: clock.Now(), start: snapshot.Empty(t.Name)}
			if starts := t.Starts.All(); len(starts) > 0 {
				wr.start = starts[len(starts)-1]
			}
			if t.Name == "" {
				continue // the copy is gone
			}
			wr.after = t.Read(path)
			wr.saves = t.Calls.Saves(path)
			r.takeIn(wr)
		}
	}
}

// readEnd reads the content that a call has left in a file.
func (t *Turn) readEnd(f *Written, ev *agent.ToolEnd) {
	calls, full := &f.tree.Calls, f.tree.Absolute(f.path)
	seen := t.folders.Load().Seen()
	switch {
	case !agentcalls.Write(&ev.Call) || f.change.After != nil || f.change.Deleted:
		f.after = f.tree.Translated(atomicfile.ReadWritten(f.tree.Under(f.path), f.path, f.change.After))
	default:
		var changed int64
		to, dated := agentcalls.SaidAt(ev.Said, t.arrived, clock.Now())
		f.after, f.saves, changed = calls.ReadLeft(f.path)
		if f.saves > 0 { // Without a save, the call was over before anybody looked, and a change within its last millisecond may be later than the call.
			to += int64(time.Millisecond)
		}
		// With hooks that format files after edits, a later change is part of the call's.
		f.late = dated && filestat.ChangeTimes && !f.tree.Isolated() && !t.hooks.AfterEdit && changed > to
	}
	if to, dated := agentcalls.SaidAt(ev.Said, t.arrived, clock.Now()); dated && filestat.ChangeTimes && filestat.Of(full).Changed() <= to+int64(time.Millisecond) {
		t.folders.Load().Forget(full, seen) // they are this call's, or older
	}
	if agentcalls.Write(&ev.Call) {
		f.via, f.end = agentcalls.ViaEnd(ev, f.tree.ChangedAt(f.path, filestat.Of(full)), f.tree.Isolated()), f.tree.Ledger.Ends(f.path, f.at)
		f.saves = max(f.saves, calls.Saves(f.path))
	}
}

// unfinished returns the files of an open call that have changed since it began.
func (t *Turn) unfinished(c *watchedCall) (files []Written) {
	for _, was := range c.files {
		f := Written{spot: was.spot, at: clock.Now(), after: was.tree.Read(was.path), start: t.start, beside: cmp.Or(t.beside(was.path), was.by)}
		if was.tree != t.tree {
			f.start, f.beside = snapshot.Empty(was.tree.Name), was.by
		}
		f.saves = was.tree.Calls.Saves(was.path)
		if (was.within || !f.after.Same(was.before)) && t.r.setup.Documents.Typed(was.tree.Absolute(was.path), f.after) == nil {
			files = append(files, f)
		}
	}
	return files
}

func compareSpots(a, b spot) int {
	return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.tree.Session, b.tree.Session))
}

// by returns the agent that may have made the content that a file had when the call began; nil stands for people.
func (w *watchedCall) by(s spot) *diffs.Source {
	if i, ok := slices.BinarySearchFunc(w.files, s, func(f watchedFile, s spot) int { return compareSpots(f.spot, s) }); ok {
		return w.files[i].by
	}
	return nil
}

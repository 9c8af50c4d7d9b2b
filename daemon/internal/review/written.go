package review

import (
	"cursord/agent"
	"cursord/daemon/internal/agentcalls"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/attribution"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/editorfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/diffs"
	"time"
)

// A Written is a file that a finished call says it changed.
type Written struct {
	spot
	call   int // which ToolEnd of the batch
	end    int // which of the calls that name it, by their ends
	change agent.FileChange
	at     int64            // the moment before after was read
	after  atomicfile.State // the disk at the call's end
	saves  int              // how often the file had been saved by then
	late   bool             // it was changed after the call had ended
	via    diffs.Via
	edit   bool // a text that the call does not report may be an empty one
	start  *snapshot.Snapshot
	open   []namedCall   // to be closed behind it
	beside *diffs.Source // who may have changed the file since it was last looked at; nil: people
}

// agentWrote takes in what finished calls wrote, with the source of each.
func (r *Reviewer) agentWrote(files []Written, sources []diffs.Source) {
	latest := map[spot]*Written{}
	for i := range files {
		wr := &files[i]
		wr.tree.ledger.Report(wr.path, attribution.Report{
			Source: sources[i], Before: wr.change.Before, After: wr.change.After, Deleted: wr.change.Deleted, LeavesEmpty: wr.edit, End: wr.end,
		})
		latest[wr.spot] = wr
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

// takeIn takes what calls reported of a file into its review, once no other call is open that names it. What the disk
// holds beyond that is left to whoever looks at it next, now or later.
func (r *Reviewer) takeIn(wr *Written) {
	looks, reports, ok := wr.tree.ledger.TakeIn(wr.path)
	if ok && !wr.tree.isolated() {
		defer delete(r.saves, wr.path)
	}
	switch {
	case !ok && wr.after.Unreadable == "":
		wr.tree.ledger.Look(wr.path, attribution.Look{Content: wr.after.Content, At: wr.at})
		return
	case !ok, wr.after.Unreadable != "":
		return // a notice says so
	}
	f := wr.tree.files[wr.path]
	if f != nil {
		if err := r.load(f); err != nil {
			r.setup.Log.Error("a review cannot be read; it starts anew", "path", wr.path, "err", err)
			f = nil
		}
	}
	if wr.beside == nil {
		wr.beside = wr.tree.others()
	}
	for i := range reports { // nothing but the time tells what is its work
		if rep := &reports[i]; rep.After == nil && !rep.Deleted && !wr.tree.isolated() && editorfile.Locked(wr.tree.absolute(wr.path)) {
			rep.Source.Via = diffs.ViaUnknown
		}
	}
	given := f != nil && f.giveUpGuess(reports)
	story := attribution.Story{Looks: looks, Reports: reports, Disk: wr.after.Content, Saves: wr.saves, Late: wr.late, Beside: wr.beside}
	if given {
		now := f.review.Current()
		story.Last = &now
	} else if start, seen := wr.startAt(); seen && (f == nil || !f.review.Pending()) {
		story.Last = &start
	} else if f != nil {
		if before := reports[0].Before; before != nil { // what the agent has read
			f.uncut(diffs.Content{Exists: true, Data: []byte(*before)})
		}
		now := f.review.Current()
		story.Last, story.Agents = &now, f.agents == f.review.Rev()
	} else if before, known := r.takenOver(wr.tree, wr.path); known {
		story.Last = &before
	}
	steps, known := attribution.Chain(story)
	if len(steps) == 0 {
		return
	}
	wr.start.Note(wr.path, filestat.Stat{}, wr.after)
	if f = r.observe(f, wr, steps, known); f == nil {
		return
	}
	f.lookedAt = wr.at
	f.made = union(f.made, wr.start.MissingDirs(wr.path))
	for _, img := range []diffs.Content{steps[0].Content, wr.after.Content} {
		if img.Exists && img.Mode != 0 {
			f.mode = img.Mode
		}
	}
	if !wr.after.Same(atomicfile.State{Content: f.review.Current()}) { // somebody has written it since
		if _, err := r.refresh(f); err != nil {
			r.setup.Log.Warn("a file under review cannot be read", "path", f.path, "err", err)
		}
	}
	if r.stale(f) {
		r.save(f)
	}
}

// observe has the review of a path take the steps of a chain. A path without a review gets one if any of the steps is to be
// reviewed; else f is nil.
func (r *Reviewer) observe(f *file, wr *Written, steps []attribution.Step, known bool) *file {
	var review *diffs.Review
	switch {
	case f != nil:
		review = f.review
		if !review.Pending() {
			review.Observe(steps[0].Content, wr.tree.others()) // what people did while nobody watched
		}
		if !known {
			review.Observe(steps[0].Content, steps[0].By)
		}
	case known:
		review = r.setup.Large.New(steps[0].Content)
	default:
		review = r.setup.Large.NewUnknown(steps[0].Content, *steps[0].By)
	}
	for _, step := range steps[1:] {
		if s := r.savedAs(wr.path, step.Content); s != nil && step.By == nil && review.Pending() && !wr.tree.isolated() {
			if f == nil {
				f = r.add(wr.tree, wr.path, review)
			}
			if f.review = review; r.takeSaved(f, s, atomicfile.State{Content: step.Content}) {
				review = f.review
				continue
			}
		}
		review.Observe(step.Content, step.By)
	}
	if f != nil {
		f.review = review
	}
	if f == nil && review.Pending() {
		f = r.add(wr.tree, wr.path, review)
	}
	return f
}

// startAt returns what the path held when the turn began, or was last looked at.
func (wr *Written) startAt() (diffs.Content, bool) {
	c, known := wr.start.At(wr.path)
	return wr.tree.translatedContent(c), known
}

// takeInEnded takes in what calls reported of files that other calls named too, which have ended by now.
func (r *Reviewer) takeInEnded() {
	for _, t := range r.trees {
		for _, path := range t.ledger.Reported() {
			wr := &Written{spot: spot{t, path}, at: clock.Now(), start: snapshot.Empty(t.root)}
			if starts := t.starts.All(); len(starts) > 0 {
				wr.start = starts[len(starts)-1]
			}
			if t.root == "" {
				continue // the copy is gone
			}
			wr.after = t.read(path)
			wr.saves = t.calls.Saves(path)
			r.takeIn(wr)
		}
	}
}

// readEnd looks at what a call has left of a file.
func (t *Turn) readEnd(f *Written, ev *agent.ToolEnd) {
	calls := &f.tree.calls
	switch {
	case !agentcalls.Write(ev.Call.Name) || f.change.After != nil || f.change.Deleted:
		f.after = f.tree.translated(atomicfile.ReadWritten(f.tree.root, f.path, f.change.After))
	default:
		var changed int64
		to, dated := agentcalls.SaidAt(ev.Said, t.arrived, clock.Now())
		f.after, f.saves, changed = calls.ReadLeft(f.path)
		if f.saves > 0 { // else it was over before anybody looked, and what is of the moment in which it ended may be later
			to += int64(time.Millisecond)
		}
		// A formatter of hooks is part of the change.
		f.late = dated && filestat.ChangeTimes && !f.tree.isolated() && !t.hooks.AfterEdit && changed > to
	}
	if agentcalls.Write(ev.Call.Name) {
		f.via, f.end = diffs.ViaEdit, f.tree.ledger.Ends(f.path, f.at)
		f.saves = max(f.saves, calls.Saves(f.path))
	}
}

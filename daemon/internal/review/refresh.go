package review

import (
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
)

// sides are the contents of a file under review as they were read.
type sides struct {
	here atomicfile.State // the content where the agent works
	real atomicfile.State // for a file in a copy: the content in the work tree
	path string           // for a file in a copy: the path of real

	// Where earlier plans of a request are to write real.
	brings *treeChange // brings the copy what these write: here is what it holds then
	unplan func()      // restores the review from before that
}

// refresh takes in the present content of a file. The author of a difference is a person, or an agent whose call is open. If
// only the end of a call can show the author, the difference is left out until then, and nobody may write over it.
func (r *Reviewer) refresh(f *file) (s sides, err error) {
	if err := r.load(f); err != nil {
		return s, api.StoreError(err)
	}
	if f.tree.Isolated() {
		return r.refreshCopy(f, false)
	}
	pending, at := f.tree.Ledger.Pending(f.path), clock.Now()
	if !pending {
		s.here = r.readSaved(f)
		pending = f.tree.Ledger.Pending(f.path) // a call has begun while readSaved waited
	}
	if pending {
		r.lookInACall(f)
		r.deferred[f], s.here = true, atomicfile.State{Content: f.Review.Current()}
		r.syncBuffers(f)
		return s, nil
	}
	if s.here.Unreadable != "" {
		return s, r.unreadable(f, s.here)
	}
	seen := atomicfile.State{Content: f.Review.Current()}
	if old := f.Review.OldPath(); old != "" && !seen.Exists && !f.tree.Ledger.LeftBeside(old, nil) && r.cameBack(f.tree, old, f.tree.Read(old)) == f {
		return r.refresh(f)
	}
	if !s.here.Same(seen) && !r.takeSave(f, s.here) {
		by := r.author(f.path, s.here, f.lookedAt)
		if by == nil && r.personMoved(f, s.here) {
			return r.refresh(f)
		}
		f.vanished = nil
		if by != nil && !f.Review.Pending() {
			if start, ok := f.tree.StartAt(f.path); ok {
				f.Review.Begin(start, nil) // with changes that people made while nobody watched
			}
		}
		if by == nil && r.setup.Documents.Typed(r.absolute(f), s.here) == nil {
			f.tree.Formatters.Formatted(f.Review, s.here.Content)
		}
		if by != nil && !s.here.Exists {
			f.vanished = f.Review.Copy()
		}
		if by == nil {
			f.uncut(s.here.Content)
			r.bringBack(f, s.here.Content)
		}
		before := f.Review.Copy()
		if f.Review.Observe(s.here.Content, by); by != nil {
			f.tree.made.Note(f.tree.place(f.path), "", before.Current(), s.here.Content, by)
			f.agents = f.Review.Rev()
			f.guessed(before, *by)
			f.seenDuring(*by, f.lookedAt)
		}
		if f.cut = nil; by == nil && len(s.here.Data) < len(before.Current().Data) {
			f.cut, f.cutRev = before, f.Review.Rev()
		}
		if by == nil {
			r.putAway(f, before)
		}
		f.gone = f.Review.Rev()
		switch {
		case f.vanished != nil:
			f.tree.NoteGone(f.path)
		case s.here.Exists:
			f.tree.UpdateSnapshots(f.path, s.here)
		default:
			f.tree.TakenAway(f.path)
		}
	}
	f.lookedAt = at
	f.recordFile()
	r.syncBuffers(f)
	return s, nil
}

// refreshPending takes in the present contents of all files with something to review.
func (r *Reviewer) refreshPending() {
	r.answers.Look(r.setup.Running() == 0)
	r.refreshAll(r.sorted())
	r.headMoved(r.setup.Running() == 0)
}

// refreshAll is refreshPending for some files.
func (r *Reviewer) refreshAll(files []*file) {
	var changed []*file
	r.seek(slices.DeleteFunc(slices.Clone(files), func(f *file) bool { return !f.followed() }), false)
	for _, f := range append(r.followOver(), files...) {
		if !f.followed() && !r.affected[f] || f.tree.busy || f.tree.files[f.path] != f {
			continue
		}
		delete(r.affected, f)
		err := r.load(f)
		switch {
		case err != nil:
		case f.tree.Isolated():
			_, err = r.refreshCopy(f, true)
		default:
			_, err = r.refresh(f)
		}
		if f.perhapsIn = ""; err != nil {
			r.setup.Log.Warn("a file under review cannot be read", "path", f.path, "err", err)
			continue
		}
		if r.stale(f) {
			changed = append(changed, f)
		}
	}
	r.save(changed...)
}

// stale reports whether the review has changed since its diff was published.
func (r *Reviewer) stale(f *file) bool {
	return f.Review != nil && (f.Unstored || f.diff == nil && f.Review.Pending() || f.diff != nil && f.diff.Rev != f.Review.Rev())
}

package review

import (
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/snapshot"
	"cursord/diffs"
)

// agentFound takes changes that no call named: those of an agent, and those of people that were seen with them.
func (r *Reviewer) agentFound(t *Worktree, s *snapshot.Snapshot, list []snapshot.Change) {
	var changed []*file
	take := func(fd snapshot.Change) {
		if t.ledger.Pending(fd.Path) || t.ledger.Writing(fd.Path) {
			return // its call tells
		}
		if f := t.files[fd.Path]; f != nil && filestat.Of(s.Full(fd.Path)) != fd.Is { // it has changed again
			if _, err := r.refresh(f); err == nil {
				changed = append(changed, f)
				return
			}
		}
		if f := r.takeFound(t, s, fd); f != nil {
			changed = append(changed, f)
		}
		s.Note(fd.Path, fd.Is, fd.After)
	}
	for _, fd := range list {
		if fd.From == nil {
			take(fd)
		} else if f := r.agentMoved(t, s, fd); f != nil {
			changed = append(changed, f)
			s.Note(fd.From.Path, filestat.Stat{}, atomicfile.State{})
			s.Note(fd.Path, fd.Is, fd.After)
		} else {
			take(*fd.From)
			take(fd)
		}
	}
	if t.isolated() { // what people have changed since is brought there
		for _, f := range changed {
			if _, err := r.refresh(f); err != nil {
				r.setup.Log.Warn("a file under review cannot be read", "path", f.path, "err", err)
			}
		}
	}
	r.save(changed...)
}

// takeFound reviews one change; it returns nil if there is nothing new.
func (r *Reviewer) takeFound(t *Worktree, s *snapshot.Snapshot, fd snapshot.Change) *file {
	fd.Before, fd.After = t.translatedContent(fd.Before), t.translated(fd.After)
	f := t.files[fd.Path]
	if f != nil {
		if err := r.load(f); err != nil {
			r.setup.Log.Error("a review cannot be read; it starts anew", "path", fd.Path, "err", err)
			f = nil
		}
	}
	if f != nil && fd.After.Same(atomicfile.State{Content: f.review.Current()}) && (f.pending() || !fd.Known || s.TakenIn(fd)) {
		return nil // else somebody has taken back by hand what was decided, and it was done again
	}
	if f != nil && fd.Source == nil { // not of this turn
		fd.Source = t.writer(fd.Path)
	}
	if doc := r.setup.Documents.Typed(s.Full(fd.Path), fd.After); doc != nil && !t.isolated() {
		return r.typedInto(fd.Path, doc, fd.After)
	}
	if f == nil && !fd.Known {
		fd.Before, fd.Known = r.takenOver(t, fd.Path)
	}
	if ours, ok := s.Noted(fd.Path, fd.Was); ok && f == nil {
		fd.Before, fd.Known = t.translatedContent(ours), true // it was written by an accept, since the scan began
	}
	before := atomicfile.State{Content: fd.Before}
	var guess *diffs.Review
	switch {
	case f == nil && (fd.Source == nil || fd.Known && before.Same(fd.After)):
		return nil
	case f == nil && fd.Known:
		f = r.add(t, fd.Path, r.setup.Large.New(fd.Before))
		guess = f.review.Copy()
		f.review.Observe(fd.After.Content, fd.Source)
	case f == nil:
		f = r.add(t, fd.Path, r.setup.Large.NewUnknown(fd.After.Content, *fd.Source))
	default:
		if fd.Source != nil && fd.Known && !f.pending() && !before.Same(atomicfile.State{Content: f.review.Current()}) {
			f.review.Observe(fd.Before, t.others()) // a person's, since the last decision
		}
		guess = f.review.Copy()
		f.review.Observe(fd.After.Content, fd.Source)
	}
	f.lookedAt = fd.At
	if fd.Source != nil {
		f.agents = f.review.Rev()
		f.guessed(guess)
	}
	if fd.Source != nil && !fd.Was.Exists() {
		f.made = union(f.made, s.MissingDirs(fd.Path))
	}
	for _, st := range []filestat.Stat{fd.Was, fd.Is} {
		if st.Mode.IsRegular() && st.Exists() {
			f.mode = uint32(st.Mode.Perm())
		}
	}
	return f
}

package daemon

import (
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
)

// agentFound takes changes that no call named: those of an agent, and those of people that were seen with them.
func (r *reviewer) agentFound(t *worktree, s *snapshot, list []found) {
	var changed []*file
	take := func(fd found) {
		if t.ledger.Pending(fd.path) || t.ledger.Writing(fd.path) {
			return // its call tells
		}
		if f := t.files[fd.path]; f != nil && filestat.Of(s.full(fd.path)) != fd.is { // it has changed again
			if _, err := r.refresh(f); err == nil {
				changed = append(changed, f)
				return
			}
		}
		if f := r.takeFound(t, s, fd); f != nil {
			changed = append(changed, f)
		}
		s.note(fd.path, fd.is, fd.after)
	}
	for _, fd := range list {
		if fd.from == nil {
			take(fd)
		} else if f := r.agentMoved(t, s, fd); f != nil {
			changed = append(changed, f)
			s.note(fd.from.path, filestat.Stat{}, atomicfile.State{})
			s.note(fd.path, fd.is, fd.after)
		} else {
			take(*fd.from)
			take(fd)
		}
	}
	if t.isolated() { // what people have changed since is brought there
		for _, f := range changed {
			if _, err := r.refresh(f); err != nil {
				r.w.log.Warn("a file under review cannot be read", "path", f.path, "err", err)
			}
		}
	}
	r.save(changed...)
}

// takeFound reviews one change; it returns nil if there is nothing new.
func (r *reviewer) takeFound(t *worktree, s *snapshot, fd found) *file {
	fd.before, fd.after = t.toldContent(fd.before), t.told(fd.after)
	f := t.files[fd.path]
	if f != nil {
		if err := r.load(f); err != nil {
			r.w.log.Error("a review cannot be read; it starts anew", "path", fd.path, "err", err)
			f = nil
		}
	}
	if f != nil && fd.after.Same(atomicfile.State{Content: f.review.Current()}) && (f.pending() || !fd.known || s.takenIn(fd)) {
		return nil // else somebody has taken back by hand what was decided, and it was done again
	}
	if f != nil && fd.source == nil { // not of this turn
		fd.source = t.writer(fd.path)
	}
	if doc := r.w.d.docs.typed(s.full(fd.path), fd.after); doc != nil && !t.isolated() {
		return r.typedInto(fd.path, doc, fd.after)
	}
	if f == nil && !fd.known {
		fd.before, fd.known = r.takenOver(t, fd.path)
	}
	if ours, ok := s.noted(fd.path, fd.was); ok && f == nil {
		fd.before, fd.known = t.toldContent(ours), true // it was written by an accept, since the scan began
	}
	before := atomicfile.State{Content: fd.before}
	switch {
	case f == nil && (fd.source == nil || fd.known && before.Same(fd.after)):
		return nil
	case f == nil && fd.known:
		f = r.add(t, fd.path, r.w.d.config.Large.New(fd.before))
		f.review.Observe(fd.after.Content, fd.source)
	case f == nil:
		f = r.add(t, fd.path, r.w.d.config.Large.NewUnknown(fd.after.Content, *fd.source))
	default:
		if fd.source != nil && fd.known && !f.pending() && !before.Same(atomicfile.State{Content: f.review.Current()}) {
			f.review.Observe(fd.before, t.others()) // a person's, since the last decision
		}
		f.review.Observe(fd.after.Content, fd.source)
	}
	if fd.source != nil {
		f.agents = f.review.Rev()
	}
	if fd.source != nil && !fd.was.Exists() {
		f.made = union(f.made, s.missingDirs(fd.path))
	}
	for _, st := range []filestat.Stat{fd.was, fd.is} {
		if st.Mode.IsRegular() && st.Exists() {
			f.mode = uint32(st.Mode.Perm())
		}
	}
	return f
}

package daemon

import (
	"slices"

	"cursord/diffs"
)

// agentFound takes changes that no call named: those of an agent, and those of people that were seen with them.
func (r *reviewer) agentFound(s *snapshot, list []found) {
	var changed []*file
	take := func(fd found) {
		if r.windows.editing(fd.path) {
			return // its call tells
		}
		if f := r.takeFound(s, fd); f != nil {
			changed = append(changed, f)
		}
		s.note(fd.path, fd.is, fd.after)
	}
	for _, fd := range list {
		if fd.from == nil {
			take(fd)
		} else if f := r.agentMoved(s, fd); f != nil {
			changed = append(changed, f)
			s.note(fd.from.path, fileStat{}, image{})
			s.note(fd.path, fd.is, fd.after)
		} else {
			take(*fd.from)
			take(fd)
		}
	}
	r.save(changed...)
}

// takeFound reviews one change; it returns nil if there is nothing new.
func (r *reviewer) takeFound(s *snapshot, fd found) *file {
	f := r.files[fd.path]
	if f != nil {
		if err := r.load(f); err != nil {
			r.w.log.Error("a review cannot be read; it starts anew", "path", fd.path, "err", err)
			f = nil
		}
	}
	if f != nil && fd.after.same(image{Content: f.review.Current()}) {
		return nil
	}
	before := image{Content: fd.before}
	switch {
	case f == nil && (fd.source == nil || fd.known && before.same(fd.after)):
		return nil
	case f == nil && fd.known:
		f = r.add(fd.path, diffs.New(fd.before))
		f.review.Observe(fd.after.Content, fd.source)
	case f == nil:
		f = r.add(fd.path, diffs.NewUnknown(fd.after.Content, *fd.source))
	default:
		if fd.source != nil && fd.known && !f.pending() && !before.same(image{Content: f.review.Current()}) {
			f.review.Observe(fd.before, nil) // a person's, since the last decision
		}
		f.review.Observe(fd.after.Content, fd.source)
	}
	if fd.source != nil && !fd.was.exists() {
		f.makes(s.missingDirs(fd.path))
	}
	for _, st := range []fileStat{fd.was, fd.is} {
		if st.mode.IsRegular() && st.exists() {
			f.mode = uint32(st.mode.Perm())
		}
	}
	return f
}

// makes notes folders that the agent made for the file.
func (f *file) makes(dirs []string) {
	for _, dir := range dirs {
		if !slices.Contains(f.made, dir) {
			f.made = append(f.made, dir)
		}
	}
}

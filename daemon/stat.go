package daemon

import (
	"path/filepath"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// changedAt returns the moment at which a path that is in a state was last changed. Of what is gone the folder tells, which
// may have changed again.
func (t *worktree) changedAt(name string, now filestat.Stat) int64 {
	if starts := t.starts.list(); len(starts) > 0 && !filepath.IsAbs(name) {
		return starts[0].changedAt(name, now)
	}
	if now.Exists() {
		return now.Changed()
	}
	full := t.absolute(name)
	for dir := filepath.Dir(full); len(dir) >= len(t.root); dir = filepath.Dir(dir) {
		if st := filestat.Of(dir); st.Exists() {
			return st.Changed()
		}
	}
	return clock.Now()
}

// changedAt is the same where it is known which folders there were: what is in another than was there has come, or gone, with
// that.
func (s *snapshot) changedAt(name string, now filestat.Stat) int64 {
	when, there := now.Changed(), now.Exists()
	if there && when >= s.began {
		return when
	}
	for dir := paths.Parent(name); ; dir = paths.Parent(dir) {
		st := filestat.Of(s.full(dir))
		was := dir == "." || s.hadDir(dir, st)
		if !there || !was { // a folder that has moved itself says when
			when = max(when, st.Changed())
		}
		if was {
			return when
		}
		there = there || st.Exists()
	}
}

// hadDir reports whether a folder was there already, or may have been.
func (s *snapshot) hadDir(dir string, now filestat.Stat) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.listed {
		return now.Exists()
	}
	was, there := s.dirs[dir]
	return there && was == inode{now.Dev, now.Ino}
}

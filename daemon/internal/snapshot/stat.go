package snapshot

import (
	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// ChangedAt returns the moment of a path's last change; now is the path's present state. A file in a new folder came with
// that folder.
func (s *Snapshot) ChangedAt(name string, now filestat.Stat) int64 {
	if s.shift != nil {
		return s.shiftedAt(name, now)
	}
	when, there := now.Changed(), now.Exists()
	if there && when >= s.began {
		return when
	}
	links := map[string]bool{}
	for dir := paths.Parent(name); ; dir = paths.Parent(dir) {
		st := filestat.Of(s.Full(dir))
		if s.beyondLink(dir, links) { // not the folder that was there, even if it is the same one, moved
			st = filestat.Stat{}
		}
		was := dir == "." || s.hadDir(dir, st)
		if !there || !was { // a moved folder's times show the move
			when = max(when, st.Changed())
		}
		if was {
			return when
		}
		there = there || st.Exists()
	}
}

// hadDir reports whether a folder existed before, or may have.
func (s *Snapshot) hadDir(dir string, now filestat.Stat) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.listed {
		return now.Exists()
	}
	was, there := s.dirs[dir]
	return there && was == inode{now.Dev, now.Ino}
}

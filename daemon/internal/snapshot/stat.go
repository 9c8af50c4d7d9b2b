package snapshot

import (
	"bytes"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
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

// same reports whether a file has its known content, as far as that can be decided without git.
func (s *Snapshot) same(e *entry, f Change) bool {
	if e == nil || !f.After.Exists || f.Was.Mode != f.Is.Mode {
		return false
	}
	s.mu.Lock()
	data, ok := e.content.get()
	s.mu.Unlock()
	switch {
	case ok:
		return bytes.Equal(data, f.After.Bytes())
	case e.blob.OID != "":
		return git.IsBlob(e.blob.OID, f.After.Bytes())
	}
	return e.racy && !e.doubtful && e.Stat == f.Is // nothing shows a change
}

// restate records the new state of a file with unchanged content.
func (s *Snapshot) restate(f Change) {
	now := clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.files.change(f.Path); e != nil {
		e.Stat, e.racy, e.gone = f.Is, f.Is.Racy(now), false
		if (e.racy || e.doubtful) && e.content == nowhere {
			e.content = s.spool.put(f.After.Bytes())
		}
		e.doubtful = e.doubtful && e.content == nowhere
	}
}

// skip notes the state of a path without its present content. A known former content stays known, for a change that is found
// later.
func (s *Snapshot) skip(name string, st filestat.Stat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !st.Exists() {
		s.files.delete(name)
		return
	}
	s.mixed = true
	now := entry{Stat: st, content: nowhere}
	if e := s.files.get(name); e != nil {
		now.blob, now.content, now.doubtful = e.blob, e.content, e.doubtful
	}
	s.files.set(name, &now)
}

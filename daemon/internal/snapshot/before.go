package snapshot

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/daemon/paths"
	"cursord/diffs"
)

// At returns the content of a path. known is false if neither a content nor its absence was seen.
func (s *Snapshot) At(name string) (_ diffs.Content, known bool) {
	if filepath.IsAbs(name) {
		return diffs.Content{}, false
	}
	if mode, there := s.has(name); there {
		data, known := s.contents([]string{name})[name]
		if !known {
			return diffs.Content{}, false
		}
		return atomicfile.ContentOf(mode, data), true
	}
	return diffs.Content{}, s.absent(name)
}

// Is returns which file a path holds, as it was seen last; the zero Stat if none is known.
func (s *Snapshot) Is(name string) filestat.Stat {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.files.get(name); e != nil {
		return e.Stat
	}
	return filestat.Stat{}
}

// Noted returns the content of a path in its latest note. known is false if the content was not kept, or if the path is absent
// and was, its state before, was absent too.
func (s *Snapshot) Noted(name string, was filestat.Stat) (_ diffs.Content, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.files.get(name)
	if e == nil {
		return diffs.Content{}, was.Exists()
	}
	data, known := e.content.get()
	return atomicfile.ContentOf(e.Mode, data), known
}

// TakenIn reports whether the change of a scan is in a later note.
func (s *Snapshot) TakenIn(fd Change) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.files.get(fd.Path)
	if e == nil {
		return !fd.After.Exists
	}
	if e.gone && !fd.After.Exists {
		return true
	}
	if data, known := e.content.get(); known {
		return fd.After.Exists && e.Mode == fd.Is.Mode && bytes.Equal(data, fd.After.Bytes())
	}
	return e.Stat == fd.Is
}

func (s *Snapshot) has(name string) (mode fs.FileMode, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.files.get(name)
	if e == nil {
		return 0, false
	}
	return e.Mode, true
}

// contents returns the former contents of files in the table, as far as they are known.
func (s *Snapshot) contents(names []string) map[string][]byte {
	of := make(map[string]*entry, len(names))
	s.mu.Lock()
	for _, name := range names {
		if e := s.files.get(name); e != nil {
			of[name] = e
		}
	}
	s.mu.Unlock()
	return s.contentsOf(of)
}

// contentsOf returns the contents of files in the states that the table has or had of them, as far as they are known.
func (s *Snapshot) contentsOf(of map[string]*entry) map[string][]byte {
	found := make(map[string][]byte, len(of))
	wanted := map[*git.Repository]map[string]git.Blob{}
	s.mu.Lock()
	for name, e := range of {
		if data, ok := e.content.get(); ok {
			found[name] = data
		} else if e.doubtful {
			continue
		} else if repo := s.repositoryOf(name); e.blob.OID != "" && repo != nil {
			if wanted[repo] == nil {
				wanted[repo] = map[string]git.Blob{}
			}
			wanted[repo][strings.TrimPrefix(name, repo.At)] = e.blob
		}
	}
	s.mu.Unlock()
	if len(wanted) == 0 {
		return found
	}
	ctx, cancel := context.WithTimeout(context.Background(), ScanTime)
	defer cancel()
	for repo, of := range wanted {
		for name, data := range repo.CheckedOut(ctx, of) {
			found[repo.At+name] = data
		}
	}
	return found
}

// absent reports whether a path certainly had no file.
func (s *Snapshot) absent(name string) bool {
	s.mu.Lock()
	repo, reruled := s.repositoryOf(name), s.reruled
	absent := s.absentLocked(name)
	s.mu.Unlock()
	if repo == nil || !absent {
		return absent
	}
	// Git does not list what it ignores.
	if reruled {
		t, known := filestat.Born(s.Where(name))
		return known && t > s.began
	}
	ctx, cancel := context.WithTimeout(context.Background(), ScanTime)
	defer cancel()
	ignored, err := repo.Git.Ignored(ctx, strings.TrimPrefix(name, repo.At))
	return err == nil && !ignored
}

// absentLocked reports whether a path was missing in everything that was listed. s.mu must be held.
func (s *Snapshot) absentLocked(name string) bool {
	if s.files.has(name) {
		return false
	}
	if _, folder := s.dirs[name]; folder {
		return !s.nestedLocked(name) // there was a folder instead of a file
	}
	for dir := paths.Parent(name); dir != "."; dir = paths.Parent(dir) {
		if s.files.has(dir) {
			return true // there was a file in the place of the path's folder
		}
	}
	if s.repositoryOf(name) != nil {
		return !s.nestedLocked(name)
	}
	for dir := paths.Parent(name); ; name, dir = dir, paths.Parent(dir) {
		if s.whole[dir] {
			_, there := s.dirs[name]
			return !there && !s.files.has(name)
		}
		if dir == "." {
			return false
		}
	}
}

// nestedLocked reports whether a path lies in a repository whose contents are unknown. s.mu must be held.
func (s *Snapshot) nestedLocked(name string) bool {
	for dir := range s.nested {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

// MissingDirs lists the folders of a path that did not exist, the innermost first.
func (s *Snapshot) MissingDirs(name string) (dirs []string) {
	if filepath.IsAbs(name) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for dir := paths.Parent(name); dir != "."; dir = paths.Parent(dir) {
		if _, there := s.dirs[dir]; there || !s.files.has(dir) && !(s.absentLocked(dir) && s.madeLocked(dir)) {
			break
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// madeLocked reports whether a folder that was not listed is new; git does not list a folder in which it has nothing to
// list. s.mu must be held.
func (s *Snapshot) madeLocked(dir string) bool {
	if s.repositoryOf(dir) == nil {
		return true
	}
	full := s.Where(dir)
	if t, known := filestat.Born(full); !known || t > s.began-int64(filestat.RacyTime) {
		return true
	}
	st := filestat.Of(full)
	for _, known := range s.dirs { // it was renamed
		if st.Ino != 0 && known == (inode{st.Dev, st.Ino}) {
			return true
		}
	}
	return false
}

// Note takes in that a path holds img, in state st; if st is zero, Note reads the state from the disk.
func (s *Snapshot) Note(name string, st filestat.Stat, img atomicfile.State) {
	if filepath.IsAbs(name) || img.Unreadable != "" {
		return
	}
	now := clock.Now()
	if img.Exists && !st.Exists() {
		if st = filestat.Of(s.Where(name)); !atomicfile.Reviewable(st.Mode) || st.Size != int64(len(img.Bytes())) {
			return // it has changed again, which the next scan finds
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reruled = s.reruled || isIgnoreFile(name)
	delete(s.seen, name)
	if img.Exists {
		delete(s.away, name)
	}
	if s.shift != nil {
		s.noted[name] = true
	}
	if !img.Exists {
		s.files.delete(name)
		s.record.note(name, nil)
		return
	}
	e := &entry{Stat: st, racy: st.Racy(now), content: s.spool.put(img.Bytes())}
	s.files.set(name, e)
	s.record.note(name, e)
	if written := st.Written(); written > s.began {
		if s.texts == nil {
			s.texts = map[int64]bool{}
		}
		s.texts[written] = true
	}
}

// NoteGone takes in that a file is gone; a scan finds where it went.
func (s *Snapshot) NoteGone(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.files.change(name); e != nil {
		e.gone = true
		s.record.note(name, e)
	}
}

// Older reports whether the known state of a path is from before the moment when, at which something came to the path.
func (s *Snapshot) Older(name string, when int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.files.get(name)
	return e == nil || e.Changed() < when
}

// Saved notes that a person saved img at a path, and that the disk now holds the state disk. A difference between the two
// came after the save.
func (s *Snapshot) Saved(name string, img, disk atomicfile.State) {
	if disk.Same(img) {
		s.Note(name, filestat.Stat{}, img)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.files.get(name); e != nil {
		st := e.Stat
		st.Size, st.Mtime, st.Ctime = int64(len(img.Data)), 0, 0 // differs from every real state
		s.mixed = true
		saved := &entry{Stat: st, racy: true, content: s.spool.put(img.Data), until: clock.Now()}
		s.files.set(name, saved)
		s.record.note(name, saved)
	}
}

func isIgnoreFile(name string) bool {
	return path.Base(name) == ".gitignore" || strings.HasSuffix(name, ".git/info/exclude")
}

// Close frees the contents. If the snapshot is still being taken, it waits for that.
func (s *Snapshot) Close() {
	if s.left != nil {
		<-s.left
	}
	s.aheads.Wait()
	s.record.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.littered {
		go debug.FreeOSMemory()
	}
	for _, one := range append(s.earlier, s.spool, s.first) {
		one.close()
	}
}

// Warning says for people which changes by commands cannot be found; "" if all can be.
func (s *Snapshot) Warning() string {
	if why := s.Useless(); why != "" {
		return "Changes by commands are not searched for in this workspace: " + why + "."
	} else if lacks := s.Lacks(); lacks != "" {
		return "Some changes by commands may be missing, or may lack their earlier content: " + lacks + "."
	}
	return ""
}

// Useless returns the reason why nothing can be compared with the snapshot; "" if it can be used.
func (s *Snapshot) Useless() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.listed && s.unusable == "" {
		return "its files could not be read in time"
	}
	return s.unusable
}

// Lacks returns a text about files that the snapshot does not cover; "" if it covers all.
func (s *Snapshot) Lacks() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.short
}

// keepLinks notes which of the listed files have several names. Once the agent may be at work, it takes only files that have not changed since the
// turn began: a new name is a change.
func (s *Snapshot) keepLinks(path func(int) string, stats []filestat.Stat, names map[int]uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = make(map[string]atomicfile.Links, len(names))
	for i, n := range names {
		if s.begun != 0 && stats[i].Racy(s.began) {
			continue
		}
		s.links[path(i)] = atomicfile.Links{Dev: stats[i].Dev, Ino: stats[i].Ino, Names: n}
	}
}

// Linked returns the names that a path's file had when the turn began. It is zero if the file had one name, or if the number
// is unknown.
func (s *Snapshot) Linked(name string) atomicfile.Links {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links[name]
}

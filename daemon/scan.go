package daemon

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cursord/diffs"
)

// Bounds of a scan.
const (
	scanTime  = 2 * time.Second
	scanFiles = 2000
	scanBytes = 64 << 20
)

// A found is a change that no tool call announced.
type found struct {
	path    string
	was, is fileStat // zero: nothing was, or is, there
	before  diffs.Content
	known   bool // before is what the path held
	after   image
	source  *diffs.Source // nil: a person's
	from    *found        // what has gone from where this has come from, if it has moved
}

// A verdict says what to make of a change.
type verdict struct {
	source *diffs.Source // nil: a person's
	leave  bool          // it is not this scan's
}

// A leftOut counts what a scan has not given.
type leftOut struct {
	more int      // over the bounds of number and size
	late int      // over the bound of time; the next scan comes back to them
	odd  []string // what cannot be reviewed, and why

	made, gone []string // repositories within the workspace
}

// A suspect is a path that does not look as it did.
type suspect struct {
	path  string
	entry *entry // nil: nothing was there
	is    fileStat
}

// scan looks for what has changed since the snapshot or the last scan; without list, only in the files that it
// has seen. For each change it asks judge, giving the time of the change as far as the system knows: that of a
// deletion may be later. What it returns is to be noted once it has been taken in.
func (s *snapshot) scan(ctx context.Context, list bool, judge func(when int64, gone bool) verdict) (all []found, left leftOut) {
	suspects, ok := s.suspects(ctx, list, &left)
	if !ok {
		left.late++
		return nil, left
	}
	r, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, left
	}
	defer r.Close()
	links := map[string]bool{}
	room := int64(scanBytes)
	var ask []string
	for i, sus := range suspects {
		if ctx.Err() != nil {
			left.late += len(suspects) - i
			break
		}
		if s.beyondLink(sus.path, links) {
			sus.is = fileStat{}
		}
		if sus.entry == nil && (!sus.is.exists() || s.wasThere(sus)) {
			if sus.is.exists() {
				s.skip(sus.path, sus.is)
			}
			continue
		}
		v := judge(s.when(sus))
		if v.leave {
			continue
		}
		f := found{path: sus.path, is: sus.is, source: v.source}
		if sus.entry != nil {
			f.was = sus.entry.fileStat
		}
		switch {
		case !utf8.ValidString(sus.path):
			f.after.odd = "its name is not UTF-8"
		case f.is.size > room || len(all) >= scanFiles:
			left.more++
			s.skip(f.path, f.is)
			continue
		case f.is.exists():
			f.is, f.after = s.read(r, f.path)
		case !reviewable(f.was.mode):
			f.after.odd = "it was not a regular file"
		}
		if f.after.odd != "" {
			left.odd = append(left.odd, fmt.Sprintf("%s: %s", shown(f.path), f.after.odd))
			s.skip(f.path, f.is)
			continue
		}
		if s.same(sus.entry, f) {
			s.restate(f)
			continue
		}
		room -= int64(len(f.after.Data))
		all = append(all, f)
		if f.was.exists() && reviewable(f.was.mode) {
			ask = append(ask, f.path)
		}
	}
	before := s.contents(ask)
	all = slices.DeleteFunc(all, func(f found) bool {
		data, known := before[f.path]
		if known && f.after.Exists && bytes.Equal(data, f.after.bytes()) && f.was.mode == f.is.mode {
			s.restate(f)
			return true
		}
		return false
	})
	for i := range all {
		f := &all[i]
		if f.was.exists() {
			var data []byte
			if data, f.known = before[f.path]; !f.known && f.was.mtime < s.began.Add(-racyTime).UnixNano() && f.was.touched(f.is) {
				data, f.known = f.after.bytes(), true
			}
			if f.known {
				f.before = heldAs(f.was.mode, data)
			}
		} else {
			f.known = s.wasAbsent(f.path)
		}
	}
	return all, left
}

// suspects returns, sorted, the paths that do not look as they did, or might not.
func (s *snapshot) suspects(ctx context.Context, list bool, left *leftOut) (suspects []suspect, ok bool) {
	// What is known is looked at while git, or a walk, looks for more.
	listing := make(chan []listed, 1)
	if list {
		go func() { listing <- s.relist(ctx, left) }()
	} else {
		listing <- nil
	}
	s.mu.Lock()
	known := make([]listed, 0, len(s.files))
	for name := range s.files {
		known = append(known, listed{path: name})
	}
	s.mu.Unlock()
	knownStats, whole := s.lstats(ctx, known)
	var added []listed
	files := <-listing
	s.mu.Lock()
	for _, l := range files {
		if s.files[l.path] == nil {
			added = append(added, l)
		}
	}
	s.mu.Unlock()
	addedStats, all := s.lstats(ctx, added)
	if !whole || !all || ctx.Err() != nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	look := func(files []listed, stats []fileStat) {
		for i, l := range files {
			st := stats[i]
			if st.mode.IsDir() {
				st = fileStat{}
			}
			e := s.files[l.path]
			if e != nil && !e.racy && st == e.fileStat || e == nil && !st.exists() {
				continue
			}
			s.reruled = s.reruled || isIgnoreFile(l.path) && (e == nil || st != e.fileStat)
			suspects = append(suspects, suspect{l.path, e, st})
		}
	}
	look(known, knownStats)
	look(added, addedStats)
	slices.SortFunc(suspects, func(a, b suspect) int { return strings.Compare(a.path, b.path) })
	return suspects, true
}

// beyondLink reports whether a path leads through a link in the place of one of its folders: git still lists what was
// there. known keeps what was found out about folders.
func (s *snapshot) beyondLink(name string, known map[string]bool) bool {
	dir := path.Dir(name)
	if dir == "." {
		return false
	}
	link, seen := known[dir]
	if !seen {
		link = lstat(s.full(dir)).mode&fs.ModeSymlink != 0 || s.beyondLink(dir, known)
		known[dir] = link
	}
	return link
}

// when returns when a suspect was last changed, and whether it is a deletion: then the folder tells, which may have
// changed again.
func (s *snapshot) when(sus suspect) (when int64, gone bool) {
	if sus.is.exists() {
		return sus.is.ctime, false
	}
	for dir := filepath.Dir(s.full(sus.path)); len(dir) >= len(s.root); dir = filepath.Dir(dir) {
		if st := lstat(dir); st.exists() {
			return st.ctime, true
		}
	}
	return time.Now().UnixNano(), true
}

// wasThere reports whether a file that was not listed before has been there all along.
func (s *snapshot) wasThere(sus suspect) bool {
	return changeTimes && sus.is.ctime < s.began.Add(-racyTime).UnixNano() && !s.wasAbsent(sus.path)
}

// wasAbsent is absent for a path that is listed now.
func (s *snapshot) wasAbsent(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.repositoryOf(name) == nil || !s.reruled || !s.absentLocked(name) {
		return s.absentLocked(name)
	}
	t, known := born(s.full(name))
	return known && t.After(s.began.Add(-racyTime))
}

// same reports whether a file holds what it did, as far as that can be told without asking git.
func (s *snapshot) same(e *entry, f found) bool {
	if e == nil || !f.after.Exists || f.was.mode != f.is.mode {
		return false
	}
	s.mu.Lock()
	data, ok := s.spool.get(e.content)
	s.mu.Unlock()
	switch {
	case ok:
		return bytes.Equal(data, f.after.bytes())
	case e.oid != "":
		return isBlob(e.oid, f.after.bytes())
	}
	return e.racy && e.fileStat == f.is // nothing says that it has changed
}

// restate notes the new state of a file that holds what it did.
func (s *snapshot) restate(f found) {
	now := time.Now().UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.files[f.path]; e != nil {
		e.fileStat, e.racy = f.is, f.is.racy(now)
		if e.racy && e.content == nowhere {
			e.content = s.spool.put(f.after.bytes())
		}
	}
}

// skip notes the state of a path whose content nobody is to know.
func (s *snapshot) skip(name string, st fileStat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.exists() {
		s.files[name] = &entry{fileStat: st, content: nowhere}
	} else {
		delete(s.files, name)
	}
}

package daemon

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/diffs"
)

// Bounds of a scan.
const (
	scanTime  = 2 * time.Second
	lastTime  = 20 * time.Second // for the one at the end of a turn, behind which there is no other
	scanFiles = 2000
	scanBytes = 64 << 20
	cutLook   = 2 * time.Millisecond // how often a file is looked at that somebody is emptying
)

// A found is a change that no tool call announced.
type found struct {
	path    string
	was, is filestat.Stat // zero: nothing was, or is, there
	before  diffs.Content
	known   bool // before is what the path held
	after   atomicfile.State
	source  *diffs.Source // nil: a person's
	from    *found        // what has gone from where this has come from, if it has moved
}

// A verdict says what to make of a change.
type verdict struct {
	source *diffs.Source // nil: a person's
	leave  bool          // it is not this scan's
}

// A trace is what a scan knows of a change before it has looked at it.
type trace struct {
	path    string
	when    int64 // a moment of package clock
	inexact bool  // it may have been earlier
}

// A suspect is a path that does not look as it did.
type suspect struct {
	path  string
	entry *entry // nil: nothing was there
	is    filestat.Stat
	to    *suspect // where the file is now, if this one is gone and it can be told
	moved bool     // it has come from where another suspect is gone
}

// rank says what is to be taken first where the bounds of a scan leave no room for all: what has a former content to go
// back to, then what else was there, then what is new, of which a command can make as much as it likes.
func (s *suspect) rank() int {
	switch {
	case s.entry != nil && (s.entry.oid != "" || s.entry.content != nowhere):
		return 0
	case s.entry != nil || s.moved:
		return 1
	}
	return 2
}

// beingCut reports whether somebody is emptying the file at this moment, to write it: ext4 sets the times of a file after it
// has cut it off.
func (f *found) beingCut() bool {
	return f.is.Exists() && f.is.Size == 0 && f.was.Size > 0 && f.is.Ino == f.was.Ino && f.is.Changed() == f.was.Changed()
}

// justCut reports whether somebody has emptied the file a moment ago, most likely to write it.
func (f *found) justCut() bool {
	return f.is.Exists() && f.is.Size == 0 && f.was.Size > 0 && clock.Now()-f.is.Changed() < int64(atomicfile.EmptyTime)
}

// beingSaved waits for the end of a save that may be going on. A person's that does not end is another look's: it returns true, and
// what the file holds next, with the work of calls, may be that person's too.
func (s *snapshot) beingSaved(r *atomicfile.Reader, f *found, sus suspect, judge func(trace) verdict) bool {
	cut := f.beingCut() || f.justCut()
	if cut && f.source == nil && f.justCut() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if e := s.files[f.path]; e != nil {
			e.saving = true
		}
		return true
	}
	if cut {
		for end := time.Now().Add(atomicfile.EmptyTime); (f.beingCut() || f.justCut()) && time.Now().Before(end); {
			time.Sleep(cutLook)
			f.is, f.after = s.read(r, f.path)
		}
		if sus.is = f.is; f.source != nil && f.is.Size > 0 {
			if v := judge(s.trace(sus)); v.leave || v.source == nil {
				f.maybe()
			}
		}
	}
	if sus.entry != nil && sus.entry.saving {
		f.maybe()
	}
	return false
}

// maybe makes a change that is an agent's one that may be a person's.
func (f *found) maybe() {
	if f.source != nil {
		src := *f.source
		src.Via = diffs.ViaUnknown
		f.source = &src
	}
}

// scan looks for what has changed since the snapshot or the last scan; without list, only in the files that it
// has seen. For each change it asks judge. What it returns is to be noted once it has been taken in.
func (s *snapshot) scan(ctx context.Context, list bool, judge func(trace) verdict) (all []found, left leftOut) {
	suspects, ok := s.suspects(ctx, list, &left)
	if !ok {
		left.late++
		return nil, left
	}
	r, err := atomicfile.NewReader(s.root)
	if err != nil {
		return nil, left
	}
	defer r.Close()
	links := map[string]bool{}
	room := int64(scanBytes)
	var ask []string
	slices.SortStableFunc(suspects, func(a, b suspect) int { return cmp.Compare(a.rank(), b.rank()) })
	for i, sus := range suspects {
		if ctx.Err() != nil {
			left.late += len(suspects) - i
			break
		}
		if s.beyondLink(sus.path, links) {
			sus.is = filestat.Stat{}
		}
		if sus.entry == nil && (!sus.is.Exists() || s.wasThere(sus)) {
			if sus.is.Exists() {
				s.skip(sus.path, sus.is)
			}
			continue
		}
		v := judge(s.trace(sus))
		if v.leave {
			continue
		}
		f := found{path: sus.path, is: sus.is, source: v.source, known: sus.moved}
		if sus.entry != nil {
			f.was = sus.entry.Stat
		}
		switch {
		case !utf8.ValidString(sus.path):
			f.after.Unreadable = "its name is not UTF-8"
		case f.is.Size > room || len(all) >= scanFiles:
			left.more = append(left.more, f.path)
			s.skip(f.path, f.is)
			continue
		case f.is.Exists():
			f.is, f.after = s.read(r, f.path)
			if s.beingSaved(r, &f, sus, judge) {
				continue
			}
		case !atomicfile.Reviewable(f.was.Mode):
			f.after.Unreadable = "it was not a regular file"
		default:
			if err := r.Unknown(f.path); err != nil {
				f.after.Unreadable = fmt.Sprint(err) // it need not be gone
			}
		}
		if f.after.Unreadable != "" {
			left.odd = append(left.odd, f.after.UnreadableAt(f.path))
			s.skip(f.path, f.is)
			continue
		}
		if s.same(sus.entry, f) {
			s.restate(f)
			continue
		}
		room -= int64(len(f.after.Data))
		all = append(all, f)
		if f.was.Exists() && atomicfile.Reviewable(f.was.Mode) {
			ask = append(ask, f.path)
		}
	}
	slices.SortFunc(all, func(a, b found) int { return strings.Compare(a.path, b.path) })
	before := s.contents(ask)
	all = slices.DeleteFunc(all, func(f found) bool {
		data, known := before[f.path]
		if known && f.after.Exists && bytes.Equal(data, f.after.Bytes()) && f.was.Mode == f.is.Mode {
			s.restate(f)
			return true
		}
		return false
	})
	for i := range all {
		f := &all[i]
		if f.was.Exists() {
			var data []byte
			if data, f.known = before[f.path]; !f.known && f.was.Written() < s.began-int64(filestat.RacyTime) && f.was.Touched(f.is) {
				data, f.known = f.after.Bytes(), true
			}
			if f.known {
				f.before = atomicfile.ContentOf(f.was.Mode, data)
			}
		} else {
			f.known = f.known || s.wasAbsent(f.path)
		}
	}
	return all, left
}

// suspects returns, sorted, the paths that do not look as they did, or might not.
func (s *snapshot) suspects(ctx context.Context, list bool, left *leftOut) (suspects []suspect, ok bool) {
	// What is known is looked at while git, or a walk, looks for more.
	listing := make(chan []git.Listed, 1)
	if list {
		go func() { listing <- s.relist(ctx, left) }()
	} else {
		listing <- nil
	}
	s.mu.Lock()
	known := make([]git.Listed, 0, len(s.files))
	for name := range s.files {
		known = append(known, git.Listed{Path: name})
	}
	s.mu.Unlock()
	knownStats, whole := s.lstats(ctx, known)
	var added []git.Listed
	files := <-listing
	s.mu.Lock()
	for _, l := range files {
		if s.files[l.Path] == nil {
			added = append(added, l)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(added, func(a, b git.Listed) int { return strings.Compare(a.Path, b.Path) })
	added = slices.CompactFunc(added, func(a, b git.Listed) bool { return a.Path == b.Path })
	addedStats, all := s.lstats(ctx, added)
	if !whole || !all || ctx.Err() != nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, l := range added {
		if !s.long[l.Path] && s.tooLong(l, addedStats[i]) {
			s.long[l.Path] = true
			left.long = append(left.long, l.Path)
		}
	}
	look := func(files []git.Listed, stats []filestat.Stat) {
		for i, l := range files {
			st := stats[i]
			if st.Mode.IsDir() {
				st = filestat.Stat{}
			}
			e := s.files[l.Path]
			if e != nil && !e.racy && st == e.Stat || e == nil && !st.Exists() {
				continue
			}
			s.reruled = s.reruled || isIgnoreFile(l.Path) && (e == nil || st != e.Stat)
			suspects = append(suspects, suspect{path: l.Path, entry: e, is: st})
		}
	}
	look(added, addedStats)
	came := map[inode]*suspect{}
	for i := range suspects {
		came[inode{suspects[i].is.Dev, suspects[i].is.Ino}] = &suspects[i]
	}
	for i, st := range knownStats { // it may have moved between the looks
		if st.Ino != 0 && came[inode{st.Dev, st.Ino}] != nil {
			knownStats[i] = filestat.Of(s.full(known[i].Path))
		}
	}
	look(known, knownStats)
	goneAt := map[inode]filestat.Stat{}
	for i := range suspects {
		if sus := &suspects[i]; sus.entry != nil && sus.entry.Ino != 0 && !sus.is.Exists() {
			key := inode{sus.entry.Dev, sus.entry.Ino}
			if to := came[key]; to != nil && s.sameFile(sus.entry.Stat, to.is, to.path) { // else it is a new file with the number
				moved := *to
				sus.to = &moved
			}
			goneAt[key] = sus.entry.Stat
		}
	}
	for i := range suspects {
		if sus := &suspects[i]; sus.entry == nil {
			was, gone := goneAt[inode{sus.is.Dev, sus.is.Ino}]
			sus.moved = gone && s.sameFile(was, sus.is, sus.path)
		}
	}
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
		link = filestat.Of(s.full(dir)).Mode&fs.ModeSymlink != 0 || s.beyondLink(dir, known)
		known[dir] = link
	}
	return link
}

// trace returns when a suspect was last changed.
func (s *snapshot) trace(sus suspect) trace {
	if sus.to != nil {
		c := s.trace(*sus.to)
		c.path = sus.path
		return c
	}
	gone := !sus.is.Exists()
	return trace{path: sus.path, when: s.changedAt(sus.path, sus.is), inexact: gone || sus.is.Changed() < s.began}
}

// wasThere reports whether a file that was not listed before has been there all along.
func (s *snapshot) wasThere(sus suspect) bool {
	return filestat.ChangeTimes && !sus.moved && sus.is.Changed() < s.began-int64(filestat.RacyTime) && !s.wasAbsent(sus.path)
}

// wasAbsent is absent for a path that is listed now.
func (s *snapshot) wasAbsent(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.repositoryOf(name) == nil || !s.reruled || !s.absentLocked(name) {
		return s.absentLocked(name)
	}
	t, known := filestat.Born(s.full(name))
	return known && t > s.began-int64(filestat.RacyTime)
}

// same reports whether a file holds what it did, as far as that can be told without asking git.
func (s *snapshot) same(e *entry, f found) bool {
	if e == nil || !f.after.Exists || f.was.Mode != f.is.Mode {
		return false
	}
	s.mu.Lock()
	data, ok := s.spool.get(e.content)
	s.mu.Unlock()
	switch {
	case ok:
		return bytes.Equal(data, f.after.Bytes())
	case e.oid != "":
		return git.IsBlob(e.oid, f.after.Bytes())
	}
	return e.racy && e.Stat == f.is // nothing says that it has changed
}

// restate notes the new state of a file that holds what it did.
func (s *snapshot) restate(f found) {
	now := clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.files[f.path]; e != nil {
		e.Stat, e.racy, e.gone = f.is, f.is.Racy(now), false
		if e.racy && e.content == nowhere {
			e.content = s.spool.put(f.after.Bytes())
		}
	}
}

// skip notes the state of a path whose content nobody is to know.
func (s *snapshot) skip(name string, st filestat.Stat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.Exists() {
		s.files[name] = &entry{Stat: st, content: nowhere}
	} else {
		delete(s.files, name)
	}
}

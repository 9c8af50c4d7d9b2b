package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
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
	ScanTime     = 2 * time.Second
	LastScanTime = 20 * time.Second // for the scan at the end of a turn, after which there is no other
	scanFiles    = 2000
	scanBytes    = 64 << 20
	cutLook      = 2 * time.Millisecond // how often to look at a file that somebody is emptying
)

// A Change is a file that a scan found changed.
type Change struct {
	Path    string        // relative to the root, with slashes
	Was, Is filestat.Stat // before and now; zero: nothing there
	Before  diffs.Content
	Known   bool // Before is what the path held; otherwise that is unknown
	After   atomicfile.State
	At      int64         // when After was read, or shortly before; a moment of package clock
	Source  *diffs.Source // as the caller decided; nil: a person's
	From    *Change       // if the file has moved: its disappearance from the old path; else nil
	Doubt   bool          // nobody knows what the path held; Before, if Known, is what git's index has

	origin filestat.Stat // as in candidate
}

// An Attribution is the author of a change.
type Attribution struct {
	Source *diffs.Source // nil: a person's
	Leave  bool          // leave the change to a later scan
}

// A ChangeTime is the time at which a path was changed, as far as a scan knows it before it reads the file.
type ChangeTime struct {
	Path  string
	When  int64 // a moment of package clock
	Came  bool  // there was nothing at the path before
	Since int64 // a moment after the scan's beginning at which the path had not changed yet; 0: unknown
	Doubt bool  // calls may have changed it before, whenever this was

	Earlier []Earlier // earlier changes that were seen and not taken in
}

// A candidate is a path whose state differs from the known one.
type candidate struct {
	path  string
	entry *entry // nil: nothing was there
	is    filestat.Stat

	origin filestat.Stat // of the file that it was before the agent moved it, in a Shift; zero: unknown
	to     *candidate    // the file's new path, if it is gone from this one and was found
	moved  bool          // it came from the path of another candidate
}

// rank orders the changes of a scan that has no room for all: first files with a known former content, then other files that
// existed before, then new files, because a command can make any number of those.
func (s *candidate) rank() int {
	switch {
	case s.entry != nil && (s.entry.blob.OID != "" || s.entry.content != nowhere):
		return 0
	case s.entry != nil || s.moved:
		return 1
	}
	return 2
}

// Scan finds changes since the snapshot was taken, or since the latest note of a path, until ctx ends; without list, only in
// the known files. Before it reads a file, it calls judge for the author of the change by its time; it may ask again about a
// file that somebody is saving. The changes are sorted by path, and a moved file is one change. The caller notes each change
// once it has taken it in.
func (s *Snapshot) Scan(ctx context.Context, list bool, judge func(ChangeTime) Attribution) (all []Change, left LeftOut) {
	began := clock.Now()
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
	var waits []filestat.Stat // files that are gone, which is left to a later scan
	slices.SortStableFunc(suspects, func(a, b candidate) int { return cmp.Compare(a.rank(), b.rank()) })
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
		for tries := 5; sus.cutBeforeItsTimes() && tries > 0; tries-- {
			time.Sleep(cutLook)
			sus.is = filestat.Of(s.Where(sus.path))
		}
		v := judge(s.trace(sus))
		if v.Leave {
			if sus.entry != nil && !sus.is.Exists() {
				waits = append(waits, sus.entry.Stat)
			}
			if sus.entry == nil && !sus.moved && s.began < sus.is.Changed() && s.unseen(sus.path) > 0 { // the next scan knows that it was there
				s.Saw(sus.path, sus.is, clock.Now())
			}
			continue
		}
		f := Change{Path: sus.path, Is: sus.is, At: clock.Now(), Source: v.Source, Known: sus.moved, origin: sus.origin}
		if sus.entry != nil {
			f.Was, f.Doubt = sus.entry.Stat, sus.entry.doubtful
		}
		switch {
		case !utf8.ValidString(sus.path):
			f.After.Unreadable = "its name is not UTF-8"
		case f.Is.Size > room || len(all) >= scanFiles:
			left.more = append(left.more, f.Path)
			s.skip(f.Path, f.Is)
			continue
		case f.Is.Exists():
			sinceListed := func() Attribution { // whose the latest change is, if there is one
				now := sus
				now.is = f.Is
				c := s.trace(now)
				c.Since = began
				return judge(c)
			}
			f.Is, f.After = s.readLive(r, f.Path)
			for tries := 5; f.Source == nil && f.beingCut() && tries > 0; tries-- {
				time.Sleep(cutLook)
				f.Is, f.After = s.readLive(r, f.Path)
			}
			known := sus.entry != nil && sus.entry.Stat == sus.is
			if f.Source == nil && f.Is != sus.is && f.justCut() && sinceListed().Leave { // perhaps by a call that has yet to write it
				if !known {
					s.Saw(f.Path, sus.is, f.At)
				}
				continue
			}
			if s.beingSaved(r, &f, sus) {
				continue
			}
			// Somebody has changed the file since it was listed. If it was unchanged then, this is the whole change.
			if f.Is != sus.is && (known || f.Source != nil) {
				switch v := sinceListed(); {
				case known && v.Leave:
					continue
				case known:
					f.Source = v.Source
				case v.Leave: // the next scan knows who made the second change
					s.Saw(f.Path, sus.is, f.At)
					continue
				case v.Source == nil:
					f.maybe()
				}
			} else if f.Is != sus.is { // a person had changed it, and since then perhaps somebody else too
				s.Saw(f.Path, sus.is, f.At)
				v := sinceListed()
				if v.Leave {
					continue
				}
				f.Source = v.Source
			}
		case !atomicfile.Reviewable(f.Was.Mode):
			f.After.Unreadable = "it was not a regular file"
		default:
			if err := r.Unknown(f.Path); err != nil && s.shift == nil {
				f.After.Unreadable = fmt.Sprint(err) // it may still be there
			}
		}
		if f.After.Unreadable != "" {
			left.odd = append(left.odd, f.After.UnreadableAt(f.Path))
			s.skip(f.Path, f.Is)
			continue
		}
		if s.same(sus.entry, f) {
			s.restate(f)
			continue
		}
		room -= int64(len(f.After.Data))
		all = append(all, f)
		if f.Was.Exists() && atomicfile.Reviewable(f.Was.Mode) {
			ask = append(ask, f.Path)
		}
	}
	all = slices.DeleteFunc(all, func(f Change) bool { // and so are their new names
		return !f.Was.Exists() && slices.ContainsFunc(waits, func(was filestat.Stat) bool { return s.isThere(was, &f) })
	})
	slices.SortFunc(all, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	before := s.contents(ask)
	maps.Copy(before, s.guesses(ask))
	all = slices.DeleteFunc(all, func(f Change) bool {
		data, known := before[f.Path]
		if known && f.After.Exists && bytes.Equal(data, f.After.Bytes()) && f.Was.Mode == f.Is.Mode {
			s.restate(f)
			return true
		}
		return false
	})
	for i := range all {
		f := &all[i]
		if f.Doubt && !s.isolated {
			f.maybe()
		}
		if f.Was.Exists() {
			var data []byte
			if data, f.Known = before[f.Path]; !f.Known && !f.Doubt && f.Was.Written() < s.began-int64(filestat.RacyTime) && f.Was.Touched(f.Is) {
				data, f.Known = f.After.Bytes(), true
			}
			if f.Known {
				f.Before = atomicfile.ContentOf(f.Was.Mode, data)
			}
		} else {
			f.Known = f.Known || s.wasAbsent(f.Path)
		}
	}
	if list && left.late == 0 {
		s.mu.Lock()
		s.scanned = began
		s.mu.Unlock()
	}
	return s.followed(s.paired(all)), left
}

// suspects returns, sorted, the paths whose state differs from the known one, or might.
func (s *Snapshot) suspects(ctx context.Context, list bool, left *LeftOut) (suspects []candidate, ok bool) {
	if s.shift != nil {
		return s.shifted(ctx, left)
	}
	known := s.present(ctx, list, left)
	var added []git.Listed
	s.mu.Lock()
	for _, l := range known.listed {
		if !s.files.has(l.Path) {
			added = append(added, l)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(added, func(a, b git.Listed) int { return strings.Compare(a.Path, b.Path) })
	added = slices.CompactFunc(added, func(a, b git.Listed) bool { return a.Path == b.Path })
	addedStats, all := s.lstats(ctx, len(added), func(i int) string { return added[i].Path })
	if !known.whole || !all || ctx.Err() != nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.littered = s.littered || known.all && s.files.base.len() > largeTree
	for i, l := range added {
		if !s.long[l.Path] && s.tooLong(l, addedStats[i]) {
			s.long[l.Path] = true
			left.long = append(left.long, l.Path)
		}
	}
	look := func(name string, e *entry, st filestat.Stat) {
		if st.Mode.IsDir() {
			st = filestat.Stat{}
		}
		if e != nil && !e.racy && st == e.Stat || e == nil && !st.Exists() {
			return
		}
		if e == nil || st != e.Stat {
			s.reruled = s.reruled || isIgnoreFile(name)
			if known.all {
				s.sight.watch.Touch(name) // perhaps it has not been told
			}
		}
		suspects = append(suspects, candidate{path: name, entry: e, is: st})
	}
	for i, l := range added {
		look(l.Path, s.files.get(l.Path), addedStats[i])
	}
	came := map[inode]*candidate{}
	for i := range suspects {
		came[inode{suspects[i].is.Dev, suspects[i].is.Ino}] = &suspects[i]
	}
	links := map[string]bool{}
	if known.all && len(came) > 0 {
		known.add(s.files.base, func(is filestat.Stat) bool { return came[inode{is.Dev, is.Ino}] != nil })
	}
	for i, name := range known.names {
		st := known.stats[i]
		if len(came) > 0 && st.Ino != 0 && came[inode{st.Dev, st.Ino}] != nil { // it may have moved between the two looks
			if st = filestat.Of(s.Full(name)); s.beyondLink(name, links) {
				st = filestat.Stat{}
			}
		}
		if e, same := s.files.is(name, st); e != nil && !same {
			look(strings.Clone(name), e, st)
		}
	}
	goneAt := map[inode]filestat.Stat{}
	for i := range suspects {
		if sus := &suspects[i]; sus.entry != nil && sus.entry.Ino != 0 && !sus.is.Exists() {
			key := inode{sus.entry.Dev, sus.entry.Ino}
			if to := came[key]; to != nil && s.sameFile(sus.entry.Stat, to.is, to.path) { // otherwise it is a new file that reuses the number
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
	slices.SortFunc(suspects, func(a, b candidate) int { return strings.Compare(a.path, b.path) })
	return suspects, true
}

// beyondLink reports whether one of a path's folders is a link: git still lists the files that were there. known caches the
// answers for folders.
func (s *Snapshot) beyondLink(name string, known map[string]bool) bool {
	dir := path.Dir(name)
	if dir == "." {
		return false
	}
	link, seen := known[dir]
	if !seen {
		link = filestat.Of(s.Where(dir)).Mode&fs.ModeSymlink != 0 || s.beyondLink(dir, known)
		known[dir] = link
	}
	return link
}

// trace returns the time at which a candidate was last changed.
func (s *Snapshot) trace(sus candidate) ChangeTime {
	if sus.to != nil {
		c := s.trace(*sus.to)
		c.Path, c.Doubt, c.Earlier = sus.path, sus.entry.doubtful, s.EarlierOf(sus.path, 0, sus.to.is.Written(), c.When)
		return c
	}
	c := ChangeTime{Path: sus.path, When: s.ChangedAt(sus.path, sus.is), Came: sus.entry == nil && !sus.moved, Doubt: sus.entry != nil && sus.entry.doubtful}
	c.Earlier = s.EarlierOf(c.Path, 0, sus.is.Written(), c.When)
	if c.Came {
		if at := s.unseen(c.Path); 0 < at && at < c.When {
			c.Earlier = append(c.Earlier, Earlier{When: at})
		}
	}
	return c
}

// wasThere reports whether a file that was not listed before existed all along.
func (s *Snapshot) wasThere(sus candidate) bool {
	return filestat.ChangeTimes && !sus.moved && sus.is.Changed() < s.began-int64(filestat.RacyTime) && !s.wasAbsent(sus.path)
}

// wasAbsent is absent for a path that is now listed.
func (s *Snapshot) wasAbsent(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.repositoryOf(name) == nil || !s.reruled || !s.absentLocked(name) {
		return s.absentLocked(name)
	}
	t, known := filestat.Born(s.Where(name))
	return known && t > s.began-int64(filestat.RacyTime)
}

package snapshot

import (
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// Bounds of the changes that were seen and not taken in.
const (
	seenFiles = 10_000
	seenTimes = 32 // times of one file; the last is the latest
)

// Folders lists the absolute paths of the root and of the folders with listed files. Folders with the fewest other folders
// around them come first.
func (s *Snapshot) Folders() (dirs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for dir := range s.dirs {
		dirs = append(dirs, dir)
	}
	slices.SortFunc(dirs, func(a, b string) int {
		if n := strings.Count(a, "/") - strings.Count(b, "/"); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for i, dir := range dirs {
		dirs[i] = s.Full(dir)
	}
	return slices.Insert(dirs, 0, s.root)
}

// Name returns the path below the root of an absolute name.
func (s *Snapshot) Name(full string) string {
	name, err := filepath.Rel(s.root, full)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(name)
}

// An Earlier is a change of a path before its latest change.
type Earlier struct {
	When int64 // when it was made, by the clock of the file system
	By   int64 // a time by which it had certainly been made
}

// Saw notes the state of a path after a change that was made before the moment by. That change becomes an Earlier of the
// path's next change.
func (s *Snapshot) Saw(name string, st filestat.Stat, by int64) {
	if !st.Exists() || !filestat.ChangeTimes {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	when, all := st.Changed(), s.seen[name]
	n := len(all)
	switch {
	case when <= s.takenIn(name) || n > 0 && all[n-1].When == when:
	case n == 0 && len(s.seen) >= seenFiles:
	case n == seenTimes:
		all[n-1] = Earlier{when, by}
	default:
		if s.seen == nil {
			s.seen = map[string][]Earlier{}
		}
		s.seen[name] = append(all, Earlier{when, by})
	}
}

// EarlierOf returns the changes of a path between a look at a moment and the path's change at when. written, the time of the path's text, is that of
// one of them, too: if nobody has seen a person's save, and a command changes the mode after it, nothing else is left of the save. It does
// not count if a text of that time has been taken in: the file was then moved here, or copied with its time.
func (s *Snapshot) EarlierOf(name string, after, written, when int64) (all []Earlier) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.takenIn(name)
	for _, t := range s.seen[name] {
		noticed := t.When > after || t.When > after-int64(clock.Lag) && t.By > after // times of files lag
		if noticed && taken < t.When && t.When < when {
			all = append(all, t)
		}
	}
	unseen := filestat.ChangeTimes && max(after, taken, s.began) < written && written < when && !s.texts[written]
	if unseen && !slices.ContainsFunc(all, func(e Earlier) bool { return e.When == written }) {
		all = append(all, Earlier{When: written})
	}
	return all
}

// WatchedBy sets who knows in which folders saves are seen: savewatch.Folders.Watched. Without it, they are taken to be seen in all.
func (s *Snapshot) WatchedBy(watched func(dir string) (is, bounded bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = watched
}

// unseen returns the beginning of the time in which a person may have made a new file without being noticed, since its folder is not watched; 0: there is none.
func (s *Snapshot) unseen(name string) int64 {
	s.mu.Lock()
	watched, from := s.watched, max(s.began, s.scanned)
	s.mu.Unlock()
	if watched == nil || !filestat.ChangeTimes || inGit(paths.Parent(name)) { // people seldom make files for git by hand
		return 0
	}
	dir := s.Full(paths.Parent(name))
	is, bounded := watched(dir)
	if is {
		return 0
	}
	if born, known := filestat.Born(dir); known && born > from {
		return born
	}
	if !bounded {
		return from
	}
	// There are so many folders that many of them are not watched. There the birth of the file itself must do.
	if born, known := filestat.Born(s.Full(name)); known && born > from {
		return born
	}
	return 0
}

// takenIn returns the latest moment of which it is known that all earlier changes of a path are taken in. s.mu must be held.
func (s *Snapshot) takenIn(name string) int64 {
	e := s.files.get(name)
	if e == nil {
		return 0
	}
	return max(e.Changed(), e.until)
}

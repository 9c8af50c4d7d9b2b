package snapshot

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// A Shift is for a turn whose agent's changes do not lie in the folder of which the snapshot is, but elsewhere, and only they. Any goroutine
// calls its functions.
type Shift struct {
	// Under returns the folder below which a path's file lies: that of the snapshot, if the path is not the agent's.
	Under func(path string) string
	// Changed lists the files that are the agent's, sorted, without those that git ignores, and tells how many more there are that only
	// ignore files of the agent's hide.
	Changed func(ctx context.Context) (paths []string, hidden int, err error)
	// Origin returns the number of the file in the snapshot's folder from which a path's file was made; 0 if that is unknown.
	Origin func(path string) (ino uint64)
}

// Where returns the absolute name of a path's present file, where the agent works.
func (s *Snapshot) Where(name string) string {
	if s.shift == nil {
		return s.Full(name)
	}
	return filepath.Join(s.shift.Under(name), filepath.FromSlash(name))
}

// readLive is read where the agent works.
func (s *Snapshot) readLive(r *atomicfile.Reader, name string) (filestat.Stat, atomicfile.State) {
	if s.shift == nil {
		return s.read(r, name)
	}
	before := filestat.Of(s.Where(name))
	for try := 0; ; try++ {
		img := atomicfile.Read(s.shift.Under(name), name)
		after := filestat.Of(s.Where(name))
		if before == after || try == 2 {
			return after, img
		}
		before = after
	}
}

// lay notes what the agent has changed before this turn.
func (s *Snapshot) lay(ctx context.Context) {
	names, _, err := s.shift.Changed(ctx)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unusable = fmt.Sprintf("what the agent has changed before could not be listed: %v", err)
		return
	}
	for _, name := range names {
		when := s.shiftedAt(name, filestat.Of(s.Where(name)))
		s.mu.Lock()
		before := s.called == 0 || when < s.called-int64(filestat.RacyTime)
		s.mu.Unlock()
		if before {
			s.Note(name, filestat.Stat{}, atomicfile.Read(s.shift.Under(name), name))
		}
	}
}

// shifted returns, sorted, the agent's paths whose state differs from the known one, or might.
func (s *Snapshot) shifted(ctx context.Context, left *LeftOut) (suspects []candidate, ok bool) {
	names, over, err := s.shift.Changed(ctx)
	if err != nil {
		return nil, false
	}
	if over > s.over {
		left.hidden = append(left.hidden, fmt.Sprintf("%d files that this turn's ignore rules hide are not listed for review", over))
		s.over = over
	}
	s.mu.Lock()
	noted := slices.Collect(maps.Keys(s.noted))
	s.mu.Unlock()
	names = append(names, noted...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if ctx.Err() != nil {
			return nil, false
		}
		is := filestat.Of(s.Where(name))
		if is.Mode.IsDir() {
			is = filestat.Stat{}
		}
		if s.shift.Under(name) == s.root && is.Exists() {
			continue // it shows what the work tree holds
		}
		s.mu.Lock()
		e := s.files.get(name)
		s.mu.Unlock()
		if e != nil && !e.racy && is == e.Stat || e == nil && !is.Exists() {
			continue
		}
		suspects = append(suspects, candidate{path: name, entry: e, is: is})
	}
	came := map[uint64]int{}
	for i, sus := range suspects {
		if sus.entry == nil && sus.is.Mode.IsRegular() {
			if ino := s.shift.Origin(sus.path); ino != 0 {
				came[ino] = i
			}
		}
	}
	for _, sus := range suspects {
		if sus.entry == nil || sus.is.Exists() || sus.entry.Ino == 0 {
			continue
		}
		if i, found := came[sus.entry.Ino]; found {
			suspects[i].moved, suspects[i].origin = true, sus.entry.Stat
		}
	}
	return suspects, true
}

// shiftedAt is ChangedAt for a path of the agent's.
func (s *Snapshot) shiftedAt(name string, now filestat.Stat) int64 {
	if now.Exists() {
		return now.Changed()
	}
	return GoneAt(s.Where, name)
}

// GoneAt returns the moment, by package clock, of the last change of a path that is gone: that of the nearest folder above it. where returns the
// absolute names of paths.
func GoneAt(where func(path string) string, name string) int64 {
	for dir := paths.Parent(name); ; dir = paths.Parent(dir) {
		if st := filestat.Of(where(dir)); st.Exists() {
			return st.Changed()
		}
		if dir == "." {
			return clock.Now()
		}
	}
}

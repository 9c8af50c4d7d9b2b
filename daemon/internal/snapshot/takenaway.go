package snapshot

import (
	"maps"
	"slices"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// What people take away while a turn runs is known until the turn's end: the agent may go on where they have put it, and nobody may have seen it
// there before. Without this, the file would count as made by the agent, and a reject would remove it with all that people have written in it.

// Bounds of what is compared to find where a file came from.
const (
	awayMost  = 1000 // files that people have taken away
	awayPairs = 2000 // of such a file and a new one
)

// TakenAway notes that a person has removed what a path held, or has given it another name. Note is called after it.
func (s *Snapshot) TakenAway(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.files.get(name); e != nil && len(s.away) < awayMost {
		if s.away == nil {
			s.away = map[string]*entry{}
		}
		was := *e
		s.away[name] = &was
	}
}

// origins lists the files that people have taken away, or may have: those of some changes, with their places there, and those that were taken in
// before.
func (s *Snapshot) origins(all []Change) (gone []Change, at []int) {
	for i := range all {
		if f := &all[i]; !f.Doubt && f.Was.Exists() && !f.Is.Exists() {
			gone, at = append(gone, *f), append(at, i)
		}
	}
	s.mu.Lock()
	away := maps.Clone(s.away)
	s.mu.Unlock()
	held := s.contentsOf(away)
	for _, name := range slices.Sorted(maps.Keys(away)) {
		if filestat.Of(s.Where(name)).Exists() {
			continue
		}
		f := Change{Path: name, Was: away[name].Stat, At: clock.Now()}
		if data, known := held[name]; known {
			f.Before, f.Known = atomicfile.ContentOf(f.Was.Mode, data), true
		}
		gone, at = append(gone, f), append(at, -1)
	}
	return gone, at
}

// followed finds the new files that people have put where they are, or where the agent has taken them from, among changes that were found
// together. What was taken away becomes the From of the new one, and is not listed itself. An agent's file need not be the very one: half
// of the lines are enough, because programs replace what they change.
func (s *Snapshot) followed(all []Change) []Change {
	var came []*Change
	agents := false
	for i := range all {
		if f := &all[i]; f.From == nil && f.Known && !f.Doubt && !f.Was.Exists() && f.Is.Exists() && f.Is.Size > 0 {
			came, agents = append(came, f), agents || f.Source != nil
		}
	}
	if len(came) == 0 || s.isolated || s.shift != nil {
		return all
	}
	came = s.notBroughtBack(came)
	gone, at := s.origins(all)
	used, paired := make([]bool, len(gone)), map[int]bool{}
	pair := func(f *Change, k int) {
		from := gone[k]
		f.From, used[k] = &from, true
		if at[k] >= 0 {
			paired[at[k]] = true
		}
		s.mu.Lock()
		delete(s.away, from.Path)
		s.mu.Unlock()
	}
	for _, f := range came {
		if k := slices.IndexFunc(gone, func(g Change) bool { return g.Source == nil && g.Known && s.isThere(g.Was, f) }); k >= 0 && !used[k] {
			pair(f, k)
		}
	}
	for _, f := range came {
		if !agents || f.Source == nil || f.From != nil || len(gone)*len(came) > awayPairs {
			continue
		}
		best, most := -1, 0
		for k := range gone {
			g := &gone[k]
			if used[k] || !g.Known {
				continue
			}
			if n := atomicfile.Alike(g.Before, f.After.Content); n > most {
				best, most = k, n
			}
		}
		if best >= 0 {
			pair(f, best)
		}
	}
	left := all[:0:0]
	for i := range all {
		if !paired[i] {
			left = append(left, all[i])
		}
	}
	return left
}

// notBroughtBack takes out of new files those that people had taken away from the same paths. They are there again, and nobody has made them; what
// differs may be a person's change.
func (s *Snapshot) notBroughtBack(came []*Change) []*Change {
	away := map[string]*entry{}
	s.mu.Lock()
	for _, f := range came {
		if e := s.away[f.Path]; e != nil {
			away[f.Path] = e
		}
	}
	s.mu.Unlock()
	if len(away) == 0 {
		return came
	}
	held := s.contentsOf(away)
	return slices.DeleteFunc(came, func(f *Change) bool {
		e, data := away[f.Path], held[f.Path]
		if e == nil || data == nil || !s.isThere(e.Stat, f) {
			return false
		}
		s.mu.Lock()
		s.files.set(f.Path, e)
		s.record.note(f.Path, e)
		delete(s.away, f.Path)
		s.mu.Unlock()
		f.Was, f.Before = e.Stat, atomicfile.ContentOf(e.Stat.Mode, data)
		if f.Source != nil && !f.After.Same(atomicfile.State{Content: f.Before}) {
			maybe := *f.Source
			maybe.Via = diffs.ViaUnknown
			f.Source = &maybe
		}
		return true
	})
}

// isThere reports whether a change has brought the very file that was in a state elsewhere.
func (s *Snapshot) isThere(was filestat.Stat, f *Change) bool {
	same := was.Ino != 0 && was.Dev == f.Is.Dev && was.Ino == f.Is.Ino
	return same && (was.Touched(f.Is) || f.Source != nil && s.sameFile(was, f.Is, f.Path))
}

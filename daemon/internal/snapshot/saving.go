package snapshot

import (
	"time"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/diffs"
)

// beingCut reports whether somebody is emptying the file at this moment, to write it: ext4 sets the times of a file after it
// has cut it off.
func (f *Change) beingCut() bool {
	return f.Is.Exists() && f.Is.Size == 0 && f.Was.Size > 0 && f.Is.Ino == f.Was.Ino && f.Is.Changed() == f.Was.Changed()
}

// justCut reports whether somebody has emptied the file a moment ago, most likely to write it.
func (f *Change) justCut() bool {
	return f.Is.Exists() && f.Is.Size == 0 && f.Was.Size > 0 && clock.Now()-f.Is.Changed() < int64(atomicfile.EmptyTime)
}

// beingSaved waits for the end of a save that may be going on. A person's that does not end is another look's: it returns true, and
// what the file holds next, with the work of calls, may be that person's too.
func (s *Snapshot) beingSaved(r *atomicfile.Reader, f *Change, sus candidate) bool {
	cut := f.beingCut() || f.justCut()
	if cut && f.Source == nil && f.justCut() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if e := s.files[f.Path]; e != nil {
			e.saving = true
		}
		return true
	}
	if cut {
		for end := time.Now().Add(atomicfile.EmptyTime); (f.beingCut() || f.justCut()) && time.Now().Before(end); {
			time.Sleep(cutLook)
			f.Is, f.After = s.read(r, f.Path)
		}
	}
	if sus.entry != nil && sus.entry.saving {
		f.maybe()
	}
	return false
}

// cutBeforeItsTimes reports whether a file has just been emptied, and its times do not say so yet.
func (c *candidate) cutBeforeItsTimes() bool {
	if c.entry == nil || c.entry.Size == 0 || c.is.Size != 0 {
		return false
	}
	st := c.is
	st.Size = c.entry.Size
	return st == c.entry.Stat
}

// maybe makes a change that is an agent's one that may be a person's.
func (f *Change) maybe() {
	if f.Source != nil {
		src := *f.Source
		src.Via = diffs.ViaUnknown
		f.Source = &src
	}
}

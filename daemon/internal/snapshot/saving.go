package snapshot

import (
	"time"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/diffs"
)

// beingCut reports whether somebody is emptying the file at this moment in order to write it: ext4 sets a file's times after
// it has truncated the file.
func (f *Change) beingCut() bool {
	return f.Is.Exists() && f.Is.Size == 0 && f.Was.Size > 0 && f.Is.Ino == f.Was.Ino && f.Is.Changed() == f.Was.Changed()
}

// justCut reports whether somebody emptied the file a moment ago, most likely in order to write it.
func (f *Change) justCut() bool {
	return f.Is.Exists() && f.Is.Size == 0 && f.Was.Size > 0 && clock.Now()-f.Is.Changed() < int64(atomicfile.EmptyTime)
}

// beingSaved waits until the save of a file has ended. It returns true if a person's save does not end in time. Then a later
// scan must take in the file, and its content may be that person's even if calls wrote too.
func (s *Snapshot) beingSaved(r *atomicfile.Reader, f *Change, sus candidate) bool {
	cut := f.beingCut() || f.justCut()
	if cut && f.Source == nil && f.justCut() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if e := s.files.change(f.Path); e != nil {
			e.saving = true
		}
		return true
	}
	if cut {
		for end := time.Now().Add(atomicfile.EmptyTime); (f.beingCut() || f.justCut()) && time.Now().Before(end); {
			time.Sleep(cutLook)
			f.Is, f.After = s.readLive(r, f.Path)
		}
	}
	if sus.entry != nil && sus.entry.saving {
		f.maybe()
	}
	return false
}

// cutBeforeItsTimes reports whether a file was just emptied and its times do not show that yet.
func (c *candidate) cutBeforeItsTimes() bool {
	if c.entry == nil || c.entry.Size == 0 || c.is.Size != 0 {
		return false
	}
	st := c.is
	st.Size = c.entry.Size
	return st == c.entry.Stat
}

// maybe turns an agent's change into one that may be a person's.
func (f *Change) maybe() {
	if f.Source != nil {
		src := *f.Source
		src.Via = diffs.ViaUnknown
		f.Source = &src
	}
}

package snapshot

import (
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// paired finds moved files among changes that were found together: a file that is gone from one path and has come to
// another. They are the same file of the file system, or have the same content and no other pair is possible. The old path
// becomes the From of the new one, and is not listed itself.
func (s *Snapshot) paired(all []Change) []Change {
	goneAt, cameAt := map[inode]int{}, map[inode]int{}
	at := func(places map[inode]int, st filestat.Stat, i int) {
		if st.Ino == 0 {
			return
		}
		key := inode{st.Dev, st.Ino}
		if _, twice := places[key]; twice {
			i = -1
		}
		places[key] = i
	}
	for i := range all {
		f := &all[i]
		switch {
		case f.Source == nil || f.Doubt:
		case f.Was.Exists() && !f.Is.Exists():
			at(goneAt, f.Was, i)
		case !f.Was.Exists() && f.Known && f.Is.Exists() && f.origin.Exists():
			at(cameAt, f.origin, i)
		case !f.Was.Exists() && f.Known && f.Is.Exists():
			at(cameAt, f.Is, i)
		}
	}
	moved := map[int]bool{}
	pair := func(gone, came int) {
		from := all[gone]
		all[came].From = &from
		moved[gone] = true
	}
	for key, came := range cameAt {
		gone, ok := goneAt[key]
		if !ok || gone < 0 || came < 0 {
			continue
		}
		g, c := &all[gone], &all[came]
		if !c.origin.Exists() && !s.sameFile(g.Was, c.Is, c.Path) {
			continue
		}
		if !g.Known && g.Was.Touched(c.Is) && g.Was.Written() < s.began-int64(filestat.RacyTime) {
			g.Before, g.Known = atomicfile.ContentOf(g.Was.Mode, c.After.Bytes()), true
		}
		pair(gone, came)
	}
	type content struct {
		text string
		link bool
	}
	type holders struct{ gone, came []int }
	held := map[content]*holders{}
	hold := func(c diffs.Content) *holders {
		key := content{string(atomicfile.State{Content: c}.Bytes()), c.Target != ""}
		if held[key] == nil {
			held[key] = &holders{}
		}
		return held[key]
	}
	for i := range all {
		f := &all[i]
		switch {
		case f.Source == nil || f.Doubt || !f.Known || moved[i] || f.From != nil:
		case f.Was.Exists() && !f.Is.Exists() && f.Was.Size > 0:
			h := hold(f.Before)
			h.gone = append(h.gone, i)
		case !f.Was.Exists() && f.Is.Exists() && f.Is.Size > 0:
			h := hold(f.After.Content)
			h.came = append(h.came, i)
		}
	}
	for _, h := range held {
		if len(h.gone) == 1 && len(h.came) == 1 {
			pair(h.gone[0], h.came[0])
		}
	}
	left := all[:0:0]
	for i := range all {
		if !moved[i] {
			left = append(left, all[i])
		}
	}
	return left
}

// sameFile reports whether the file at the path now is the file that is gone from another path. Both have the same inode
// number.
func (s *Snapshot) sameFile(was, is filestat.Stat, now string) bool {
	if was.Mode.Type() != is.Mode.Type() || was.Touched(is) {
		return was.Touched(is)
	}
	t, known := filestat.Born(s.Where(now)) // a new file with the old number is younger
	return known && t < s.began-int64(filestat.RacyTime)
}

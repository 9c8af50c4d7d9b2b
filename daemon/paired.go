package daemon

import (
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// paired finds, among changes that were found together, files that have moved: what is gone from one path and has come
// to another, as the same file of the file system or, where nothing else could be meant, with the same content. What
// has gone is then the from of what has come, and is not listed itself.
func (s *snapshot) paired(all []found) []found {
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
		case f.source == nil:
		case f.was.Exists() && !f.is.Exists():
			at(goneAt, f.was, i)
		case !f.was.Exists() && f.known && f.is.Exists():
			at(cameAt, f.is, i)
		}
	}
	moved := map[int]bool{}
	pair := func(gone, came int) {
		from := all[gone]
		all[came].from = &from
		moved[gone] = true
	}
	for key, came := range cameAt {
		gone, ok := goneAt[key]
		if !ok || gone < 0 || came < 0 {
			continue
		}
		g, c := &all[gone], &all[came]
		if !s.sameFile(g.was, c.is, c.path) {
			continue
		}
		if !g.known && g.was.Touched(c.is) && g.was.Written() < s.began-int64(filestat.RacyTime) {
			g.before, g.known = atomicfile.ContentOf(g.was.Mode, c.after.Bytes()), true
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
		case f.source == nil || !f.known || moved[i] || f.from != nil:
		case f.was.Exists() && !f.is.Exists() && f.was.Size > 0:
			h := hold(f.before)
			h.gone = append(h.gone, i)
		case !f.was.Exists() && f.is.Exists() && f.is.Size > 0:
			h := hold(f.after.Content)
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

// sameFile reports whether what has come to a path is the very file that is gone from another, whose number it has.
func (s *snapshot) sameFile(was, is filestat.Stat, now string) bool {
	if was.Mode.Type() != is.Mode.Type() || was.Touched(is) {
		return was.Touched(is)
	}
	t, known := filestat.Born(s.full(now)) // a new file in its place is younger
	return known && t < s.began-int64(filestat.RacyTime)
}

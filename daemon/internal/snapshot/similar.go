package snapshot

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// Bounds of the search for similar files.
const (
	similarFiles = 50        // on each side
	similarSize  = 256 << 10 // of a file
	similarShare = 0.5       // of a file's bytes must be in lines that the other one has; git's default
)

// pairSimilar pairs the files that are left of a scan: one turn has moved a file and changed it before anybody looked.
func pairSimilar(all []Change, moved map[int]bool, pair func(gone, came int)) {
	type file struct {
		at    int
		lines lines
	}
	var gone, came []file
	add := func(to *[]file, i int, c diffs.Content, st filestat.Stat) {
		if len(*to) <= similarFiles && c.Exists && c.Target == "" && st.Size <= similarSize && utf8.Valid(c.Data) {
			*to = append(*to, file{i, linesOf(string(c.Data))})
		}
	}
	for i := range all {
		switch f := &all[i]; {
		case f.Source == nil || !f.Known || moved[i] || f.From != nil:
		case f.Was.Exists() && !f.Is.Exists():
			add(&gone, i, f.Before, f.Was)
		case !f.Was.Exists() && f.Is.Exists():
			add(&came, i, f.After.Content, f.Is)
		}
	}
	if len(gone) > similarFiles || len(came) > similarFiles {
		return
	}
	type match struct {
		gone, came int
		share      float64
	}
	var matches []match
	for _, g := range gone {
		for _, c := range came {
			share := g.lines.share(c.lines)
			if share >= similarShare && all[g.at].Source.TurnID == all[c.at].Source.TurnID {
				matches = append(matches, match{g.at, c.at, share})
			}
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.share, a.share) })
	for _, m := range matches {
		if moved[m.gone] || all[m.came].From != nil {
			continue
		}
		if !slices.ContainsFunc(matches, func(o match) bool { // as good, and not taken
			return o != m && o.share >= m.share && (o.gone == m.gone && all[o.came].From == nil || o.came == m.came && !moved[o.gone])
		}) {
			pair(m.gone, m.came)
		}
	}
}

// lines are the lines of a text, by their sums: the bytes in each.
type lines struct {
	bytes map[uint64]int
	all   int
}

var lineSeed = maphash.MakeSeed()

func linesOf(text string) lines {
	l := lines{map[uint64]int{}, len(text)}
	for line := range strings.Lines(text) {
		l.bytes[maphash.String(lineSeed, line)] += len(line)
	}
	return l
}

// share returns how much of the larger text is in lines that the other one has as well.
func (l lines) share(o lines) float64 {
	both := 0
	for sum, n := range l.bytes {
		both += min(n, o.bytes[sum])
	}
	return float64(both) / float64(max(l.all, o.all, 1))
}

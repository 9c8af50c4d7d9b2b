package history

import (
	"maps"
	"slices"
)

// mostCompared bounds how many lines AsBefore compares in one place.
const mostCompared = 1 << 18

// A standing is a line that is there now, or a dead one.
type standing struct {
	text     string
	at       int // of a present line; -1: dead
	by       int32
	from, to Author // who wrote it and who removed it
}

// AsBefore finds present lines that later edits have brought back: the whole file, or all that stands between two lines that have stayed, is as it
// was before an edit. It calls found for each such line, with the edit that wrote the line first; 0: a person. sure is false if one of the two
// lines has a text that occurs more than once: a comparison may then have taken another line for the one that stayed.
func (f *File) AsBefore(lines []string, found func(line int, by int32, sure bool)) {
	if f == nil || !f.again(lines) {
		return
	}
	var all []standing
	dead := f.Dead
	for i := 0; i <= len(lines); i++ {
		for len(dead) > 0 && dead[0].At == i {
			for k := range dead[0].Lines {
				d := &dead[0].Lines[k]
				all = append(all, standing{trim(d.Text), -1, d.Wrote(), d.wrote(), d.removed()})
			}
			dead = dead[1:]
		}
		if i < len(lines) {
			r := f.run(i)
			all = append(all, standing{trim(lines[i]), i, r.of(r.By), r.Author, Author{}})
		}
	}
	told := make([]bool, len(lines))
	sure := true
	tell := func(line int, by int32) {
		if !told[line] {
			told[line] = true
			found(line, by, sure)
		}
	}
	count := map[string]int{}
	for _, s := range all {
		count[s.text]++
	}
	asBefore(all, func(s standing) bool { return count[s.text] == 1 }, tell)
	sure = false
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(s standing) bool { return s.at >= 0 && s.from.By <= 0 }) // a person's line was there always
		if n < 0 {
			n = len(all)
		}
		asBefore(all[:n], func(standing) bool { return true }, tell)
		all = all[min(n+1, len(all)):]
	}
}

// again reports whether an agent's line reads like a dead one.
func (f *File) again(lines []string) bool {
	agents := map[string]bool{}
	for _, r := range f.Runs {
		for i := r.From; i < min(r.To, len(lines)) && r.By > 0; i++ {
			agents[trim(lines[i])] = true
		}
	}
	for _, d := range f.Dead {
		if slices.ContainsFunc(d.Lines, func(l Dead) bool { return agents[trim(l.Text)] }) {
			return true
		}
	}
	return false
}

// asBefore is AsBefore for a part of the file. Lines that stay and for which ends holds are where a place ends.
func asBefore(part []standing, ends func(standing) bool, found func(line int, by int32)) {
	latest := map[string]Author{} // who wrote the last present line of a text
	for _, s := range part {
		if s.at >= 0 && s.from.By > 0 {
			latest[s.text] = later(latest[s.text], s.from)
		}
	}
	// A dead line was there before an edit if that came after the one that wrote the line, and not after the one that removed it.
	seen, first, last := map[Author]bool{}, Author{}, Author{}
	for _, s := range part {
		seen[s.from], seen[s.to] = true, true
		if wrote, is := latest[s.text]; is && s.at < 0 && byTime(s.from, wrote) < 0 {
			if last == (Author{}) || byTime(s.from, first) < 0 {
				first = s.from
			}
			until := s.to
			if byTime(until, wrote) > 0 {
				until = wrote
			}
			last = later(last, until)
		}
	}
	maps.DeleteFunc(seen, func(a Author, _ bool) bool { return a.By <= 0 || byTime(a, first) <= 0 || byTime(last, a) < 0 })
	if len(seen) == 0 {
		return
	}
	edits := slices.SortedFunc(maps.Keys(seen), byTime)
	if most := max(1, mostCompared/len(part)); len(edits) > most {
		edits = edits[len(edits)-most:]
	}
	var was, is []standing
	for _, edit := range edits { // the earliest first
		same := func() {
			if slices.EqualFunc(was, is, func(a, b standing) bool { return a.text == b.text }) {
				for k, s := range is {
					if was[k].at != s.at {
						found(s.at, was[k].by)
					}
				}
			}
			was, is = was[:0], is[:0]
		}
		for _, s := range part {
			then := s.from.By <= 0 || byTime(s.from, edit) < 0
			switch {
			case s.at >= 0 && then && ends(s):
				same()
				continue
			case s.at >= 0 && then, s.at < 0 && then && byTime(s.to, edit) >= 0:
				was = append(was, s)
			}
			if s.at >= 0 {
				is = append(is, s)
			}
		}
		same()
	}
}

// GoneBefore returns the lines of Near that were removed before the latest of the present lines was written.
func (f *File) GoneBefore(from, to int) []Dead {
	latest := Author{}
	for line := from; line < to; {
		r := f.run(line)
		latest, line = later(latest, r.Author), max(r.To, line+1)
	}
	return slices.DeleteFunc(f.Near(from, to), func(d Dead) bool { return byTime(d.removed(), latest) > 0 })
}

package diffs

import (
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// A lineWriter is the edit that a present line comes from; 0: a person's, or not known.
type lineWriter struct {
	by      int32
	moved   bool // as in history.File.Of
	pending bool
}

// writers returns the writers of some present lines: all of the present text. A line that an edit has brought back as it was, in the place
// from where another edit had removed it, is of who wrote it first: the edits together have changed nothing. So is one that a turn has moved.
func (r *Review) writers(lines []weave.Atom) []lineWriter {
	all, first := make([]lineWriter, len(lines)), r.first(lines)
	for i, a := range lines {
		w, known := &all[i], false
		w.by, w.moved, known = r.past.Whose(i)
		if w.pending = a.Ins != 0; w.pending && !known && r.sources.commit(w.by) == "" {
			w.by, w.moved = a.Ins, false
		}
		if n, found := first[i]; found {
			w.by, w.moved = max(n.Whose, -n.Whose), n.Whose < 0
		}
	}
	return all
}

// first returns which present lines edits have only moved or brought back, as far as the history has not noted it already.
func (r *Review) first(lines []weave.Atom) map[int]history.First {
	first := map[int]history.First{}
	if len(r.past.Graves()) == 0 {
		return first
	}
	back := func(i int, by int32) {
		_, told := first[i]
		if _, _, known := r.past.Whose(i); !told && !known {
			first[i] = history.First{Known: true, Whose: by}
		}
	}
	r.past.AsBefore(weave.Texts(lines), func(i int, by int32, sure bool) {
		if back(i, by); sure {
			first[i] = history.First{Known: true, Whose: by}
		}
	})
	for _, run := range r.past.Stretches() {
		if to := min(run.To, len(lines)); run.By > 0 && run.From < to {
			broughtBack(lines[run.From:to], r.past.GoneBefore(run.From, to), func(i int, by int32) { back(run.From+i, by) })
		}
	}
	r.moved(lines, back)
	return first
}

// broughtBack finds the lines of a run that had been removed in its place: dead are the lines that are gone there. It calls found with the
// index of each in the run, and with the edit that wrote it first. A line of few letters, such as a brace, may be anywhere: it counts only
// beside a line with more that was brought back, or if the lines brought back are all of the run or of the dead ones.
func broughtBack(run []weave.Atom, dead []history.Dead, found func(i int, by int32)) {
	if len(dead) == 0 {
		return
	}
	was, is, first := make([]string, len(dead)), trimmed(weave.Texts(run)), map[string]history.Dead{}
	for i, d := range dead {
		was[i] = weave.TrimEnd(d.Text)
		if old, seen := first[was[i]]; !seen || d.Del < old.Del {
			first[was[i]] = d
		}
	}
	var pairs [][2]int
	linetext.Common(was, is, func(i, j int) { pairs = append(pairs, [2]int{i, j}) })
	for len(pairs) > 0 {
		n := 1
		for n < len(pairs) && pairs[n][0] == pairs[0][0]+n && pairs[n][1] == pairs[0][1]+n {
			n++
		}
		together := is[pairs[0][1]:][:n]
		if n == min(len(run), len(dead)) || slices.ContainsFunc(together, func(l string) bool { return linetext.Key(l) != "" }) {
			for k, text := range together {
				d := first[text]
				found(pairs[0][1]+k, d.Wrote())
			}
		}
		pairs = pairs[n:]
	}
}

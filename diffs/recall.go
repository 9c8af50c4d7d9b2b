package diffs

import (
	"strings"

	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// Written are lines of a text that an edit has written, for somebody who does not have the review.
type Written struct {
	Source Source
	At     int64    // in ms since 1970; 0: not known
	From   int      // the number of the first line in the text, from 0
	Lines  []string // in the order of the text, without their ends
}

// Written returns the lines of the present text that edits of some turns have written, pending or accepted.
func (r *Review) Written(of func(Source) bool) (all []Written) {
	lines := r.present().lines
	for _, o := range r.Origins() {
		if o.Source == nil || !of(*o.Source) {
			continue
		}
		w := Written{Source: *o.Source, At: o.At, From: o.From}
		for _, l := range lines[o.From:o.To] {
			w.Lines = append(w.Lines, strings.Clone(weave.TrimEnd(l.Text)))
		}
		all = append(all, w)
	}
	return all
}

// Recall gives the history the edits of present lines of which it knows none, or one that an import has told of and that over lets another take
// the place of. It returns how many lines these are. If the lines are placed, the present text has them at From. Otherwise it is as if a
// person had brought the lines: only their text tells the edit, and where the text has less than half of them, Recall takes none.
func (r *Review) Recall(written []Written, placed bool, over func(known, told Source) bool) (taken int) {
	var lines []string
	var of []*Written // by line
	present, found, from := r.present().lines, 0, map[int]*Written{}
	is := func(j int, w *Written) {
		found++
		known, _ := r.past.Of(j)
		by := r.sources.of([]int32{known})
		if j < len(present) && present[j].Ins == 0 && (known == 0 || by[0].Imported && by[0] != w.Source && over(by[0], w.Source)) {
			from[j] = w
		}
	}
	for i := range written {
		for k, l := range written[i].Lines {
			if lines, of = append(lines, l), append(of, &written[i]); placed {
				is(written[i].From+k, &written[i])
			}
		}
	}
	if !placed {
		linetext.Common(lines, trimmed(weave.Texts(present)), func(i, j int) { is(j, of[i]) })
	}
	if 2*found < len(lines) || len(from) == 0 {
		return 0
	}
	by, at := make([]int32, len(present)), map[int32]int64{}
	for j, w := range from {
		n := r.sources.edit(w.Source)
		if by[j], at[n] = n, w.At; !placed {
			by[j] = -n
		}
	}
	r.past = r.past.Recall(by, at)
	return len(from)
}

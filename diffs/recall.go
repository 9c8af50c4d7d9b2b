package diffs

import "strings"

// Written are lines of a text that an edit has written, for somebody who does not have the review.
type Written struct {
	Source Source
	At     int64    // in ms since 1970; 0: not known
	Lines  []string // in the order of the text, without their ends
}

// Written returns the lines of the present text that the edits of a session have written, pending or accepted.
func (r *Review) Written(session string) (all []Written) {
	lines := r.present().lines
	for _, o := range r.Origins() {
		if o.Source == nil || o.Source.SessionID != session {
			continue
		}
		w := Written{Source: *o.Source, At: o.At}
		for _, l := range lines[o.From:o.To] {
			w.Lines = append(w.Lines, strings.Clone(trimEnd(l.text)))
		}
		all = append(all, w)
	}
	return all
}

// Recall gives the history the edits of present lines of which it knows none, as if a person had brought the lines there: only their text
// tells the edit, and a rewind leaves them. Where the text has less than half of the written lines, Recall takes none of them. It returns
// how many it has taken.
func (r *Review) Recall(written []Written) (taken int) {
	var lines []string
	var of []int // by line, its place in written
	for i, w := range written {
		for _, l := range w.Lines {
			lines, of = append(lines, l), append(of, i)
		}
	}
	present := r.present().lines
	texts := texts(present)
	for i, t := range texts {
		texts[i] = trimEnd(t)
	}
	found, from := 0, make(map[int]int)
	commonLines(lines, texts, func(i, j int) {
		found++
		if by, _ := r.past.Of(j); by == 0 && present[j].ins == 0 {
			from[j] = of[i]
		}
	})
	if 2*found < len(lines) || len(from) == 0 {
		return 0
	}
	by, at := make([]int32, len(present)), map[int32]int64{}
	for j, i := range from {
		by[j] = r.sources.edit(written[i].Source)
		at[by[j]] = written[i].At
	}
	r.past = r.past.Recall(by, at)
	return len(from)
}

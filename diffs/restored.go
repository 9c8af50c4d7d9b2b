package diffs

import (
	"cursord/diffs/history"
	"cursord/diffs/internal/moves"
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
	texts := trimmed(weave.Texts(lines))
	for _, run := range r.past.Stretches() {
		if to := min(run.To, len(lines)); run.By > 0 && run.From < to {
			moves.BroughtBack(texts[run.From:to], r.past.GoneBefore(run.From, to), func(i int, by int32) { back(run.From+i, by) })
		}
	}
	moves.Moved(r.past, texts, func(n int32) string {
		if src := r.sources.of([]int32{n}); len(src) > 0 && src[0].Commit == "" {
			return src[0].SessionID + " " + src[0].TurnID
		}
		return ""
	}, back)
	return first
}

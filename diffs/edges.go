package diffs

import (
	"slices"
	"strings"
)

// A byte order mark stands before the first line, and a line end may be missing after the last one. If these were parts of a
// line's text, they would tie a person's edit of one line to the agent's edit of another: whoever puts a line above the
// first would rewrite that one. So both are removed while a person's edit is taken in, and then put back on whatever line is
// first or last by then. A line that is first or last on one side only is two lines in the weave, and stays two.

const byteOrderMark = "\ufeff"

// A lifting is what was removed from one end of a weave's texts.
type lifting struct {
	end    func(side) int
	change func(string) string // puts it back on a line
	on     [2]bool             // whether it belongs to the baseline, and to the present text
	split  [2]*atom            // if the line was two: the deleted one and the inserted one
	fresh  uint64              // the last id before
}

// first returns the index of a side's first line, or -1.
func (w *weave) first(s side) int {
	return slices.IndexFunc(w.atoms, func(a atom) bool { return a.on(s) })
}

// liftMark removes the byte order mark from the weave and from text, which a person is about to make the present text. If
// the mark itself is the agent's change, it does nothing and returns nil.
func (w *weave) liftMark(text string) (string, *lifting) {
	b, c := w.first(baseline), w.first(current)
	marked := func(i int) bool { return i >= 0 && strings.HasPrefix(w.atoms[i].text, byteOrderMark) }
	bare, has := strings.CutPrefix(text, byteOrderMark)
	had := marked(c)
	if c < 0 || b >= 0 && marked(b) != had || !had && !has || has && bare == "" {
		return text, nil
	}
	// A mark that comes or goes together with its line is ordinary text.
	switch first, _, _ := strings.Cut(text, "\n"); {
	case had && !has && !w.gets(strings.TrimPrefix(w.atoms[c].text, byteOrderMark), text),
		!had && has && !w.gets(first, text):
		return text, nil
	}
	l := &lifting{end: w.first, on: [2]bool{has, has}, fresh: w.next, change: func(line string) string { return byteOrderMark + line }}
	if !had {
		return bare, l
	}
	if b < 0 {
		b = c
	}
	for _, i := range []int{b, c} {
		if line := w.atoms[i].text; line == byteOrderMark || strings.HasPrefix(line, byteOrderMark+byteOrderMark) {
			return text, nil // without the mark there would be no line, or the line would begin with a mark that is text
		}
	}
	begin, stop := w.run(0)
	for _, i := range []int{b, c} {
		bareLine := strings.TrimPrefix(w.atoms[i].text, byteOrderMark)
		for k := begin; k < stop && begin <= i && i < stop; k++ {
			if a := &w.atoms[k]; a.text == bareLine && (a.del != 0) != (w.atoms[i].del != 0) && l.split[0] == nil {
				l.keepSplit(w.atoms[i], *a)
			}
		}
	}
	for _, i := range []int{b, c} {
		w.atoms[i].text = strings.TrimPrefix(w.atoms[i].text, byteOrderMark)
	}
	w.normalise()
	return bare, l
}

// gets reports whether text has a line, with any line end, more often than the present text has it.
func (w *weave) gets(line, text string) bool {
	line = trimEnd(line)
	more := 0
	for l := range strings.Lines(text) {
		if trimEnd(l) == line {
			more++
		}
	}
	for i := range w.atoms {
		if a := &w.atoms[i]; a.on(current) && trimEnd(a.text) == line {
			more--
		}
	}
	return more > 0
}

// liftEnd does for a missing line end what liftMark does for the byte order mark. It applies if the baseline's last line has
// no line end and the agent gave it one and added lines after it.
func (w *weave) liftEnd(text string) (string, *lifting) {
	b, c := w.last(baseline), w.last(current)
	if b < 0 || c < 0 || w.atoms[b].del == 0 || !lacksEOL(w.atoms[b].text) {
		return text, nil
	}
	ended := w.atoms[b].text + w.lineEnd()
	twin := b + 1
	for ; twin < c && w.atoms[twin].pending(); twin++ {
		if a := &w.atoms[twin]; a.ins != 0 && a.text == ended {
			break
		}
	}
	if twin >= c || !w.atoms[twin].pending() {
		return text, nil // the agent added only the line end, or the line differs
	}
	l := &lifting{end: w.last, on: [2]bool{true, lacksEOL(text)}, fresh: w.next, change: func(line string) string { return strings.TrimRight(line, "\r\n") }}
	l.keepSplit(w.atoms[b], w.atoms[twin])
	w.atoms[b].text = ended
	if lacksEOL(w.atoms[c].text) {
		w.atoms[c].text += w.lineEnd()
	}
	w.normalise()
	if lacksEOL(text) {
		text += w.lineEnd()
	}
	return text, l
}

func (l *lifting) keepSplit(x, y atom) {
	if x.del == 0 {
		x, y = y, x
	}
	l.split = [2]*atom{&x, &y}
}

// bare is a line without the mark or line end that may have been lifted.
func (l *lifting) bare(line string) string { return trimEnd(strings.TrimPrefix(line, byteOrderMark)) }

// lower puts back what was lifted. It returns false if that would make settled lines pending.
func (w *weave) lower(l *lifting) bool {
	if l == nil {
		return true
	}
	b, c := l.end(baseline), l.end(current)
	for s, i := range []int{b, c} {
		if i < 0 || !l.on[s] {
			continue
		}
		if line := l.change(w.atoms[i].text); line == "" || strings.HasPrefix(line, byteOrderMark+byteOrderMark) {
			return false // the line would be empty, or has a mark that is text
		}
	}
	if b == c {
		if c >= 0 && l.on[1] {
			w.atoms[c].text = l.change(w.atoms[c].text)
		}
		return true
	}
	at, order := [2]int{b, c}, []int{0, 1}
	if c > b { // from the end, so that indices stay valid
		order = []int{1, 0}
	}
	for _, s := range order {
		i := at[s]
		if i < 0 || !l.on[s] {
			continue
		}
		if a := &w.atoms[i]; a.pending() {
			a.text = l.change(a.text)
			continue
		}
		// The line at the end of the other side is pending, or both lines would become one. A line may be split here only if
		// it was two before, or if a person put it there.
		if l.split[0] == nil {
			return false
		}
		a, dead, alive := w.atoms[i], *l.split[0], *l.split[1]
		if a.id <= l.fresh && l.bare(a.text) != l.bare(dead.text) {
			return false
		}
		dead.text, alive.text, dead.user, alive.user = a.text, a.text, a.user, false
		if s == 0 {
			dead.text = l.change(a.text)
		} else {
			alive.text = l.change(a.text)
		}
		if slices.ContainsFunc(w.atoms, func(o atom) bool { return o.id != a.id && (o.id == dead.id || o.id == alive.id) }) {
			return false
		}
		w.atoms = slices.Replace(w.atoms, i, i+1, dead, alive)
	}
	return true
}

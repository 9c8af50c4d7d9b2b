package weave

import (
	"slices"
	"strings"

	"cursord/diffs/internal/linetext"
)

// A byte order mark stands before the first line, and a line end may be missing after the last one. If these were parts of a
// line's text, they would tie a person's edit of one line to the agent's edit of another: whoever puts a line above the
// first would rewrite that one. So both are removed while a person's edit is taken in, and then put back on whatever line is
// first or last by then. A line that is first or last on one side only is two lines in the weave, and stays two.

const byteOrderMark = linetext.ByteOrderMark

// A Lifting is what was removed from one end of a weave's texts.
type Lifting struct {
	end    func(Side) int
	change func(string) string // puts it back on a line
	on     [2]bool             // whether it belongs to the baseline, and to the present text
	split  [2]*Atom            // if the line was two: the deleted one and the inserted one
	fresh  uint64              // the last id before
}

// first returns the index of a side's first line, or -1.
func (w *Weave) first(s Side) int {
	return slices.IndexFunc(w.Atoms, func(a Atom) bool { return a.On(s) })
}

// LiftMark removes the byte order mark from the weave and from text, which a person is about to make the present text. If
// the mark itself is the agent's change, it does nothing and returns nil.
func (w *Weave) LiftMark(text string) (string, *Lifting) {
	b, c := w.first(Baseline), w.first(Current)
	marked := func(i int) bool { return i >= 0 && strings.HasPrefix(w.Atoms[i].Text, byteOrderMark) }
	bare, has := strings.CutPrefix(text, byteOrderMark)
	had := marked(c)
	if c < 0 || b >= 0 && marked(b) != had || !had && !has || has && bare == "" {
		return text, nil
	}
	// A mark that comes or goes together with its line is ordinary text.
	switch first, _, _ := strings.Cut(text, "\n"); {
	case had && !has && !w.gets(strings.TrimPrefix(w.Atoms[c].Text, byteOrderMark), text),
		!had && has && !w.gets(first, text):
		return text, nil
	}
	l := &Lifting{end: w.first, on: [2]bool{has, has}, fresh: w.Next, change: func(line string) string { return byteOrderMark + line }}
	if !had {
		return bare, l
	}
	if b < 0 {
		b = c
	}
	for _, i := range []int{b, c} {
		if line := w.Atoms[i].Text; line == byteOrderMark || strings.HasPrefix(line, byteOrderMark+byteOrderMark) {
			return text, nil // without the mark there would be no line, or the line would begin with a mark that is text
		}
	}
	begin, stop := w.Run(0)
	for _, i := range []int{b, c} {
		bareLine := strings.TrimPrefix(w.Atoms[i].Text, byteOrderMark)
		for k := begin; k < stop && begin <= i && i < stop; k++ {
			if a := &w.Atoms[k]; a.Text == bareLine && (a.Del != 0) != (w.Atoms[i].Del != 0) && l.split[0] == nil {
				l.keepSplit(w.Atoms[i], *a)
			}
		}
	}
	for _, i := range []int{b, c} {
		w.Atoms[i].Text = strings.TrimPrefix(w.Atoms[i].Text, byteOrderMark)
	}
	w.Normalise()
	return bare, l
}

// gets reports whether text has a line, with any line end, more often than the present text has it.
func (w *Weave) gets(line, text string) bool {
	line = TrimEnd(line)
	more := 0
	for l := range strings.Lines(text) {
		if TrimEnd(l) == line {
			more++
		}
	}
	for i := range w.Atoms {
		if a := &w.Atoms[i]; a.On(Current) && TrimEnd(a.Text) == line {
			more--
		}
	}
	return more > 0
}

// LiftEnd does for a missing line end what liftMark does for the byte order mark. It applies if the baseline's last line has
// no line end and the agent gave it one and added lines after it.
func (w *Weave) LiftEnd(text string) (string, *Lifting) {
	b, c := w.Last(Baseline), w.Last(Current)
	if b < 0 || c < 0 || w.Atoms[b].Del == 0 || !LacksEOL(w.Atoms[b].Text) {
		return text, nil
	}
	ended := w.Atoms[b].Text + w.LineEnd()
	twin := b + 1
	for ; twin < c && w.Atoms[twin].Pending(); twin++ {
		if a := &w.Atoms[twin]; a.Ins != 0 && a.Text == ended {
			break
		}
	}
	if twin >= c || !w.Atoms[twin].Pending() {
		return text, nil // the agent added only the line end, or the line differs
	}
	l := &Lifting{end: w.Last, on: [2]bool{true, LacksEOL(text)}, fresh: w.Next, change: func(line string) string { return strings.TrimRight(line, "\r\n") }}
	l.keepSplit(w.Atoms[b], w.Atoms[twin])
	w.Atoms[b].Text = ended
	if LacksEOL(w.Atoms[c].Text) {
		w.Atoms[c].Text += w.LineEnd()
	}
	w.Normalise()
	if LacksEOL(text) {
		text += w.LineEnd()
	}
	return text, l
}

func (l *Lifting) keepSplit(x, y Atom) {
	if x.Del == 0 {
		x, y = y, x
	}
	l.split = [2]*Atom{&x, &y}
}

// bare is a line without the mark or line end that may have been lifted.
func (l *Lifting) bare(line string) string { return TrimEnd(strings.TrimPrefix(line, byteOrderMark)) }

// Lower puts back what was lifted. It returns false if that would make settled lines pending.
func (w *Weave) Lower(l *Lifting) bool {
	if l == nil {
		return true
	}
	b, c := l.end(Baseline), l.end(Current)
	for s, i := range []int{b, c} {
		if i < 0 || !l.on[s] {
			continue
		}
		if line := l.change(w.Atoms[i].Text); line == "" || strings.HasPrefix(line, byteOrderMark+byteOrderMark) {
			return false // the line would be empty, or has a mark that is text
		}
	}
	if b == c {
		if c >= 0 && l.on[1] {
			w.Atoms[c].Text = l.change(w.Atoms[c].Text)
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
		if a := &w.Atoms[i]; a.Pending() {
			a.Text = l.change(a.Text)
			continue
		}
		// The line at the end of the other side is pending, or both lines would become one. A line may be split here only if
		// it was two before, or if a person put it there.
		if l.split[0] == nil {
			return false
		}
		a, dead, alive := w.Atoms[i], *l.split[0], *l.split[1]
		if a.ID <= l.fresh && l.bare(a.Text) != l.bare(dead.Text) {
			return false
		}
		dead.Text, alive.Text, dead.User, alive.User = a.Text, a.Text, a.User, false
		if s == 0 {
			dead.Text = l.change(a.Text)
		} else {
			alive.Text = l.change(a.Text)
		}
		if slices.ContainsFunc(w.Atoms, func(o Atom) bool { return o.ID != a.ID && (o.ID == dead.ID || o.ID == alive.ID) }) {
			return false
		}
		w.Atoms = slices.Replace(w.Atoms, i, i+1, dead, alive)
	}
	return true
}

package diffs

import (
	"slices"
	"strings"
)

// An atom is one line of a weave.
type atom struct {
	text string // with its line end; only a line that was once the last of a side may have none
	id   uint64 // never used again
	ins  int32  // 0: settled; n: inserted by edit n, undecided
	del  int32  // 0: alive; n: deleted by edit n, undecided (a tombstone); never beside ins
	user bool   // exists only because the user typed it
}

func (a *atom) pending() bool { return a.ins != 0 || a.del != 0 }

// A side is one of the two texts in a weave.
type side bool

const (
	baseline side = false
	current  side = true
)

func (a *atom) on(s side) bool {
	if s == current {
		return a.del == 0
	}
	return a.ins == 0
}

// A weave holds the lines of a file's baseline and present text in one order.
type weave struct {
	atoms []atom
	eol   string // what a line gets that lost its place at the end; "" until a line end was seen
	next  uint64 // the last id given out
}

func (w *weave) id() uint64 {
	w.next++
	return w.next
}

// last returns the index of a side's last line, or -1.
func (w *weave) last(s side) int {
	for i := len(w.atoms) - 1; i >= 0; i-- {
		if w.atoms[i].on(s) {
			return i
		}
	}
	return -1
}

func (w *weave) lineEnd() string {
	if w.eol == "" {
		return "\n"
	}
	return w.eol
}

func (w *weave) noteLineEnd(text string) {
	if w.eol == "" {
		w.eol = lineEnd(text)
	}
}

// pieces calls yield with the parts of a side's text. Two lines are never glued.
func (w *weave) pieces(s side, yield func(string) bool) {
	glued := false
	for i := range w.atoms {
		a := &w.atoms[i]
		if !a.on(s) {
			continue
		}
		if glued && !yield(w.lineEnd()) || !yield(a.text) {
			return
		}
		glued = lacksEOL(a.text)
	}
}

// text returns a side's text.
func (w *weave) text(s side) string {
	n := 0
	w.pieces(s, func(p string) bool { n += len(p); return true })
	var b strings.Builder
	b.Grow(n)
	w.pieces(s, func(p string) bool { b.WriteString(p); return true })
	return b.String()
}

// is reports whether a side's text equals text.
func (w *weave) is(s side, text string) bool {
	ok := true
	w.pieces(s, func(p string) bool {
		if ok = strings.HasPrefix(text, p); ok {
			text = text[len(p):]
		}
		return ok
	})
	return ok && text == ""
}

// same reports whether both sides have the same text.
func (w *weave) same() bool {
	var n [2]int
	w.pieces(baseline, func(p string) bool { n[0] += len(p); return true })
	w.pieces(current, func(p string) bool { n[1] += len(p); return true })
	return n[0] == n[1] && w.is(current, w.text(baseline))
}

func (w *weave) pending() bool {
	for i := range w.atoms {
		if w.atoms[i].pending() {
			return true
		}
	}
	return false
}

// run returns the first run of pending atoms at or after from; start is len(w.atoms) if there is none.
func (w *weave) run(from int) (start, end int) {
	for start = from; start < len(w.atoms) && !w.atoms[start].pending(); start++ {
	}
	for end = start; end < len(w.atoms) && w.atoms[end].pending(); end++ {
	}
	return start, end
}

// reset makes text the settled content of both sides. The lines are the user's if user is set.
func (w *weave) reset(text string, user bool) {
	lines := splitLines(text)
	w.atoms = make([]atom, len(lines))
	for i, l := range lines {
		w.atoms[i] = atom{text: l, id: w.id(), user: user}
	}
}

// settleBack makes the baseline the present text.
func (w *weave) settleBack() {
	kept := w.atoms[:0]
	for _, a := range w.atoms {
		if a.ins == 0 {
			a.del = 0
			kept = append(kept, a)
		}
	}
	clear(w.atoms[len(kept):])
	w.atoms = kept
}

// repair gives a line end to each line that has none and is no longer the last. Both texts stay the same.
func (w *weave) repair() { w.repairLines(true) }

// repairLines is repair. Without split it leaves out a line that would become two, so that nothing becomes pending.
func (w *weave) repairLines(split bool) {
	c, b := w.last(current), w.last(baseline)
	for i := 0; i < len(w.atoms); i++ {
		a := &w.atoms[i]
		if !lacksEOL(a.text) || a.del == 0 && i == c || a.del != 0 && i == b {
			continue
		}
		if a.pending() || i != b {
			a.text += w.lineEnd()
			continue
		}
		if !split {
			continue
		}
		// The baseline ends with this line. The present text continues with lines that are all the agent's, so the line end
		// is the agent's too.
		added := atom{text: a.text + w.lineEnd(), id: w.id(), ins: w.atoms[i+1].ins}
		a.del = added.ins
		i++
		c++
		w.atoms = slices.Insert(w.atoms, i, added)
	}
}

// splice changes a side's text. The dropped and added lines are those of the agent's edit n, which changes only the present
// text, or, for 0, the user's.
func (w *weave) splice(on side, splices []splice, n int32) {
	added := 0
	for _, s := range splices {
		added += len(s.lines)
	}
	out := make([]atom, 0, len(w.atoms)+added)
	i, line := 0, 0
	for _, s := range splices {
		for ; i < len(w.atoms) && !(line == s.from && w.atoms[i].on(on)); i++ {
			if w.atoms[i].on(on) {
				line++
			}
			out = append(out, w.atoms[i])
		}
		// What a person puts right above lines that replace others goes above the replaced ones, too.
		behind := len(out)
		if n == 0 && on == current && s.from == s.to && i < len(w.atoms) && w.atoms[i].ins != 0 {
			for behind > 0 && out[behind-1].del != 0 {
				behind--
			}
		}
		replaced := slices.Clone(out[behind:])
		out = out[:behind]
		put := 0
		add := func(upTo int) {
			for ; put < upTo; put++ {
				l := strings.Clone(s.lines[put]) // a copy, so that one line does not keep the whole text in memory
				out = append(out, atom{text: l, id: w.id(), ins: n, user: n == 0})
			}
		}
		var place []int
		if n == 0 && on == current {
			place = w.places(i, s)
		}
		for ; line < s.to; i++ {
			a := w.atoms[i]
			switch {
			case !a.on(on):
				if len(place) > 0 && a.del != 0 {
					add(place[0])
				}
				out = append(out, a)
				continue
			case n != 0 && a.ins == 0:
				a.del = n
				out = append(out, a)
			}
			line++
			if len(place) > 0 {
				place = place[1:]
			}
		}
		add(len(s.lines))
		out = append(out, replaced...)
	}
	w.atoms = append(out, w.atoms[i:]...)
}

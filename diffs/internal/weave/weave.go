// Package weave is one list of lines for two texts, each line with the edit that inserted it and the edit that deleted it, as far as
// these are undecided. It takes edits into that list, and removes what they have taken back. It knows nothing of files and decisions.
package weave

import (
	"slices"
	"strings"

	"cursord/diffs/internal/linetext"
)

// An Atom is one line of a weave.
type Atom struct {
	Text string // with its line end; only a line that was once the last of a side may have none
	ID   uint64 // never used again
	Ins  int32  // 0: settled; n: inserted by edit n, undecided
	Del  int32  // 0: alive; n: deleted by edit n, undecided (a tombstone); never beside ins
	User bool   // exists only because the user typed it
	Both bool   // a person put it into the baseline where an edit had changed it; if deleted, not by that edit: see contest
}

// Pending reports whether nobody has decided about the line.
func (a *Atom) Pending() bool { return a.Ins != 0 || a.Del != 0 }

// A Side is one of the two texts in a weave.
type Side bool

const (
	Baseline Side = false
	Current  Side = true
)

// On reports whether a side has the line.
func (a *Atom) On(s Side) bool {
	if s == Current {
		return a.Del == 0
	}
	return a.Ins == 0
}

// A Weave holds the lines of a file's baseline and present text in one order.
type Weave struct {
	Atoms []Atom
	EOL   string // what a line gets that lost its place at the end; "" until a line end was seen
	Next  uint64 // the last id given out
}

// ID returns a new id.
func (w *Weave) ID() uint64 {
	w.Next++
	return w.Next
}

// Last returns the index of a side's last line, or -1.
func (w *Weave) Last(s Side) int {
	for i := len(w.Atoms) - 1; i >= 0; i-- {
		if w.Atoms[i].On(s) {
			return i
		}
	}
	return -1
}

// LineEnd returns what a line gets that has lost its place at the end.
func (w *Weave) LineEnd() string {
	if w.EOL == "" {
		return "\n"
	}
	return w.EOL
}

// NoteLineEnd takes the line end of a text, if the weave has none yet.
func (w *Weave) NoteLineEnd(text string) {
	if w.EOL == "" {
		w.EOL = linetext.End(text)
	}
}

// pieces calls yield with the parts of a side's text. Two lines are never glued.
func (w *Weave) pieces(s Side, yield func(string) bool) {
	glued := false
	for i := range w.Atoms {
		a := &w.Atoms[i]
		if !a.On(s) {
			continue
		}
		if glued && !yield(w.LineEnd()) || !yield(a.Text) {
			return
		}
		glued = LacksEOL(a.Text)
	}
}

// Text returns a side's text.
func (w *Weave) Text(s Side) string {
	n := 0
	w.pieces(s, func(p string) bool { n += len(p); return true })
	var b strings.Builder
	b.Grow(n)
	w.pieces(s, func(p string) bool { b.WriteString(p); return true })
	return b.String()
}

// Is reports whether a side's text equals text.
func (w *Weave) Is(s Side, text string) bool {
	ok := true
	w.pieces(s, func(p string) bool {
		if ok = strings.HasPrefix(text, p); ok {
			text = text[len(p):]
		}
		return ok
	})
	return ok && text == ""
}

// Same reports whether both sides have the same text.
func (w *Weave) Same() bool {
	var n [2]int
	w.pieces(Baseline, func(p string) bool { n[0] += len(p); return true })
	w.pieces(Current, func(p string) bool { n[1] += len(p); return true })
	return n[0] == n[1] && w.Is(Current, w.Text(Baseline))
}

// Pending reports whether any line is pending.
func (w *Weave) Pending() bool {
	return slices.ContainsFunc(w.Atoms, func(a Atom) bool { return a.Pending() })
}

// Run returns the first run of pending atoms at or after from; start is len(w.atoms) if there is none.
func (w *Weave) Run(from int) (start, end int) {
	for start = from; start < len(w.Atoms) && !w.Atoms[start].Pending(); start++ {
	}
	for end = start; end < len(w.Atoms) && w.Atoms[end].Pending(); end++ {
	}
	return start, end
}

// Reset makes text the settled content of both sides. The lines are the user's if user is set.
func (w *Weave) Reset(text string, user bool) {
	lines := linetext.Split(text)
	w.Atoms = make([]Atom, len(lines))
	for i, l := range lines {
		w.Atoms[i] = Atom{Text: l, ID: w.ID(), User: user}
	}
}

// SettleBack makes the baseline the present text.
func (w *Weave) SettleBack() {
	kept := w.Atoms[:0]
	for _, a := range w.Atoms {
		if a.Ins == 0 {
			a.Del, a.Both = 0, false
			kept = append(kept, a)
		}
	}
	clear(w.Atoms[len(kept):])
	w.Atoms = kept
}

// SettleForward makes the present text the baseline.
func (w *Weave) SettleForward() {
	kept := w.Atoms[:0]
	for _, a := range w.Atoms {
		if a.Del == 0 {
			a.Ins = 0
			kept = append(kept, a)
		}
	}
	clear(w.Atoms[len(kept):])
	w.Atoms = kept
}

// Repair gives a line end to each line that has none and is no longer the last. Both texts stay the same.
func (w *Weave) Repair() { w.RepairLines(true) }

// RepairLines is repair. Without split it leaves out a line that would become two, so that nothing becomes pending.
func (w *Weave) RepairLines(split bool) {
	c, b := w.Last(Current), w.Last(Baseline)
	for i := 0; i < len(w.Atoms); i++ {
		a := &w.Atoms[i]
		if !LacksEOL(a.Text) || a.Del == 0 && i == c || a.Del != 0 && i == b {
			continue
		}
		if a.Pending() || i != b {
			a.Text += w.LineEnd()
			continue
		}
		if !split {
			continue
		}
		// The baseline ends with this line. The present text continues with lines that are all the agent's, so the line end
		// is the agent's too.
		added := Atom{Text: a.Text + w.LineEnd(), ID: w.ID(), Ins: w.Atoms[i+1].Ins}
		a.Del = added.Ins
		i++
		c++
		w.Atoms = slices.Insert(w.Atoms, i, added)
	}
}

// Splice changes a side's text. The dropped and added lines are those of the agent's edit n, which changes only the present
// text, or, for 0, the user's.
func (w *Weave) Splice(on Side, splices []Splice, n int32) {
	added := 0
	for _, s := range splices {
		added += len(s.Lines)
	}
	out := make([]Atom, 0, len(w.Atoms)+added)
	i, line := 0, 0
	for _, s := range splices {
		for ; i < len(w.Atoms) && !(line == s.From && w.Atoms[i].On(on)); i++ {
			if w.Atoms[i].On(on) {
				line++
			}
			out = append(out, w.Atoms[i])
		}
		// What a person puts right above lines that replace others goes above the replaced ones, too.
		behind := len(out)
		if n == 0 && on == Current && s.From == s.To && i < len(w.Atoms) && w.Atoms[i].Ins != 0 {
			for behind > 0 && out[behind-1].Del != 0 {
				behind--
			}
		}
		replaced := slices.Clone(out[behind:])
		out = out[:behind]
		put := 0
		add := func(upTo int) {
			for ; put < upTo; put++ {
				l := strings.Clone(s.Lines[put]) // a copy, so that one line does not keep the whole text in memory
				out = append(out, Atom{Text: l, ID: w.ID(), Ins: n, User: n == 0})
			}
		}
		var place []int
		var gone []int32 // for each line that a person takes from the baseline, the edit that had deleted it, or 0
		if n == 0 && on == Current {
			place = w.places(i, s)
		}
		for ; line < s.To; i++ {
			a := w.Atoms[i]
			switch {
			case !a.On(on):
				if len(place) > 0 && a.Del != 0 {
					add(place[0])
				}
				out = append(out, a)
				continue
			case n != 0 && a.Ins == 0:
				a.Del, a.Both = n, false
				out = append(out, a)
			case on == Baseline:
				gone = append(gone, a.Del)
			}
			line++
			if len(place) > 0 {
				place = place[1:]
			}
		}
		at := len(out)
		if add(len(s.Lines)); on == Baseline {
			contest(out, at, w.Atoms[i:], gone)
		}
		out = append(out, replaced...)
	}
	w.Atoms = append(out, w.Atoms[i:]...)
}

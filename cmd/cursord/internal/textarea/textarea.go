// Package textarea holds the text that a person writes in a terminal: its lines, the cursor, the keys that edit it, and which rows of it
// are on the screen. It draws nothing and knows no terminal.
package textarea

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Area is a text with a cursor, shown in rows of a width. The zero Area is empty. Left, right and the keys that delete one character
// act on what a person sees as one, also if it is written with several runes.
type Area struct {
	lines         []line // never empty once the area is used
	at            place
	goal          int // the column that up and down aim at, + 1; 0: the cursor's
	width, height int // of the screen's part that may be used
	top           int // rows above the first that is shown
}

// A place is before a byte of a line.
type place struct{ line, offset int }

// A line of the text, and where its rows begin.
type line struct {
	text string
	rows []int
}

// Resize sets how many cells a row has, and how many rows are shown at most.
func (a *Area) Resize(width, height int) {
	a.width, a.height = max(width, 1), max(height, 1)
	a.init()
	for i := range a.lines {
		a.wrap(i)
	}
	a.show()
}

func (a *Area) init() {
	a.width, a.height = max(a.width, 1), max(a.height, 1)
	if len(a.lines) == 0 {
		a.lines = []line{{rows: []int{0}}}
	}
}

// Text returns the whole text.
func (a *Area) Text() string {
	var b strings.Builder
	for i, l := range a.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.text)
	}
	return b.String()
}

// Before returns the text before the cursor.
func (a *Area) Before() string {
	a.init()
	var b strings.Builder
	for _, l := range a.lines[:a.at.line] {
		b.WriteString(l.text + "\n")
	}
	return b.String() + a.lines[a.at.line].text[:a.at.offset]
}

// Set replaces the text. The cursor is then between before and after.
func (a *Area) Set(before, after string) {
	*a = Area{width: a.width, height: a.height}
	a.Insert(before)
	at := a.at
	a.Insert(after)
	a.moveTo(at)
	a.show()
}

// Insert inserts a text before the cursor, without the characters that control a terminal.
func (a *Area) Insert(text string) {
	a.init()
	text = strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(text))
	a.replace(a.at, a.at, text)
	a.show()
}

// replace puts a text in the place of what is between two places, and the cursor behind it.
func (a *Area) replace(from, to place, text string) {
	head, tail := a.lines[from.line].text[:from.offset], a.lines[to.line].text[to.offset:]
	parts := strings.Split(text, "\n")
	last := len(parts) - 1
	end := place{from.line + last, len(parts[last])}
	if last == 0 {
		end.offset += len(head)
	}
	parts[0] = head + parts[0]
	parts[last] += tail
	with := make([]line, len(parts))
	for i, part := range parts {
		with[i].text = part
	}
	a.lines = slices.Replace(a.lines, from.line, to.line+1, with...)
	for i := range parts {
		a.wrap(from.line + i)
	}
	a.moveTo(end)
}

func (a *Area) moveTo(at place) { a.at, a.goal = at, 0 }

// end returns the place behind the last character of a line.
func (a *Area) end(line int) place { return place{line, len(a.lines[line].text)} }

func (a *Area) last() place { return a.end(len(a.lines) - 1) }

// after returns the place behind the character at a place. A line's end is a character, but for the last one's.
func (a *Area) after(at place) place {
	rest := a.lines[at.line].text[at.offset:]
	if rest != "" {
		cluster, _ := first(rest)
		return place{at.line, at.offset + len(cluster)}
	}
	if at.line+1 < len(a.lines) {
		return place{at.line + 1, 0}
	}
	return at
}

// before returns the place of the character before a place.
func (a *Area) before(at place) place {
	if at.offset == 0 {
		if at.line == 0 {
			return at
		}
		return a.end(at.line - 1)
	}
	return place{at.line, lastStart(a.lines[at.line].text[:at.offset])}
}

// wordAfter returns where the next word begins and ends.
func (a *Area) wordAfter(at place) (from, to place) {
	for at != a.last() && a.blank(at) {
		at = a.after(at)
	}
	from = at
	for at.offset < len(a.lines[at.line].text) && !a.blank(at) {
		at = a.after(at)
	}
	return from, at
}

// wordBefore returns where the word before a place begins.
func (a *Area) wordBefore(at place) place {
	for at != (place{}) && a.blank(a.before(at)) {
		at = a.before(at)
	}
	for at.offset > 0 && !a.blank(a.before(at)) {
		at = a.before(at)
	}
	return at
}

// blank reports whether a space or a line's end is at a place.
func (a *Area) blank(at place) bool {
	r, n := utf8.DecodeRuneInString(a.lines[at.line].text[at.offset:])
	return n == 0 || unicode.IsSpace(r)
}

package textarea

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// first returns the first character of a text, with all runes that a person sees as part of it, and its width in cells.
func first(text string) (string, int) {
	if c := text[0]; c < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return text[:1], 1
	}
	if r, n := utf8.DecodeRuneInString(text); unicode.IsSpace(r) {
		return text[:n], 1 // it is shown as a space
	}
	return ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
}

// lastStart returns where the last character of a text begins.
func lastStart(text string) int {
	const far = 256 // no character is longer; what a text begins with then does not change where a later character ends
	from := max(len(text)-far, 0)
	for from > 0 && (text[from] >= utf8.RuneSelf || text[from-1] >= utf8.RuneSelf) {
		from-- // between two ASCII characters begins one
	}
	for {
		cluster, _ := first(text[from:])
		if from+len(cluster) >= len(text) {
			return from
		}
		from += len(cluster)
	}
}

// wrap finds out where the rows of a line begin. A row ends behind the spaces that follow a word; only a word that is wider than a row
// is broken. The last row has a cell left for the cursor.
func (a *Area) wrap(index int) {
	l := &a.lines[index]
	l.rows = append(l.rows[:0], 0)
	before, begin, word := 0, 0, 0 // the row's width before the last word, where that begins, its width
	breakAt := func(offset int) {
		if offset > l.rows[len(l.rows)-1] {
			l.rows, before = append(l.rows, offset), 0
		}
	}
	for at := 0; at < len(l.text); {
		cluster, wide := first(l.text[at:])
		r, _ := utf8.DecodeRuneInString(cluster)
		if unicode.IsSpace(r) {
			if before+word+1 > a.width {
				breakAt(begin)
			}
			if before+word+1 > a.width {
				breakAt(at)
				word = 0
			}
			before, begin, word = before+word+1, at+len(cluster), 0
		} else if word+wide > a.width {
			breakAt(begin)
			breakAt(at)
			begin, word = at, wide
		} else {
			word += wide
		}
		at += len(cluster)
	}
	if before+word >= a.width {
		breakAt(begin)
		if word >= a.width {
			breakAt(len(l.text))
		}
	}
}

// count returns how many rows the first lines have; lines says how many those are.
func (a *Area) count(lines int) (rows int) {
	for _, l := range a.lines[:lines] {
		rows += len(l.rows)
	}
	return rows
}

// row returns the index, within its line, of the row with a place, and where that row begins and ends.
func (a *Area) row(at place) (index, from, to int) {
	l := a.lines[at.line]
	for index = len(l.rows) - 1; l.rows[index] > at.offset; {
		index--
	}
	return index, l.rows[index], l.rowEnd(index)
}

func (l line) rowEnd(index int) int {
	if index+1 < len(l.rows) {
		return l.rows[index+1]
	}
	return len(l.text)
}

func (l line) row(index int) string { return shown(l.text[l.rows[index]:l.rowEnd(index)]) }

// shown returns a row as it is on the screen: each blank is a space.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, text)
}

func cells(text string) (n int) {
	for text != "" {
		cluster, wide := first(text)
		n, text = n+wide, text[len(cluster):]
	}
	return n
}

// moveRows moves the cursor by rows, as near as it can to the column in which it last was put by another key.
func (a *Area) moveRows(by int) {
	index, from, _ := a.row(a.at)
	if a.goal == 0 {
		a.goal = cells(a.lines[a.at.line].text[from:a.at.offset]) + 1
	}
	at := a.at.line
	for ; by < 0 && (index > 0 || at > 0); by++ {
		if index--; index < 0 {
			at--
			index = len(a.lines[at].rows) - 1
		}
	}
	for ; by > 0 && (index+1 < len(a.lines[at].rows) || at+1 < len(a.lines)); by-- {
		if index++; index == len(a.lines[at].rows) {
			at, index = at+1, 0
		}
	}
	l := a.lines[at]
	offset, end, column := l.rows[index], l.rowEnd(index), 0
	for offset < end {
		cluster, wide := first(l.text[offset:])
		if column += wide; column >= a.goal || offset+len(cluster) == end && index+1 < len(l.rows) {
			break // the end of a row is the start of the next
		}
		offset += len(cluster)
	}
	a.at = place{at, offset}
}

// page moves the cursor to the first or last row that is shown, or from there by as many rows as are shown.
func (a *Area) page(by int) {
	visible := min(a.height, a.count(len(a.lines)))
	_, y := a.Cursor()
	if by < 0 && y > 0 {
		a.moveRows(-y)
	} else if by > 0 && y < visible-1 {
		a.moveRows(visible - 1 - y)
	} else {
		a.moveRows(by * visible)
	}
}

// show moves the rows that are shown so that the cursor's is among them, and no row stays empty that could show text.
func (a *Area) show() {
	index, _, _ := a.row(a.at)
	row := a.count(a.at.line) + index
	a.top = max(min(a.top, row, a.count(len(a.lines))-a.height), row-a.height+1, 0)
}

// Row returns which row of the whole text the cursor is in.
func (a *Area) Row() int {
	_, y := a.Cursor()
	return a.top + y
}

// Cursor returns the cursor's place in the rows that are shown.
func (a *Area) Cursor() (x, y int) {
	a.init()
	index, from, _ := a.row(a.at)
	return cells(a.lines[a.at.line].text[from:a.at.offset]), a.count(a.at.line) + index - a.top
}

// Rows returns the rows that are shown, and how many are above them.
func (a *Area) Rows() (rows []string, above int) {
	a.init()
	passed := 0
	for _, l := range a.lines {
		for i := range l.rows {
			if passed+i >= a.top && len(rows) < a.height {
				rows = append(rows, l.row(i))
			}
		}
		if passed += len(l.rows); len(rows) == a.height {
			break
		}
	}
	return rows, a.top
}

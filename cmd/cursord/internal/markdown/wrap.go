package markdown

import (
	"strings"
	"unicode/utf8"

	"cursord/cmd/cursord/internal/term"
)

// Marks in a rendering that do not reach the terminal.
const (
	hangMark     = "\x02" // twice around what the lines begin with into which this one is wrapped
	verbatimMark = "\x01" // the line is not wrapped
)

// A wrapper breaks lines between words. Near the end of a line it holds the last word until that has ended.
type wrapper struct {
	word     []byte // with its colours
	width    int    // of word, in cells
	blanks   int    // before word
	column   int
	hang     string
	hanging  bool // hang is being read
	verbatim bool
	begun    bool // the beginning of word is out
}

// longestWord is how many cells a word may have without being broken where its beginning came first and by itself.
const longestWord = 20

// add returns text with the lines broken at a width in cells; 0 breaks none.
func (w *wrapper) add(text string, columns int) string {
	var b strings.Builder
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		part := text[:n]
		switch {
		case part == hangMark:
			if w.hanging = !w.hanging; w.hanging {
				w.hang = ""
			}
		case w.hanging:
			w.hang += part
		case part == verbatimMark:
			w.place(&b, columns)
			w.verbatim = true
		case r == '\n':
			w.place(&b, columns)
			*w = wrapper{}
			b.WriteByte('\n')
		case r == ' ' && !w.verbatim:
			if len(w.word) > 0 {
				w.place(&b, columns)
			}
			w.begun = false
			w.blanks++
		case r == '\x1b' && strings.IndexByte(text, 'm') > 0:
			n = strings.IndexByte(text, 'm') + 1
			w.word = append(w.word, text[:n]...)
		default:
			w.word = append(w.word, part...)
			w.width += term.Cells(r)
		}
		text = text[n:]
	}
	if w.width > 0 && (columns == 0 || w.verbatim || w.begun || w.column+w.blanks+w.width <= columns-min(longestWord, columns/3)) {
		w.place(&b, columns)
		w.begun = true
	}
	return b.String()
}

// place puts the word into the line, or into the next one.
func (w *wrapper) place(b *strings.Builder, columns int) {
	if columns > 0 && !w.verbatim && !w.begun && w.width > 0 && w.column+w.blanks+w.width > columns && w.column > term.Width(w.hang) {
		b.WriteString("\n" + w.hang)
		w.column, w.blanks = term.Width(w.hang), 0
	}
	if w.width > 0 || w.column == 0 {
		b.WriteString(strings.Repeat(" ", w.blanks))
		w.column, w.blanks = w.column+w.blanks, 0
	}
	b.Write(w.word)
	w.column += w.width
	w.word, w.width = w.word[:0], 0
}

// rest returns the word that is held.
func (w *wrapper) rest(columns int) string {
	var b strings.Builder
	w.place(&b, columns)
	return b.String()
}

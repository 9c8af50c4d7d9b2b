package term

import (
	"io"
	"regexp"
	"strings"
	"sync"
)

// row matches a line of a table of two columns, such as a flag and its description.
var row = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s+\S.*?\s{2,})(\S.*)$`) })

// Reflow fits the text of a help page to a number of columns; 0 leaves it as it is. Paragraphs are set anew. In tables of
// two columns the second one is wrapped. All other indented lines, such as commands, stay.
func Reflow(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	var b strings.Builder
	var paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			b.WriteString(wrap(strings.Join(paragraph, " "), columns, 0, 0))
			paragraph = nil
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			paragraph = append(paragraph, line)
			continue
		}
		end()
		m := row().FindStringSubmatch(line)
		if Width(line) <= columns || m == nil {
			b.WriteString(line + "\n")
			continue
		}
		const below = 8 // the indent of a second column that has no room beside the first
		if at := Width(m[1]); at <= columns/2 {
			b.WriteString(m[1] + wrap(m[2], columns, at, at))
		} else {
			b.WriteString(strings.TrimRight(m[1], " ") + "\n" + wrap(m[2], columns, 0, below))
		}
	}
	end()
	return b.String()
}

// wrap breaks words into lines, the last one with its newline. used cells of the first line are taken, and the others, or the
// first line too if nothing of it is taken, are indented.
func wrap(text string, columns, used, indent int) string {
	var b strings.Builder
	at := used
	if used == 0 {
		b.WriteString(strings.Repeat(" ", indent))
		at = indent
	}
	begin := at
	for _, word := range strings.Fields(text) {
		width := Width(word)
		switch {
		case at == begin:
		case at+1+width > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at, begin = indent, indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += width
	}
	return b.String() + "\n"
}

var (
	// labelled matches a line with a label, such as "socket    /run/d.sock".
	labelled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s*\S.*?\s{2,})(\S.*)$`) })
	colour   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*m") })
)

// PrintFolded writes text, its lines folded to the width of w if that is a terminal.
func PrintFolded(w io.Writer, text string) { io.WriteString(w, Fold(text, Columns(w))) }

// Fold breaks the lines of a text that are longer than a number of columns between words; 0 breaks none. What follows is
// indented: below what comes behind the line's label, else a little. All blanks and colours stay.
func Fold(text string, columns int) string {
	const below = 2
	if columns <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		head, rest := "", line
		indent := len(line) - len(strings.TrimLeft(line, " ")) + below
		if m := labelled().FindStringSubmatch(line); m != nil && shownWidth(m[1]) <= columns/2 {
			head, rest, indent = m[1], m[2], shownWidth(m[1])
		}
		switch {
		case shownWidth(line) <= columns || indent > columns/2:
			b.WriteString(line)
		default:
			b.WriteString(head)
			at, begin := shownWidth(head), shownWidth(head)
			for i, word := range strings.Split(rest, " ") {
				width := shownWidth(word)
				switch {
				case i == 0:
				case at > begin && at+1+width > columns:
					b.WriteString("\n" + strings.Repeat(" ", indent))
					at, begin = indent, indent
				default:
					b.WriteByte(' ')
					at++
				}
				b.WriteString(word)
				at += width
			}
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// shownWidth is Width without the colours.
func shownWidth(text string) int { return Width(colour().ReplaceAllString(text, "")) }

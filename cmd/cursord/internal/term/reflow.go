package term

import (
	"regexp"
	"strings"
)

// row matches a line of a table of two columns, such as a flag and its description.
var row = regexp.MustCompile(`^(\s+\S.*?\s{2,})(\S.*)$`)

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
		m := row.FindStringSubmatch(line)
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

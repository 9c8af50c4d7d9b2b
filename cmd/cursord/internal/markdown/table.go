package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"cursord/cmd/cursord/internal/term"
)

// A table is a paragraph, as tables are in GitHub's Markdown.
type table struct {
	before int // lines of the paragraph that stand before it
	rows   [][]string
	right  []bool // columns that are flush right
}

// tableOf returns the table that a paragraph's lines are, or nil.
func tableOf(lines *text.Segments, source []byte) *table {
	for i := 1; i < lines.Len(); i++ {
		head, rule := lines.At(i-1), lines.At(i)
		marks := cells(string(rule.Value(source)))
		names := cells(string(head.Value(source)))
		if !isRule(string(rule.Value(source)), marks) || len(marks) != len(names) {
			continue
		}
		t := &table{before: i - 1, rows: [][]string{names}}
		for _, m := range marks {
			t.right = append(t.right, strings.HasSuffix(m, ":") && !strings.HasPrefix(m, ":"))
		}
		for j := i + 1; j < lines.Len(); j++ {
			line := lines.At(j)
			row := cells(string(line.Value(source)))
			for len(row) < len(names) {
				row = append(row, "")
			}
			t.rows = append(t.rows, row[:len(names)])
		}
		return t
	}
	return nil
}

// isRule reports whether a line separates a table's head from its body.
func isRule(line string, marks []string) bool {
	if !strings.Contains(line, "|") || !strings.Contains(line, "-") {
		return false
	}
	for _, m := range marks {
		if m = strings.TrimSuffix(strings.TrimPrefix(m, ":"), ":"); m == "" || strings.Trim(m, "-") != "" {
			return false
		}
	}
	return true
}

// cells takes a row apart at each | that has no \ before it.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	var list []string
	begin := 0
	for i := range len(line) {
		if line[i] == '|' && (i == 0 || line[i-1] != '\\') {
			list = append(list, line[begin:i])
			begin = i + 1
		}
	}
	if strings.TrimSpace(line[begin:]) != "" {
		list = append(list, line[begin:])
	}
	for i := range list {
		list[i] = strings.ReplaceAll(strings.TrimSpace(list[i]), `\|`, "|")
	}
	return list
}

// table renders a table with its columns side by side, or row by row where the terminal is too narrow for that.
func (r *rendering) table(t *table, n ast.Node, prefix string) {
	for i := range t.before {
		line := n.Lines().At(i)
		r.write("", inlineText(strings.TrimSpace(string(line.Value(r.source))), ""))
		r.newline(prefix)
	}
	widths := make([]int, len(t.right))
	total := term.Width(prefix)
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], shownWidth(inlineText(cell, "")))
		}
	}
	for _, w := range widths {
		total += w + len("  ")
	}
	if r.columns > 0 && total-len("  ") > r.columns {
		r.records(t, prefix)
		return
	}
	for i, row := range t.rows {
		if i > 0 {
			r.separator += "\n" + prefix
		}
		r.write("", verbatimMark)
		line := ""
		for j, cell := range row {
			line += padded(cell, widths[j], t.right[j], i == 0) + "  "
		}
		r.write("", strings.TrimRight(line, " "))
		if i == 0 {
			r.separator += "\n" + prefix + verbatimMark
			rules := make([]string, len(widths))
			for j, w := range widths {
				rules[j] = strings.Repeat("─", w)
			}
			r.write(dim, strings.Join(rules, "  "))
		}
	}
}

// records renders each row as lines of the form "column: cell", with an empty line between rows.
func (r *rendering) records(t *table, prefix string) {
	for i, row := range t.rows[1:] {
		if i > 0 {
			r.separator += "\n" + strings.TrimRight(prefix, " ")
			r.newline(prefix)
		}
		for j, cell := range row {
			if j > 0 {
				r.newline(prefix)
			}
			r.write("", inlineText(t.rows[0][j], bold)+": "+inlineText(cell, ""))
		}
	}
}

func padded(cell string, width int, right, head bool) string {
	style := ""
	if head {
		style = bold
	}
	cell = inlineText(cell, style)
	blanks := strings.Repeat(" ", max(width-shownWidth(cell), 0))
	if right {
		return blanks + cell
	}
	return cell + blanks
}

// inlineText renders one line of text by itself.
func inlineText(source, style string) string {
	r := &rendering{source: []byte(source), safe: len(source), final: true}
	for n := parse().Parse(text.NewReader(r.source)).FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindParagraph {
			return term.Clean(source) // such as a number with a dot, which is no list here
		}
		r.inlines(n, "", style)
	}
	return r.out.String()
}

// shownWidth returns how wide a terminal shows a line with colours.
func shownWidth(s string) int {
	width := 0
	for i, part := range strings.Split(s, "\x1b[") {
		if i > 0 {
			part = part[strings.IndexByte(part, 'm')+1:]
		}
		width += term.Width(part)
	}
	return width
}

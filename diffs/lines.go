package diffs

import (
	"strings"
	"unicode"

	"znkr.io/diff"
	"znkr.io/diff/textdiff"
)

// exactLimit is the product of two lengths up to which a longest common subsequence is found; above it, any long one will
// do.
const exactLimit = 1_000_000

// splitLines cuts text after each LF. A last piece without LF is a line too; CR, FF, VT and U+2028 are content.
func splitLines(text string) []string {
	lines := make([]string, 0, strings.Count(text, "\n")+1)
	for len(text) > 0 {
		n := strings.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		lines = append(lines, text[:n])
		text = text[n:]
	}
	return lines
}

// lineEnd returns the line end of text's first line, or "" if text has none.
func lineEnd(text string) string {
	switch n := strings.IndexByte(text, '\n'); {
	case n < 0:
		return ""
	case n > 0 && text[n-1] == '\r':
		return "\r\n"
	}
	return "\n"
}

func lacksEOL(line string) bool { return line == "" || line[len(line)-1] != '\n' }

// A splice replaces the lines from to to (exclusive) of a text by others.
type splice struct {
	from, to int
	lines    []string
}

// lineDiff returns the splices that make old into now, in order. Reviews do not depend on which correct alignment it finds.
func lineDiff(old, now string) []splice {
	hunks := textdiff.Hunks(old, now, diff.Context(0), textdiff.IndentHeuristic())
	splices := make([]splice, len(hunks))
	for i, h := range hunks {
		s := splice{from: h.LineNoX, to: h.EndLineNoX, lines: make([]string, 0, h.EndLineNoY-h.LineNoY)}
		for _, e := range h.Edits {
			if e.Op == diff.Insert {
				s.lines = append(s.lines, e.Line)
			}
		}
		splices[i] = s
	}
	return splices
}

// commonLines calls match for each pair of a common subsequence of x and y, in order. exact reports whether it is a longest
// one; it is unless x and y are very long.
func commonLines(x, y []string, match func(i, j int)) (exact bool) {
	exact = len(x)*len(y) <= exactLimit
	options := []diff.Option{diff.Context(0)}
	if exact {
		options = append(options, diff.Minimal())
	}
	i, j := 0, 0
	for _, h := range diff.Hunks(x, y, options...) {
		for ; i < h.PosX; i, j = i+1, j+1 {
			match(i, j)
		}
		i, j = h.EndX, h.EndY
	}
	for ; i < len(x); i, j = i+1, j+1 {
		match(i, j)
	}
	return exact
}

// Common returns lines that both texts have, in their order: a base from which each of them has added the rest.
func Common(a, b []byte) []byte {
	x, y := splitLines(string(a)), splitLines(string(b))
	var both strings.Builder
	commonLines(x, y, func(i, _ int) { both.WriteString(x[i]) })
	return []byte(both.String())
}

// linkKey returns the key by which moved lines are found: a line's text without its line end. It is "" for a line with fewer
// than four letters and digits, because such lines would link hunks that have nothing in common.
func linkKey(line string) string {
	n := 0
	for _, c := range line {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			if n++; n == 4 {
				return strings.TrimRight(strings.TrimPrefix(line, byteOrderMark), "\r\n")
			}
		}
	}
	return ""
}

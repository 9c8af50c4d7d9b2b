// Package linetext cuts texts into lines, and compares them.
package linetext

import (
	"strings"
	"unicode"

	"znkr.io/diff"
)

// ByteOrderMark may stand before the first line.
const ByteOrderMark = "\ufeff"

// exactLimit is the product of two lengths up to which a longest common subsequence is found; above it, any long one will
// do.
const exactLimit = 1_000_000

// Split cuts text after each LF. A last piece without LF is a line too; CR, FF, VT and U+2028 are content.
func Split(text string) []string {
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

// End returns the line end of text's first line, or "" if text has none.
func End(text string) string {
	switch n := strings.IndexByte(text, '\n'); {
	case n < 0:
		return ""
	case n > 0 && text[n-1] == '\r':
		return "\r\n"
	}
	return "\n"
}

// Common calls match for each pair of a common subsequence of x and y, in order. exact reports whether it is a longest
// one; it is unless x and y are very long.
func Common(x, y []string, match func(i, j int)) (exact bool) {
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

// Apart returns the parts of two texts in which they differ, with so many lines around, and how many lines come before.
func Apart(before, after string, around int) (old, now []byte, above int) {
	n := min(len(before), len(after))
	head := 0
	for head < n && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < n-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	head = strings.LastIndexByte(before[:head], '\n') + 1
	for range around {
		head = strings.LastIndexByte(before[:max(0, head-1)], '\n') + 1
	}
	end := before[len(before)-tail:]
	for range around + 1 { // the rest of the last line that differs, and the lines behind it
		if at := strings.IndexByte(end, '\n'); at >= 0 {
			end = end[at+1:]
		} else {
			end = ""
		}
	}
	tail = len(end)
	return []byte(before[head : len(before)-tail]), []byte(after[head : len(after)-tail]), strings.Count(before[:head], "\n")
}

// Key returns the key by which moved lines are found: a line's text without its line end. It is "" for a line with fewer
// than four letters and digits, because such lines would link hunks that have nothing in common.
func Key(line string) string {
	n := 0
	for _, c := range line {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			if n++; n == 4 {
				return strings.TrimRight(strings.TrimPrefix(line, ByteOrderMark), "\r\n")
			}
		}
	}
	return ""
}

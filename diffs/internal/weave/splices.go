package weave

import (
	"znkr.io/diff"
	"znkr.io/diff/textdiff"
)

// LacksEOL reports whether a line has no line end.
func LacksEOL(line string) bool { return line == "" || line[len(line)-1] != '\n' }

// A Splice replaces the lines from to to (exclusive) of a text by others.
type Splice struct {
	From, To int
	Lines    []string
}

// LineDiff returns the splices that make old into now, in order. Reviews do not depend on which correct alignment it finds.
func LineDiff(old, now string) []Splice {
	hunks := textdiff.Hunks(old, now, diff.Context(0), textdiff.IndentHeuristic())
	splices := make([]Splice, len(hunks))
	for i, h := range hunks {
		s := Splice{From: h.LineNoX, To: h.EndLineNoX, Lines: make([]string, 0, h.EndLineNoY-h.LineNoY)}
		for _, e := range h.Edits {
			if e.Op == diff.Insert {
				s.Lines = append(s.Lines, e.Line)
			}
		}
		splices[i] = s
	}
	return splices
}

package diffs

import (
	"strings"

	"cursord/diffs/internal/weave"
)

// A LineEdit replaces the lines From to To (exclusive) of a text, counted from 0, by Text.
type LineEdit struct {
	From, To int
	Text     string
}

// LineEdits returns the edits that make old into now, in order. A last line without LF is a line.
func LineEdits(old, now string) []LineEdit {
	splices := weave.LineDiff(old, now)
	edits := make([]LineEdit, len(splices))
	for i, s := range splices {
		edits[i] = LineEdit{s.From, s.To, strings.Join(s.Lines, "")}
	}
	return edits
}

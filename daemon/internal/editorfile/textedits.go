package editorfile

import (
	"strings"
	"unicode/utf16"

	"cursord/daemon/api"
	"cursord/diffs"
)

// Edits returns the edits of whole lines that make an editor's text old into now, in order. All positions refer to old.
func Edits(old, now string) []api.TextEdit {
	lines := strings.SplitAfter(old, "\n")
	at := func(line int) api.Position {
		if line < len(lines) || line == 0 {
			return api.Position{Line: line}
		}
		last := len(lines) - 1 // the last line has no line end
		return api.Position{Line: last, Character: utf16Len(lines[last])}
	}
	var edits []api.TextEdit
	for _, e := range diffs.LineEdits(old, now) {
		edits = append(edits, api.TextEdit{Range: api.Range{Start: at(e.From), End: at(e.To)}, NewText: e.Text})
	}
	return edits
}

// utf16Len returns the length of a text in LSP's units.
func utf16Len(s string) (n int) {
	for _, c := range s {
		n += utf16.RuneLen(c)
	}
	return n
}

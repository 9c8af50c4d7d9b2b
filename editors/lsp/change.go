package lsp

import (
	"strings"

	"cursord/sessions"
)

// maxChange bounds the characters of a line that a diagnostic quotes.
const maxChange = 120

// changeOf says in a line what a hunk changes: the first line that is new, "→ line", or where there is none the first one that
// goes, "− line"; an ellipsis stands for more of them. It is "" for a hunk without lines, such as one of a renamed file.
func changeOf(h *sessions.Hunk) string {
	if h.Kind != "text" {
		return ""
	}
	for _, side := range []struct{ mark, shown string }{{"+", "→"}, {"-", "−"}} {
		first, n := "", 0
		for _, line := range h.Lines {
			text, ok := strings.CutPrefix(line, side.mark)
			if !ok {
				continue
			}
			n++
			if isBlank(first) {
				first = text
			}
		}
		if n == 0 {
			continue
		}
		first = strings.Join(strings.Fields(strings.TrimPrefix(first, byteOrderMark)), " ")
		if first == "" {
			first = number(n, "blank line")
			n = 1
		}
		text := side.shown + " " + cut(first, maxChange)
		if n > 1 && !strings.HasSuffix(text, "…") {
			text += " …"
		}
		return text
	}
	return ""
}

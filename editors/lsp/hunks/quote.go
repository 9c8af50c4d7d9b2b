package hunks

import (
	"strings"

	"cursord/agent/plaintext"
	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// maxChange bounds the characters of a line that a diagnostic quotes.
const maxChange = 120

// Quote returns the first line that a hunk adds, as "→ line", or if it adds none, the first line that it removes, as "− line". If the
// added lines are shown anyway, it returns the first line that they replace, as "← line", or "" if they replace none. An ellipsis
// stands for more lines. It returns "" for a hunk about a whole file.
func Quote(h *sessions.Hunk, shown bool) string {
	if h.Kind != "text" {
		return ""
	}
	sides := []struct{ mark, shown string }{{"+", "→"}, {"-", "−"}}
	if added, _ := counts(h); shown && added > 0 {
		sides = []struct{ mark, shown string }{{"-", "←"}}
	}
	for _, side := range sides {
		first, n := "", 0
		for _, line := range h.Lines {
			text, ok := strings.CutPrefix(line, side.mark)
			if !ok {
				continue
			}
			n++
			if strings.TrimSpace(first) == "" {
				first = text
			}
		}
		if n == 0 {
			continue
		}
		first = strings.Join(strings.Fields(strings.TrimPrefix(first, protocol.ByteOrderMark)), " ")
		if first == "" {
			first = plaintext.Count(n, "blank line")
			n = 1
		}
		text := side.shown + " " + plaintext.FirstLine(first, maxChange)
		if n > 1 && !strings.HasSuffix(text, "…") {
			text += " …"
		}
		return text
	}
	return ""
}

package diffshape

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cursord/diffs"
)

// Bounds, in bytes and lines, of what the next prompt says of rejected changes.
const (
	rejectionLines   = 6 // of one hunk
	rejectionLineMax = 160
)

// RejectionText describes a hunk by its first changed lines. If lines is given, it describes only that part.
func RejectionText(path string, h diffs.Hunk, lines *diffs.Range) string {
	var changed []string
	for _, l := range h.Lines {
		if l[0] != ' ' {
			changed = append(changed, l)
		}
	}
	if lines != nil && lines.To <= len(changed) {
		changed = changed[lines.From:lines.To]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the user rejected your change of %s", path)
	if len(changed) > 0 {
		fmt.Fprintf(&b, ", line %d", firstChanged(h.Lines, h.NewStart, h.NewLines))
	}
	for i, l := range changed {
		if i == rejectionLines {
			fmt.Fprintf(&b, "\n  … %d more lines", len(changed)-i)
			break
		}
		l = strings.TrimSuffix(l, "\r")
		if len(l) > rejectionLineMax {
			cut := rejectionLineMax
			for !utf8.RuneStart(l[cut]) {
				cut--
			}
			l = l[:cut] + "…"
		}
		b.WriteString("\n  " + l)
	}
	return b.String()
}

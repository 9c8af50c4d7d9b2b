package gitform

import (
	"bytes"
	"fmt"
)

// Hunk writes a hunk with the first line and the number of lines of each side. oldBare and newBare say that the last line of a side has no
// line end.
func Hunk(b *bytes.Buffer, old, now [2]int, lines []string, oldBare, newBare bool) {
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(old), span(now))
	lastOld, lastNew := -1, -1
	for i, l := range lines {
		if l[0] != '+' && oldBare {
			lastOld = i
		}
		if l[0] != '-' && newBare {
			lastNew = i
		}
	}
	for i, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
		if i == lastOld || i == lastNew {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
}

func span(of [2]int) string {
	if of[1] == 1 {
		return fmt.Sprint(of[0])
	}
	return fmt.Sprintf("%d,%d", of[0], of[1])
}

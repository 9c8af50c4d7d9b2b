package gitform

import (
	"fmt"
	"strings"
)

// Quote returns a path as git writes it in a patch: unchanged, or in double quotes with C's escapes if it holds quotes,
// backslashes, control characters or bytes outside ASCII.
func Quote(path string) string {
	plain := true
	for i := range len(path) {
		if c := path[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			plain = false
		}
	}
	if plain {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= '\a' && c <= '\r':
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[c-'\a'])
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// header returns a path for a "---" or "+++" line, which ends a name with blanks by a tab.
func header(path string) string {
	quoted := Quote(path)
	if quoted == path && strings.Contains(path, " ") {
		return path + "\t"
	}
	return quoted
}

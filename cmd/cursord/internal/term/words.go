package term

import (
	"strings"
	"unicode"
)

// Words writes a kind of error, such as agentNotLoggedIn, as words.
func Words(kind string) string {
	var b strings.Builder
	for _, r := range kind {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

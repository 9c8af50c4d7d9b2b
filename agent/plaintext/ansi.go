package plaintext

import "strings"

// StripANSI removes terminal escape sequences, carriage returns and zero-width characters, which the agent prints even into
// a pipe.
func StripANSI(s string) string {
	if !strings.ContainsAny(s, "\x1b\r\u200b\u200c\u200d\u2060\ufeff") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '\x1b' {
			i = skipEscape(s, i)
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "", "\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "").Replace(b.String())
}

// skipEscape returns the index after the escape sequence that begins at s[i].
func skipEscape(s string, i int) int {
	i++
	if i >= len(s) {
		return i
	}
	switch s[i] {
	case '[': // parameters and intermediates up to a final byte
		for i++; i < len(s) && (s[i] < 0x40 || s[i] > 0x7e); i++ {
		}
		return min(i+1, len(s))
	case ']': // an operating system command, up to BEL or ESC \
		for i++; i < len(s); i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == '\x1b' {
				return min(i+2, len(s))
			}
		}
		return i
	}
	return i + 1
}

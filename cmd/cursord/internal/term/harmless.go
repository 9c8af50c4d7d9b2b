package term

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cursord/agent/plaintext"
)

// Text of agents and files goes to people through Clean or CleanText, on a terminal and in a pipe, and to programs through
// PlainJSON. Only data is written unchanged, and only to a pipe: a patch, an export, and the answer of "cursord call".
// plaintext.Deceives decides for all of them.

// Clean makes one line of foreign text harmless: characters that deceive are shown, not obeyed.
func Clean(s string) string { return plaintext.Visible(s, "") }

// CleanText is Clean for several lines. It replaces CR LF by LF.
func CleanText(s string) string {
	return plaintext.Visible(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t")
}

// PlainJSON escapes the characters that deceive. They occur only in strings, so the JSON keeps its meaning. Line ends and
// invalid UTF-8 stay.
func PlainJSON(text []byte) []byte {
	bad := func(r rune) bool { return r >= 0x7f && plaintext.Deceives(r) }
	if bytes.IndexFunc(text, bad) < 0 {
		return text
	}
	plain := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case !bad(r):
			plain = append(plain, text[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			plain = fmt.Appendf(plain, `\u%04x\u%04x`, high, low)
		default:
			plain = fmt.Appendf(plain, `\u%04x`, r)
		}
		text = text[n:]
	}
	return plain
}

// A PlainWriter passes JSON through PlainJSON. No call may end within a character.
type PlainWriter struct{ W io.Writer }

func (p PlainWriter) Write(text []byte) (int, error) {
	if _, err := p.W.Write(PlainJSON(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

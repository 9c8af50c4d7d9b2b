package term

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text of agents and files goes to people through Clean or CleanText, on a terminal and in a pipe, and to programs through
// PlainJSON. Only data is written unchanged, and only to a pipe: a patch, an export, and the answer of "cursord call".
// deceives decides for all of them.

// deceives reports whether a person does not see what a character does: it moves the cursor or changes the terminal's state,
// changes the direction of text, or is invisible but read by an agent. Joiners and variation selectors do not count, because
// scripts and emoji need them.
func deceives(r rune) bool {
	return r < ' ' || r >= 0x7f && unicode.Is(deceiving, r)
}

// deceiving has the characters for deceives from DEL on.
var deceiving = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x007f, Hi: 0x009f, Stride: 1}, // DEL and the C1 controls
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, // the soft hyphen
		{Lo: 0x061c, Hi: 0x061c, Stride: 1}, // the Arabic letter mark
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x180e, Hi: 0x180e, Stride: 1}, // the Mongolian vowel separator
		{Lo: 0x200b, Hi: 0x200b, Stride: 1}, // the space without a width
		{Lo: 0x200e, Hi: 0x200f, Stride: 1}, // marks of direction
		{Lo: 0x2028, Hi: 0x202e, Stride: 1}, // separators of lines and paragraphs, embeddings and overrides of direction
		{Lo: 0x2060, Hi: 0x206f, Stride: 1}, // the word joiner, invisible operators, isolates of direction, old format controls
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // a Hangul filler
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // the byte order mark
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // a Hangul filler
		{Lo: 0xfff9, Hi: 0xfffb, Stride: 1}, // annotations
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1}, // shorthand format controls
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, // musical format controls
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}, // tags, and selectors that only smuggled text uses
	},
}

// Clean makes one line of foreign text harmless: characters that deceive are shown, not obeyed.
func Clean(s string) string { return neutral(s, "") }

// CleanText is Clean for several lines. It replaces CR LF by LF.
func CleanText(s string) string { return neutral(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

func neutral(s, keep string) string {
	s = strings.ToValidUTF8(s, "\ufffd") // a single invalid byte may be a C1 control
	bad := func(r rune) bool { return deceives(r) && !strings.ContainsRune(keep, r) }
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !bad(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r) // its control picture
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// PlainJSON escapes the characters that deceive. They occur only in strings, so the JSON keeps its meaning. Line ends and
// invalid UTF-8 stay.
func PlainJSON(text []byte) []byte {
	bad := func(r rune) bool { return r >= 0x7f && deceives(r) }
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

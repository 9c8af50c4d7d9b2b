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

// What agents and files say reaches people as Clean and CleanText have it, on a terminal and in a pipe, and programs as PlainJSON
// has it. Only what is data goes out as it is: a patch, an export and the answer of "cursord call", in a pipe. deceives decides
// for all of them.

// deceives reports whether a character is not what a person sees: it moves a terminal's cursor or changes its state, turns the
// direction of writing, or cannot be seen at all and still is read by an agent. Those that scripts and emoji need stay: joiners
// and variation selectors.
func deceives(r rune) bool {
	return r < ' ' || r >= 0x7f && unicode.Is(deceiving, r)
}

// deceiving is what deceives, but for characters below a blank.
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
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}, // tags, and selectors that nothing but smuggled text uses
	},
}

// Clean makes one harmless line of text that somebody else wrote: what deceives is shown, not obeyed.
func Clean(s string) string { return neutral(s, "") }

// CleanText is Clean for text of several lines, which end as here: CR LF becomes LF.
func CleanText(s string) string { return neutral(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

func neutral(s, keep string) string {
	s = strings.ToValidUTF8(s, "\ufffd") // a byte alone may be a C1 control to a terminal
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
			b.WriteRune('␀' + r) // its picture
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// PlainJSON escapes what deceives. It can only stand in strings, so the JSON means the same. Line ends stay, and so do bytes that
// are not UTF-8.
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

// A PlainWriter writes JSON as PlainJSON has it. What is written at once must end where a character does.
type PlainWriter struct{ W io.Writer }

func (p PlainWriter) Write(text []byte) (int, error) {
	if _, err := p.W.Write(PlainJSON(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

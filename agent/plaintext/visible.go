package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Deceives reports whether a person does not see what a character does: it moves the cursor or changes the terminal's state,
// changes the direction of text, or is invisible but read by an agent. Joiners and variation selectors do not count, because
// scripts and emoji need them.
func Deceives(r rune) bool {
	return r < ' ' || r >= 0x7f && unicode.Is(deceiving, r)
}

// deceiving has the characters for Deceives from DEL on.
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

// Visible replaces characters that deceive by signs for them: control pictures, or <U+202E>. Those in keep stay.
func Visible(s, keep string) string {
	s = strings.ToValidUTF8(s, "\ufffd") // a single invalid byte may be a C1 control
	bad := func(r rune) bool { return Deceives(r) && !strings.ContainsRune(keep, r) }
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

// longRun is how many blanks, or empty lines, may stand side by side in InFull.
const longRun = 40

// InFull is Visible for a text of several lines that a person decides about. Long runs of blanks and of empty lines are counted instead:
// an editor may show what is behind them only to those who scroll.
func InFull(text string) string {
	var b strings.Builder
	text = Visible(strings.ReplaceAll(text, "\r\n", "\n"), "\n\t")
	for text != "" {
		rest := strings.TrimLeftFunc(text, blank)
		run := text[:len(text)-len(rest)]
		lines := run[:strings.LastIndexByte(run, '\n')+1]
		if n := strings.Count(lines, "\n") - 1; n > longRun {
			lines = fmt.Sprintf("\n<%d empty lines>\n", n)
		}
		b.WriteString(lines)
		indent := run[strings.LastIndexByte(run, '\n')+1:]
		if n := utf8.RuneCountInString(indent); n > longRun && rest != "" {
			indent = fmt.Sprintf("<%d blanks>", n)
		}
		b.WriteString(indent)
		end := strings.IndexFunc(rest, blank)
		if end < 0 {
			end = len(rest)
		}
		b.WriteString(rest[:end])
		text = rest[end:]
	}
	return b.String()
}

func blank(r rune) bool {
	const braille = '\u2800' // a pattern without dots
	return unicode.IsSpace(r) || r == braille
}

package term

import "unicode"

// Cells returns the width of a character on a terminal.
func Cells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= 0x1f300 && r < 0x1fb00, r >= 0xff01 && r <= 0xff60:
		return 2
	}
	return 1
}

// Width returns the width of one line of text on a terminal.
func Width(text string) int {
	n := 0
	for _, r := range text {
		n += Cells(r)
	}
	return n
}

// Fit cuts one line of text to a width. A cut line ends in ….
func Fit(text string, room int) string {
	used, keep := 0, 0 // keep: bytes that leave a cell for the …
	for i, r := range text {
		if used <= room-1 {
			keep = i
		}
		if used += Cells(r); used > room {
			if room < 1 {
				return ""
			}
			return text[:keep] + "…"
		}
	}
	return text
}

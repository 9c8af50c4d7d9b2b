package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// PlainJSON escapes control characters and those that turn the direction of text, which a terminal would obey. They can
// only stand in strings, so the JSON means the same. Line ends stay, and so do bytes that are not UTF-8.
func PlainJSON(text []byte) []byte {
	bad := func(r rune) bool {
		return r >= 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	}
	if bytes.IndexFunc(text, bad) < 0 {
		return text
	}
	plain := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if bad(r) {
			plain = fmt.Appendf(plain, `\u%04x`, r)
		} else {
			plain = append(plain, text[:n]...)
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

// PrintJSON prints v for programs, and for people who read it.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(PlainWriter{w})
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

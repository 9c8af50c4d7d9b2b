// Package words compares two texts word by word.
package words

import (
	"unicode"
	"unicode/utf8"

	"znkr.io/diff"
)

// A Span is a replacement inside a line or a hunk: the bytes OldFrom to OldTo (exclusive) of one text by the bytes
// NewFrom to NewTo of the other. Either may be empty.
type Span struct{ OldFrom, OldTo, NewFrom, NewTo int }

// Spans returns the changes between two texts, by words, in order. Changes with only blanks between them count as one.
func Spans(old, new string) []Span {
	x, y := tokens(old), tokens(new)
	var spans []Span
	i, j := 0, 0 // tokens before which the offsets are known
	at := Span{}
	for _, h := range diff.Hunks(x, y, diff.Context(0)) {
		blank := true
		for ; i < h.PosX; i, j = i+1, j+1 {
			blank = blank && isBlank(x[i])
			at.OldTo += len(x[i])
			at.NewTo += len(y[j])
		}
		at.OldFrom, at.NewFrom = at.OldTo, at.NewTo
		for ; i < h.EndX; i++ {
			at.OldTo += len(x[i])
		}
		for ; j < h.EndY; j++ {
			at.NewTo += len(y[j])
		}
		if n := len(spans); n > 0 && blank {
			spans[n-1].OldTo, spans[n-1].NewTo = at.OldTo, at.NewTo
		} else {
			spans = append(spans, at)
		}
	}
	return spans
}

func isBlank(token string) bool { return token[0] == ' ' || token[0] == '\t' }

// tokens cuts text into words, runs of blanks, and other single runes.
func tokens(text string) []string {
	var t []string
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if class := tokenClass(r); class != single {
			for n < len(text) {
				r, size := utf8.DecodeRuneInString(text[n:])
				if tokenClass(r) != class {
					break
				}
				n += size
			}
		}
		t = append(t, text[:n])
		text = text[n:]
	}
	return t
}

const (
	single = iota
	blanks
	word
)

func tokenClass(r rune) int {
	switch {
	case r == ' ' || r == '\t':
		return blanks
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return word
	}
	return single
}

package api

import (
	"iter"
	"unicode/utf8"
)

// MaxDelta is the largest text of a daemon.Delta, in bytes.
const MaxDelta = 256 << 10

// DeltaParts yields a text from an offset on, in parts of at most MaxDelta that end between characters, each with its
// offset.
func DeltaParts[T string | []byte](text T, from int) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for from < len(text) {
			end := min(from+MaxDelta, len(text))
			for end < len(text) && !utf8.RuneStart(text[end]) {
				end--
			}
			if !yield(from, text[from:end]) {
				return
			}
			from = end
		}
	}
}

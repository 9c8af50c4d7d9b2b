package diffs

import "cursord/diffs/internal/words"

// A WordSpan is a replacement inside a line or a hunk: the bytes OldFrom to OldTo (exclusive) of one text by the bytes
// NewFrom to NewTo of the other. Either may be empty.
type WordSpan = words.Span

// WordSpans returns the changes between two texts, by words, in order. Changes with only blanks between them count as one.
func WordSpans(old, new string) []WordSpan { return words.Spans(old, new) }

package protocol

import (
	"flag"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Each run draws the same cases; -rapid.seed draws others.
func init() { _ = flag.Set("rapid.seed", "1") }

// model finds a position by walking through the text, in the words of LSP's specification.
func model(s string, p Position, e Encoding) int {
	line, at := 0, 0
	for line < p.Line {
		n := strings.IndexAny(s[at:], "\r\n")
		if n < 0 {
			return len(s)
		}
		at += n + 1
		if s[at-1] == '\r' && at < len(s) && s[at] == '\n' {
			at++
		}
		line++
	}
	for units := 0; at < len(s) && s[at] != '\n' && s[at] != '\r' && units < p.Character; {
		r, size := utf8.DecodeRuneInString(s[at:])
		switch e {
		case UTF8:
			units += size
			if units > p.Character {
				return at // inside of a character
			}
		case UTF16:
			units += utf16.RuneLen(r)
		case UTF32:
			units++
		}
		at += size
	}
	return at
}

func texts() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{"a", "ä", "€", "𝄞", "\n", "\r\n", "\r", "\t", " ", "\u2028", "\ufeff"})),
		func(parts []string) string { return strings.Join(parts, "") })
}

// TestPositions compares positions with the model's in both directions, and edited texts with the expected ones.
func TestPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := texts().Draw(t, "text")
		e := rapid.SampledFrom([]Encoding{UTF8, UTF16, UTF32}).Draw(t, "encoding")
		text := NewText(s)
		positions := rapid.Custom(func(t *rapid.T) Position {
			return Position{Line: rapid.IntRange(0, 8).Draw(t, "line"), Character: rapid.IntRange(0, 12).Draw(t, "character")}
		})
		p, q := positions.Draw(t, "p"), positions.Draw(t, "q")
		at := text.Offset(p, e)
		require.Equal(t, model(s, p, e), at)
		require.Equal(t, at, text.Offset(text.position(at, e), e))

		now := texts().Draw(t, "now")
		from, to := at, model(s, q, e)
		if to < from {
			to = from
		}
		edited := text.Edit(Range{Start: p, End: q}, e, now)
		require.Equal(t, s[:from]+now+s[to:], edited.Content)
		again := NewText(edited.Content)
		require.Equal(t, again, edited)
	})
}

// TestLines compares git's lines with those of a plain split.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := texts().Draw(t, "text")
		text := NewText(s)
		lines := strings.SplitAfter(s, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		require.Equal(t, len(lines), text.CountLines())
		for i, line := range lines {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			if i == 0 {
				line = strings.TrimPrefix(line, ByteOrderMark)
			}
			require.Equal(t, line, text.Line(i))
		}
		require.Equal(t, s, text.Content[text.LineStart(0):text.LineStart(len(lines))])
	})
}

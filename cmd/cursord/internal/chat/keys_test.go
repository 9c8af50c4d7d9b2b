package chat

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTypedLine types lines as people do, with the keys that terminals have for taking some of it back.
func TestTypedLine(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"hello":            "hello",
		"ab\x7f\x7f\x7fc":  "c",
		"ab\bc":            "ac",
		"one two \x17":     "one ",
		"one two\x17\x17":  "",
		"one\x15two":       "two",
		"a\tb":             "a b",
		"a\x01\x1b[Ab":     "ab",
		"e\u0301x\x7f\x7f": "",
		"日本\x7f語":          "日語",
		"x\x04":            "x",
	} {
		var l typedLine
		rest := []byte(typed)
		for len(rest) > 0 {
			key, size := nextChar(rest)
			require.NotZero(t, size, "%q", typed)
			rest = rest[size:]
			require.Equal(t, keyTyped, l.key(key), "%q", typed)
		}
		require.Equal(t, want, string(l.text), "%q", typed)
	}
	var l typedLine
	require.Equal(t, keyLeaves, l.key("\x04"), "Ctrl-D on an empty line")
	require.Equal(t, keySends, l.key("\r"))
	require.Equal(t, keySends, l.key("\n"))
}

// TestNextChar waits for the rest of a character that is not there yet.
func TestNextChar(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]struct {
		key  string
		size int
	}{
		"":         {"", 0},
		"ab":       {"a", 1},
		"\xe6\x97": {"", 0},
		"日x":       {"日", 3},
		"\x1b[A":   {"", 3},
		"\xff":     {"\xff", 1},
	} {
		key, size := nextChar([]byte(typed))
		require.Equal(t, want.key, key, "%q", typed)
		require.Equal(t, want.size, size, "%q", typed)
	}
}

// TestTail shows the end of a line that is too long for its row, and no half of a character.
func TestTail(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		room int
		want string
	}{
		{"hello", 10, "hello"}, {"hello", 3, "llo"}, {"hello", 0, ""},
		{"日本語", 4, "本語"}, {"日本語", 3, "語"}, {"xe\u0301y", 1, "y"}, {"xe\u0301y", 2, "e\u0301y"},
	} {
		l := typedLine{text: []rune(tt.text)}
		require.Equal(t, tt.want, l.tail(tt.room), "%q in %d", tt.text, tt.room)
	}
	l := typedLine{text: []rune(strings.Repeat("x", 1000))}
	require.Len(t, l.tail(77), 77)
}

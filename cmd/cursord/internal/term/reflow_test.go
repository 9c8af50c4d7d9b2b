package term

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReflow sets a page of help for narrow terminals.
func TestReflow(t *testing.T) {
	t.Parallel()
	page := "One two three four five six\nseven.\n\nUsage:\n  cursord run [PROMPT] that is long and stays\n\nFlags:\n" +
		"  -c, --yes   say yes to all of it at once\n      --a-flag-with-a-long-name   x y\n  -n          no\n"
	require.Equal(t, page, Reflow(page, 0))
	require.Equal(t, "One two three four five six\nseven.\n\nUsage:\n  cursord run [PROMPT] that is long and stays\n\nFlags:\n"+
		"  -c, --yes   say yes to all\n              of it at once\n      --a-flag-with-a-long-name\n        x y\n  -n          no\n", Reflow(page, 30))
	require.Equal(t, "One two three four five six seven.\n", Reflow("One two three four five six\nseven.\n", 40))
	require.Equal(t, "averyveryverylongword\nshort\n", Reflow("averyveryverylongword short\n", 10))
}

// TestFold breaks long lines between words, below their labels, and keeps all else.
func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns    int
		text, want string
	}{
		{0, "one two three four\n", "one two three four\n"},
		{20, "one two\nthree", "one two\nthree"},
		{10, "one two three four\n", "one two\n  three\n  four\n"},
		{20, "socket    /a/b  c d e f\n", "socket    /a/b  c d\n          e f\n"},
		{12, "✓ Edit a/long/path.txt", "✓ Edit\n  a/long/path.txt"},
		{12, "averyverylongword", "averyverylongword"},
		{10, "\x1b[33mone two\x1b[0m\x1b[2m three four\x1b[0m\n", "\x1b[33mone two\x1b[0m\x1b[2m\n  three\n  four\x1b[0m\n"},
		{10, "  fix: one two", "  fix: one\n    two"},
		{16, "a label that is long  x y", "a label that is\n  long  x y"},
		{10, "漢字漢字 漢字\n", "漢字漢字\n  漢字\n"},
	} {
		require.Equal(t, c.want, Fold(c.text, c.columns), c.text)
	}
}

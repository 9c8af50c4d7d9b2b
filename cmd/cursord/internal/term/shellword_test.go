package term

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShellWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"":            "''",
		"/a/b-c_d.go": "/a/b-c_d.go",
		"a b":         "'a b'",
		"it's":        `'it'\''s'`,
		"$HOME;*":     "'$HOME;*'",
		"ä":           "'ä'",
		"a\x1b[2J":    "'" + Clean("a\x1b[2J") + "'",
	} {
		require.Equal(t, want, ShellWord(word), "%q", word)
	}
}

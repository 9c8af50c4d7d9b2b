package plaintext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInFull: nothing of a command is out of sight, and an ordinary command stays as it is.
func TestInFull(t *testing.T) {
	t.Parallel()
	many := strings.Repeat
	for text, want := range map[string]string{
		"":                                       "",
		"go test ./...\n\tx  y\n":                "go test ./...\n\tx  y\n",
		"cat <<E\n" + many(" ", 24) + "deep\nE":  "cat <<E\n" + many(" ", 24) + "deep\nE",
		"ls" + many(" ", 300) + "; rm x":         "ls<300 blanks>; rm x",
		"ls" + many("\u00a0\u2800", 30) + "; rm": "ls<60 blanks>; rm",
		"ls" + many("\n", 42) + "rm x":           "ls\n<41 empty lines>\nrm x",
		"ls" + many(" \n", 100) + "  rm x":       "ls\n<99 empty lines>\n  rm x",
		"ls" + many(" ", 300) + "\nrm":           "ls" + many(" ", 300) + "\nrm",
		"ls" + many(" ", 300):                    "ls" + many(" ", 300),
		"a\r\nb\rc\x1b[2J\u202e\u3164":           "a\nb␍c␛[2J<U+202E><U+3164>",
	} {
		require.Equal(t, want, InFull(text), "%q", text)
	}
}

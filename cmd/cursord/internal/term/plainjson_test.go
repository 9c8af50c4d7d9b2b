package term

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlainJSON leaves what needs no escape as it is, bytes that are no characters too.
func TestPlainJSON(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                   "",
		"{\"a\": \"é\"}\n":   "{\"a\": \"é\"}\n",
		"\"\u009b\"":         `"\u009b"`,
		"\"\\\\\u202e\"":     `"\\\u202e"`,
		"\"\xff\u2066\xfe\"": "\"\xff\\u2066\xfe\"",
	} {
		require.Equal(t, want, string(PlainJSON([]byte(in))))
	}
}

package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzQuote compares with the output of encoding/json.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "<a href=\"x\">&</a>", "\x00\x01\b\t\n\v\f\r\x1f\x7f\\", "ä€😀\u2028\u2029\ufffd", "\xff\xc3\xe2\x82", "\xed\xa0\x80",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(s))
		want := strings.TrimSuffix(b.String(), "\n")
		require.Equal(t, want, string(Quote(s)))
		require.Equal(t, want, string(AppendQuoted(nil, []byte(s))))
	})
}

func TestStringEnd(t *testing.T) {
	for text, want := range map[string]int{
		`""`: 2, `"a" `: 3, `"a\"b"c`: 6, `"\\"x"`: 4, `"\\\""`: 6, `"a`: -1, `"`: -1, `"\"`: -1, `"\`: -1,
	} {
		require.Equal(t, want, StringEnd([]byte(text), 0), text)
		require.Equal(t, want, max(StringEnd([]byte("[1,"+text), 3)-3, -1), text)
	}
}

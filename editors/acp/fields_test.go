package acp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFields: how the words of a command are split, and that a quoted word is one field.
func TestFields(t *testing.T) {
	for words, want := range map[string][]string{
		"": nil, "  ": nil, "a b": {"a", "b"}, "a\tb\n c ": {"a", "b", "c"}, `"a b" c`: {"a b", "c"}, `'a b'"c"`: {"a bc"}, `a\ b`: {"a b"},
		`a\b`: {`a\b`}, `\"a`: {`"a`}, `"a b`: {"a b"}, `""`: {""}, `it"'"s`: {"it's"}, `'a\'`: {`a\`}, `a\`: {`a\`}, `C:\x\y`: {`C:\x\y`},
	} {
		require.Equal(t, want, fieldsOf(words), words)
	}
	for _, word := range []string{"", "a b", `a"b`, `a\b`, `a\"b\\`, "it's", "tab\there", `\`} {
		require.Equal(t, []string{word}, fieldsOf(quoted(word)), word)
	}
}

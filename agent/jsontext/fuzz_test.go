package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzUnquote compares this package's reading of strings with the standard library's.
func FuzzUnquote(f *testing.F) {
	for _, seed := range []string{`"a"`, `"\n\u00e9\ud83d\ude00\ud83d\\"`, `"\ud83d\u0041"`, `"\/\b\f\r\t\""`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, quoted string) {
		var want string
		if !utf8.ValidString(quoted) || len(quoted) == 0 || quoted[0] != '"' || json.Unmarshal([]byte(quoted), &want) != nil {
			return
		}
		require.Equal(t, want, Unquote([]byte(strings.TrimRight(quoted, " \t\r\n"))))
	})
}

// FuzzValid compares End's view of JSON with the standard library's.
func FuzzValid(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+7,true,false,null,"\u00e9\\\"\/"],"b":{}}`, ` {"a" : [ ] , "b":[ 1 , 2 ]} `, `[1,]`, `{"a":1,}`, `{,}`, `[,1]`, `{"a"}`,
		`01`, `1.`, `-`, `1e`, `.5`, `+1`, `0x1`, `truE`, `nul`, `"\x"`, `"\u12g4"`, "\"\x1f\"", "\"12345678\x7f\xff\"", `"12345678\`, `"1234567"`, `{"a":`,
		`[`, `{`, `]`, ``, ` `, `{"a":1}}`, `"a" "b"`, `{"a":1:2}`, `{"a" 1}`, `{1:2}`, `[1 2]`,
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
		strings.Repeat(`{"":`, maxDepth) + "1" + strings.Repeat("}", maxDepth), strings.Repeat(`{"":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		end := End(text, SkipSpace(text, 0))
		whole := end >= 0 && SkipSpace(text, end) == len(text)
		require.Equal(t, json.Valid(text), whole)
		if whole {
			require.Equal(t, end, skipValue(text, SkipSpace(text, 0)))
		}
	})
}

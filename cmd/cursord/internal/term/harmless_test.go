package term

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"cursord/agent/plaintext"
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

// TestHarmless has a row for each kind of character that deceives, and for those that only look like it: what a line, a text of
// lines and JSON make of it.
func TestHarmless(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, line, text, json string }{
		"a line end":             {"a\nb", "a␊b", "a\nb", "a\nb"},
		"CR LF":                  {"a\r\nb", "a␍␊b", "a\nb", "a\r\nb"},
		"CR alone":               {"a\rb", "a␍b", "a␍b", "a\rb"},
		"a tab":                  {"a\tb", "a␉b", "a\tb", "a\tb"},
		"a colour":               {"\x1b[31m", "␛[31m", "␛[31m", "\x1b[31m"},
		"the clipboard, OSC 52":  {"\x1b]52;c;eA==\a", "␛]52;c;eA==␇", "␛]52;c;eA==␇", "\x1b]52;c;eA==\a"},
		"NUL":                    {"\x00", "␀", "␀", "\x00"},
		"DEL":                    {"\x7f", "␡", "␡", `\u007f`},
		"C1":                     {"\u009b31m", "<U+009B>31m", "<U+009B>31m", `\u009b31m`},
		"a C1 byte":              {"\x9b31m", "\ufffd31m", "\ufffd31m", "\x9b31m"},
		"an override":            {"a\u202eb", "a<U+202E>b", "a<U+202E>b", `a\u202eb`},
		"an isolate":             {"\u2066", "<U+2066>", "<U+2066>", `\u2066`},
		"a mark of direction":    {"\u200f\u061c", "<U+200F><U+061C>", "<U+200F><U+061C>", `\u200f\u061c`},
		"no width":               {"a\u200bb", "a<U+200B>b", "a<U+200B>b", `a\u200bb`},
		"a word joiner":          {"\u2060\u2063", "<U+2060><U+2063>", "<U+2060><U+2063>", `\u2060\u2063`},
		"a byte order mark":      {"\ufeffa", "<U+FEFF>a", "<U+FEFF>a", `\ufeffa`},
		"a soft hyphen":          {"\u00ad", "<U+00AD>", "<U+00AD>", `\u00ad`},
		"a filler":               {"\u3164", "<U+3164>", "<U+3164>", `\u3164`},
		"a separator":            {"\u2028", "<U+2028>", "<U+2028>", `\u2028`},
		"tags":                   {"\U000e0041\U000e007f", "<U+E0041><U+E007F>", "<U+E0041><U+E007F>", `\udb40\udc41\udb40\udc7f`},
		"smuggling selectors":    {"\U000e0100", "<U+E0100>", "<U+E0100>", `\udb40\udd00`},
		"a family, with joiners": {"👩\u200d👧", "👩\u200d👧", "👩\u200d👧", "👩\u200d👧"},
		"a heart in colour":      {"❤\ufe0f", "❤\ufe0f", "❤\ufe0f", "❤\ufe0f"},
		"Persian":                {"می\u200cخواهم", "می\u200cخواهم", "می\u200cخواهم", "می\u200cخواهم"},
		"accents, CJK, blanks":   {"é e\u0301 漢 \u00a0\u3000", "é e\u0301 漢 \u00a0\u3000", "é e\u0301 漢 \u00a0\u3000", "é e\u0301 漢 \u00a0\u3000"},
	} {
		require.Equal(t, tt.line, Clean(tt.in), name)
		require.Equal(t, tt.text, CleanText(tt.in), name)
		require.Equal(t, tt.json, string(PlainJSON([]byte(tt.in))), name)
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			require.True(t, plaintext.Deceives(r), "%U", r)
		}
	}
}

// TestJSONMeansTheSame reads back what was escaped.
func TestJSONMeansTheSame(t *testing.T) {
	t.Parallel()
	const tricks = "a\u200b\u202e\U000e0041\u007f\x1b\ufeff"
	var b bytes.Buffer
	require.NoError(t, PrintJSON(&b, tricks))
	require.Equal(t, `"a\u200b\u202e\udb40\udc41\u007f\u001b\ufeff"`+"\n", b.String())
	var back string
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	require.Equal(t, tricks, back)
}

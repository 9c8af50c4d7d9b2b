package markdown

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// visible shows colours as <…>.
func visible(out string) string {
	return regexp.MustCompile("\x1b\\[([0-9;]*)m").ReplaceAllStringFunc(out, func(c string) string {
		return "<" + strings.TrimPrefix(c[2:len(c)-1], "0") + ">"
	})
}

func TestText(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"plain text", "one\ntwo\n", "one\ntwo\n"},
		{"a heading", "# A `b`\ntext", "<1;4>A <><1;4;36>b<>\n\ntext"},
		{"words", "**a** *b* `c*` ***d***", "<1>a<> <3>b<> <36>c*<> <3;1>d<>"},
		{"characters that mean nothing", "2 * 3, a_b_c, x[0], a<b && c, \\*d\\* \\&amp;", "2 * 3, a_b_c, x[0], a<b && c, *d* &amp;"},
		{"HTML stays as it is", "<b>x</b>\n<script>", "<b>x</b>\n<script>"},
		{"a link shows its address", "[here](http://evil.example) <http://x.y>", "<4>here<><2> (http://evil.example)<> <4>http://x.y<>"},
		{"a link that is its address", "[http://x.y](http://x.y)", "<4>http://x.y<>"},
		{"a picture", "![shot](a.png)", "<4>shot<><2> (a.png)<>"},
		{"lines are broken between words", strings.Repeat("12345678 ", 5), "12345678 12345678 12345678 12345678\n12345678"},
		{"a long word is not", strings.Repeat("x", 50) + " y", strings.Repeat("x", 50) + "\ny"},
		{"wide characters", strings.Repeat("世界 ", 9), "世界 世界 世界 世界 世界 世界 世界 世界\n世界"},
		{"lists", "- a\n- b\n  1. c\n  2. d\n\n* e", "• a\n• b\n  1. c\n  2. d\n\n• e"},
		{"wrapped items hang", "10. " + strings.Repeat("12345678 ", 4), "10. 12345678 12345678 12345678 12345678"},
		{"wrapped items hang by their marks", "- " + strings.Repeat("123456789 ", 4), "• 123456789 123456789 123456789\n  123456789"},
		{"empty items", "-\n- a\n-", "•\n• a\n•"},
		{"tasks", "- [ ] a\n- [x] b", "• [ ] a\n• [x] b"},
		{"quotes", "> a\n> b\n\nc", "│ a\n│ b\n\nc"},
		{"code is not wrapped", "```go\n" + strings.Repeat("12345678 ", 6) + "\n\n\tx *y*\n```\nz",
			"<36>" + strings.Repeat("12345678 ", 6) + "<>\n\n<36>\tx *y*<>\nz"},
		{"code without an end", "```\na", "<36>a<>"},
		{"a patch", "```diff\n-a\n+b\n c\n```", "<31>-a<>\n<32>+b<>\n c"},
		{"a rule", "a\n\n---\nb", "a\n\n<2>" + strings.Repeat("─", 40) + "<>\nb"},
		{"a table", "|a|bb|\n|:-|-:|\n|`x`|1|\n|y\\|z|", "<1>a<>    <1>bb<>\n<2>───  ──<>\n<36>x<>     1\ny|z"},
		{"a table that is too wide", "|name|what|\n|-|-|\n|x|" + strings.Repeat("y ", 25) + "|\n|z||",
			"<1>name<>: x\n<1>what<>: " + strings.TrimSpace(strings.Repeat("y ", 17)) + "\n" + strings.TrimSpace(strings.Repeat("y ", 8)) +
				"\n\n<1>name<>: z\n<1>what<>:"},
		{"no table", "a | b\nc | d", "a | b\nc | d"},
		{"escapes of the agent's", "\x1b[31mred `\x1b]52;c;x\a` &#27;[2J &#x202e;\u202e",
			"␛[31mred <36>␛]52;c;x␇<> ␛[2J <U+202E><U+202E>"},
		{"nothing", "", ""},
		{"only line ends", "\n\n", "\n"},
	} {
		require.Equal(t, c.want, visible(Text(c.source, 40)), c.name)
	}
}

// parts feeds a text in pieces of up to most bytes.
func parts(text string, most int, rnd *rand.Rand) string {
	s := &Stream{Columns: func() int { return 60 }}
	var out strings.Builder
	for text != "" {
		n := min(1+rnd.IntN(most), len(text))
		for n < len(text) && text[n]&0xc0 == 0x80 {
			n++
		}
		out.WriteString(s.Add(text[:n]))
		text = text[n:]
	}
	return out.String() + s.End()
}

// What an agent usually writes looks the same in whatever pieces it comes, so nothing of it is written twice.
func TestPieces(t *testing.T) {
	answer, err := os.ReadFile("testdata/answer.md")
	require.NoError(t, err)
	whole := Text(string(answer), 60)
	for seed := range uint64(100) {
		require.Equal(t, whole, parts(string(answer), 12, rand.New(rand.NewPCG(seed, 1))), seed)
	}
}

// Text that nobody would write loses no word in pieces, and brings nothing but colours to the terminal.
func TestOddText(t *testing.T) {
	odd := []string{
		"*", "**", "_", "`", "```", "```go\n", "\n", "\n\n", " ", "    ", "\t", "word", "- ", "1. ", "> ", "# ", "|", "|---|---|", "| a | b |\n",
		"[a](b)", "[", "]", "(", ")", "<", ">", "<b>", "&amp;", "&", "\\", "---", "===", "~~~\n", "é", "世", "+", "![i](p)", "\x1b", "\x01", "\x02", "&#2;",
	}
	for seed := range uint64(5000) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		text := ""
		for range 1 + rnd.IntN(20) {
			text += odd[rnd.IntN(len(odd))]
		}
		for _, out := range []string{Text(text, 30), parts(text, 6, rnd)} {
			shown := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(out, "")
			require.Equal(t, -1, strings.IndexFunc(shown, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }), "%q: %q", text, out)
			// The line behind the ``` of a block of code names its language; that is not shown.
			if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
				require.GreaterOrEqual(t, strings.Count(shown, "word"), strings.Count(text, "word"), "%q: %q", text, out)
			}
		}
	}
}

func TestTextGoesOutAsItComes(t *testing.T) {
	s := &Stream{Columns: func() int { return 60 }}
	for _, c := range []struct {
		add, want string
		held      bool
	}{
		{"The answer is", "The answer is", false},
		{" in **main", " in", true},
		{".go** and", " <1>main.go<> and", false},
		{" there. A line that is longer", " there. A line that is", true},
		{" ends.\n\n", " longer\nends.", false},
		{"```\nfirst", "", true},
		{" line\nsec", "\n\n<36>first line<>", true},
		{"ond\n```\n", "\n<36>second<>", false},
	} {
		require.Equal(t, c.want, visible(s.Add(c.add)), c.add)
		require.Equal(t, c.held, s.Held(), c.add)
	}
	require.Equal(t, "\n", s.End())
}

func TestACodeBlockGoesOnAfterABreak(t *testing.T) {
	s := &Stream{Columns: func() int { return 0 }}
	require.Equal(t, "<36>a<>", visible(s.Add("```go\na\nb")))
	require.Equal(t, "\n<36>b<>", visible(s.Break()))
	require.Equal(t, "<36>*c*<>", visible(s.Add("*c*\n")))
	require.Equal(t, "\n<3>d<>\n", visible(s.Add("```\n*d*\n")+s.End()))
	require.Equal(t, "<3>e<>", visible(s.Add("*e*")+s.End()))
}

// A long block of code is not parsed again from its beginning for each delta.
func TestLongCodeIsForgotten(t *testing.T) {
	s := &Stream{Columns: func() int { return 80 }}
	s.Add("```\n")
	for range 5000 {
		s.Add("a line of code\n")
		require.Less(t, len(s.source), 100)
	}
}

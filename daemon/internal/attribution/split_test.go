package attribution

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSplit: programs change a text of which a turn wrote the lines in capitals. Texts are as in TestChain.
func TestSplit(t *testing.T) {
	for _, row := range []struct{ name, text, now, want string }{
		{"nothing", "aBc", "aBc", "aBc"},
		{"a fresh line formatted", "aBc", "a1c", "a1c"},
		{"a fresh line split in two", "aBc", "a12c", "a12c"},
		{"two fresh lines joined", "aBCd", "a1d", "a1d"},
		{"a fresh line removed", "aBc", "ac", "ac"},
		{"a line put between fresh ones", "aBCd", "aB1Cd", "aB1Cd"},
		{"another line changed", "aBc", "1Bc", "aBc"},
		{"another line removed", "aBc", "Bc", "aBc"},
		{"both", "aBcd", "a1c2", "a1cd"},
		{"both, side by side", "aBc", "12c", "aBc"},
		{"a line put in front", "aBc", "1aBc", "aBc"},
		{"a line put behind all", "aBc", "aBc1", "aBc"},
		{"a line put before a fresh one", "aBc", "a1Bc", "aBc"},
		{"a line put behind a fresh one", "aBc", "aB1c", "aBc"},
		{"all is fresh and formatted", "ABC", "123", "123"},
		{"all is fresh and a line comes first", "AB", "1AB", "1AB"},
		{"all is fresh and a line comes last", "AB", "AB1", "AB1"},
		{"the last line end added to a fresh line", "aB!", "aB", "aB"},
		{"the last line end added to another line", "Ab!", "Ab", "Ab!"},
		{"all rewritten", "aBc", "123", "aBc"},
		{"an empty text", ".", "1", "."},
		{"two fresh places, one other", "AbCd", "1b2d", "1b2d"},
		{"a fresh place beside another line that changes", "AbCdE", "1b2x3", "1bCdE"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var mine []bool
			for _, l := range lineList(text(row.text)) {
				mine = append(mine, 'A' <= l[0] && l[0] <= 'Z')
			}
			require.Equal(t, text(row.want), Split(text(row.text), text(row.now), mine))
		})
	}
	require.Equal(t, "a\n", Split("a\n", "b\n", nil), "nothing is known of the lines")
}

// TestInFormOf converts agents' reported texts to the form of the file.
func TestInFormOf(t *testing.T) {
	for _, row := range []struct{ name, file, said, want string }{
		{"as it is", "a\nb\n", "a\nc\n", "a\nc\n"},
		{"the same", "a\r\n", "a\n", "a\r\n"},
		{"CRLF", "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"},
		{"CRLF kept", "a\r\nb\r\n", "a\r\nc\r\n", "a\r\nc\r\n"},
		{"line ends that are reported, and others", "a\r\nb\r\n", "a\nb\r\n", "a\nb\r\n"},
		{"mixed line ends", "a\r\nb\nc\r\nd\n", "a\nb\nX\nd\n", "a\r\nb\nX\r\nd\n"},
		{"mostly LF", "a\r\nb\nc\nd\n", "a\nb\nc\nX\n", "a\r\nb\nc\nX\n"},
		{"byte order mark", "\ufeffa\n", "b\n", "\ufeffb\n"},
		{"byte order mark and CRLF", "\ufeffa\r\nb\r\n", "a\nc\n", "\ufeffa\r\nc\r\n"},
		{"byte order mark kept", "\ufeffa\n", "\ufeffb\n", "\ufeffb\n"},
		{"no final line end", "a\r\nb", "a\nc", "a\r\nc"},
		{"escaped HTML", "a<b\n", "a&lt;b\n", "a<b\n"},
		{"HTML that is meant", "a&lt;b\n", "a&lt;b\n", "a&lt;b\n"},
		{"HTML that is not the file's", "x\n", "a&lt;b\n", "a&lt;b\n"},
		{"latin-1", "gr\xfc\xdfe\n", "gr\ufffd\ufffde\n", "gr\xfc\xdfe\n"},
		{"latin-1, one sign for two bytes", "gr\xfc\xdfe\n", "gr\ufffde\n", "gr\xfc\xdfe\n"},
		{"empty", "", "", ""},
		{"emptied", "a\r\n", "", ""},
		{"a new file", "", "a\nb\n", "a\nb\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.Equal(t, row.want, string(inFormOf([]byte(row.file), row.said)))
		})
	}
}

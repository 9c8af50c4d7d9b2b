package drafts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/editors/lsp/protocol"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, own string
		lines           []string
	}{
		{"nothing", "", "", nil},
		{"words alone", "do it\n", "do it\n", nil},
		{"settings", "do it\n" + Prompt + "# mode: ask\nno setting\n", "do it\n", []string{"mode: ask"}},
		{"CR LF", "do it\r\n" + Prompt + "# mode: ask\r\n", "do it\n", []string{"mode: ask"}},
		{"the line above them was changed", "do it\n# ---- typed here ----\n" + Comment[len(scissors)+1:] + "# reject: 1\n", "do it\n", []string{"reject: 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			own, lines := Cut(c.text)
			require.Equal(t, c.own, own)
			for _, line := range c.lines {
				require.Contains(t, lines, line)
			}
			require.NotContains(t, lines, "no setting")
		})
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]protocol.Range{
		"a.go:3":   {Start: protocol.Position{Line: 2}, End: protocol.Position{Line: 2}},
		"a.go:3-9": {Start: protocol.Position{Line: 2}, End: protocol.Position{Line: 9}},
	} {
		path, from, to := Lines(name)
		require.Equal(t, "a.go", path)
		require.Equal(t, [2]int{want.Start.Line + 1, max(want.End.Line, from)}, [2]int{from, to})
		require.Equal(t, name, path+LinesOf(&want))
	}
	for _, name := range []string{"a.go", ":3", "a.go:0", "a.go:9-3", "a.go:x", "C:\\a.go"} {
		path, from, to := Lines(name)
		require.Equal(t, name, path)
		require.Zero(t, from+to)
	}
}

// TestHeadsFitANarrowWindow: Helix cuts lines that are longer than its window, and shows line numbers beside them.
func TestHeadsFitANarrowWindow(t *testing.T) {
	for _, line := range strings.Split(aboutPrompt+aboutComment, "\n") {
		require.LessOrEqual(t, len(line), 53, line)
	}
	_, lines := Cut(Prompt + Comment)
	for _, line := range lines {
		require.NotRegexp(t, `^(file|image|session|mode|reject):`, line)
	}
}

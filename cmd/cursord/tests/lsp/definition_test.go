//go:build unix

package lsp

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPDefinitions goes from the places that a transcript names to the files: from "f:8" in the agent's words, from an
// edit and from its patch. The session works in a copy, where f has other line numbers. A file that is only in the copy is
// shown in the list of all hunks.
func TestLSPDefinitions(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before := world.Numbered(30, nil)
	w.Put("f", before)
	w.Put("other", "1\n2\n3\n")
	trusted(w)
	after := world.Numbered(30, map[int]string{1: "new\nline 1\n", 25: "agent 25\n"})
	script := slices.Concat([]string{world.InitLine, world.Says("Look at `f:8`, (other:2) and made:1; not at none:3.\n", "")},
		world.Edits("1", "f", before, after), world.Edits("2", "made", "(absent)", "x\n"), []string{world.Done})
	w.Plays(script...)
	c := lsp(w, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	f := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 2)
	mark := c.mark()
	c.does("cursord.transcript")
	uri, _ := c.shown(mark, "chat.md")
	raw, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
	require.NoError(t, err)
	d := c.opensFile(uri, string(raw))
	at := func(uri, text, part string) world.Obj {
		t.Helper()
		for i, line := range strings.Split(text, "\n") {
			if before, _, found := strings.Cut(line, part); found {
				return world.Obj{"textDocument": world.Obj{"uri": uri}, "position": world.Obj{"line": i, "character": len(before)}}
			}
		}
		t.Fatalf("no %q in\n%s", part, text)
		return nil
	}
	type location struct {
		URI   string
		Range struct{ Start struct{ Line int } }
	}
	var there *location
	goes := func(uri, text, part, to string, line int) {
		t.Helper()
		there = nil
		c.must("textDocument/definition", at(uri, text, part), &there)
		require.NotNil(t, there, part)
		require.Equal(t, to, there.URI, part)
		require.Equal(t, line, there.Range.Start.Line, part)
	}
	other := "file://" + w.Path("other")
	goes(d.uri, d.now(), "f:8", f.uri, 6) // which is line 8 of the copy
	goes(d.uri, d.now(), "other:2", other, 1)
	goes(d.uri, d.now(), "✓ Edit f", f.uri, 0)
	goes(d.uri, d.now(), "+agent 25", f.uri, 24)
	list := "file://" + w.LspFile("review.diff")
	c.must("textDocument/definition", at(d.uri, d.now(), "not at"), &there)
	require.Equal(t, list, there.URI)
	shown, err := os.ReadFile(w.LspFile("review.diff"))
	require.NoError(t, err)
	require.Equal(t, "diff --cursord a/made b/made", strings.Split(string(shown), "\n")[there.Range.Start.Line])
	var none *location
	c.must("textDocument/definition", at(d.uri, d.now(), "## Prompt"), &none)
	require.Nil(t, none)
	c.must("textDocument/definition", at(f.uri, f.now(), "line 2"), &none)
	require.Nil(t, none)

	// The same by an action, for editors whose key asks other servers.
	mark = c.mark()
	row := at(d.uri, d.now(), "Look at")["position"].(world.Obj)["line"].(int)
	c.chooses(d.uri, row, "Go to f:8")
	to, line := c.shown(mark, "")
	require.Equal(t, f.uri, to)
	require.Equal(t, 6, line)

	// In the list, a hunk leads to its file, and the next hunk is the list's next.
	l := c.opensFile(list, string(shown))
	goes(l.uri, l.now(), "+agent 25", f.uri, 24)
	for i, want := range []string{"@@ ", "diff --cursord a/made b/made", "@@ "} {
		mark, place, command := c.mark(), world.Obj{}, "cursord.next"
		if i == 0 {
			place = world.Obj{"uri": list, "line": 1}
		}
		if i == 2 {
			command = "cursord.prev"
		}
		c.does(command, place)
		to, line := c.shown(mark, "")
		require.Equal(t, list, to)
		require.Contains(t, strings.Split(l.now(), "\n")[line], want, command)
	}
}

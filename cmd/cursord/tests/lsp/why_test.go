//go:build unix

package lsp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// hover returns what a hover on a line shows; "" for nothing.
func (c *langClient) hover(uri string, line int) string {
	c.t.Helper()
	var h *struct{ Contents struct{ Value string } }
	c.must("textDocument/hover", world.Obj{"textDocument": world.Obj{"uri": uri}, "position": world.Obj{"line": line, "character": 0}}, &h)
	if h == nil {
		return ""
	}
	return h.Contents.Value
}

// TestLSPWhy: a hover on a line that an agent wrote says which prompt it comes from, while it is pending and when it is accepted, with
// what it has replaced; also around unsaved typing, and after a restart of daemon and editor.
func TestLSPWhy(t *testing.T) {
	t.Parallel()
	before := world.Numbered(9, nil)
	after := world.Numbered(9, map[int]string{5: "agent 5\n"})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), nil)
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 1)
	d.sets(after)
	d.saves()
	c.eventually("the pending hunk, and why", func() bool {
		said := c.hover(d.uri, 4)
		return strings.Contains(said, "hunk 1/1 +1 −1") && strings.Contains(said, "**why** pending · ") && strings.Contains(said, "session “do it” · turn ") &&
			strings.HasSuffix(said, "> do it")
	})
	require.Empty(t, c.hover(d.uri, 2), "a line of nobody's")
	c.chooses(d.uri, 4, "Accept hunk 1/1")
	c.waitsForHunks("f", 0)
	said := c.hover(d.uri, 4)
	require.True(t, strings.HasPrefix(said, "**why** accepted · "), said)
	require.Contains(t, said, "> do it\n\nbefore:\n\n```diff\n-line 5\n```")

	// Unsaved lines above it move it; a line that is not saved has no author yet.
	d.sets("mine\n" + after)
	require.Empty(t, c.hover(d.uri, 0))
	require.Contains(t, c.hover(d.uri, 5), "> do it")
	d.sets(strings.Replace(after, "agent 5\n", "mine 5\n", 1))
	require.Empty(t, c.hover(d.uri, 4))

	// Also as the first thing that an editor asks, when no daemon runs.
	c.must("shutdown", nil, nil)
	c.notify("exit", nil)
	w.CursordOK("stop", "--force")
	c = lsp(w, world.LSPCapabilities(), nil)
	d = c.opens("f")
	require.Contains(t, c.hover(d.uri, 4), "> do it")
}

// TestLSPWhyOfEdits: where the agent works in a copy, hunks are accepted by edits of the editor's documents. Once these are saved, a hover
// says which prompt they come from.
func TestLSPWhyOfEdits(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	after := world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15\n", 25: "agent 25\n"})
	w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 3)
	c.chooses(d.uri, 4, "Accept hunk 1/3")
	c.waitsForHunks("f", 2)
	d.sets("mine\n" + d.now())
	d.saves()
	c.eventually("the saved hunk says why", func() bool {
		said := c.hover(d.uri, 5)
		return strings.HasPrefix(said, "**why** accepted · ") && strings.Contains(said, "> do it")
	})
	require.Empty(t, c.hover(d.uri, 0), "that is the person's")
	c.does("cursord.acceptAll")
	c.waitsForHunks("f", 0)
	d.saves()
	for _, line := range []int{5, 15, 25} {
		c.eventually("all lines say why", func() bool { return strings.HasPrefix(c.hover(d.uri, line), "**why** accepted · ") })
	}
	require.Empty(t, c.hover(d.uri, 0))
	require.Contains(t, w.CursordOK("why", "f:16"), "> do it")
}

// TestLSPBothChangedAPlace: a person and an agent in a copy have changed the same line. The place is shown as such, and decided as
// mine, the agent's, or both.
func TestLSPBothChangedAPlace(t *testing.T) {
	t.Parallel()
	before := world.Numbered(9, nil)
	after := world.Numbered(9, map[int]string{5: "agent 5\n"})
	mine := strings.Replace(before, "line 5\n", "mine 5\n", 1)
	for _, one := range []struct{ action, text string }{
		{"Keep mine", "mine 5\n"}, {"Take the agent's", "agent 5\n"}, {"Keep both", "mine 5\nagent 5\n"},
	} {
		t.Run(one.action, func(t *testing.T) {
			t.Parallel()
			w, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
			d := c.opens("f")
			c.turn()
			c.waitsForHunks("f", 1)
			d.sets(mine)
			d.saves()
			c.eventually("it is shown that both have changed it", func() bool {
				list := c.waitsForHunks("f", 1)
				return strings.Contains(list[0].Message, "→ agent 5 · 1/1 +1 −0 · you have changed these lines too") && list[0].Severity == 2
			})
			line := c.waitsForHunks("f", 1)[0].Range.Start.Line
			require.Contains(t, c.hover(d.uri, line), "you have changed this place too: keep your lines, take the agent's, or keep both")
			c.chooses(d.uri, line, one.action+": hunk 1/1 (+1 −0)")
			c.waitsForHunks("f", 0)
			want := strings.Replace(mine, "mine 5\n", one.text, 1)
			c.eventually("what was decided", func() bool { return d.now() == want })
			d.saves()
			require.Equal(t, want, w.Get("f"))
		})
	}
}

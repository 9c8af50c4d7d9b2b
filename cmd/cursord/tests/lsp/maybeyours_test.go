//go:build unix

package lsp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPMaybeYours: a hunk that no call of the agent explains is marked, left when several hunks are rejected, and rejected
// by itself.
func TestLSPMaybeYours(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Unexplained()
	c := lsp(w, world.LSPCapabilities(), nil)
	d := c.opens("notes.txt")
	maybe := c.waitsForHunks("notes.txt", 1)[0]
	require.Equal(t, 2, maybe.Severity, "a warning")
	require.Contains(t, maybe.Message, "1/1 +1 −1 · may be yours: it is not surely the agent's")
	for _, one := range c.waitsForHunks("f", 2) {
		require.Equal(t, 3, one.Severity)
		require.NotContains(t, one.Message, "yours")
	}
	var h struct{ Contents struct{ Value string } }
	c.must("textDocument/hover", world.Obj{"textDocument": world.Obj{"uri": d.uri}, "position": world.Obj{"line": 11, "character": 0}}, &h)
	require.Contains(t, h.Contents.Value, "may be yours: it is not surely the agent's")
	var hints []struct{ Label string }
	c.must("textDocument/inlayHint", world.Obj{"textDocument": world.Obj{"uri": d.uri}, "range": world.Obj{"start": world.Obj{"line": 0, "character": 0}, "end": world.Obj{"line": 19, "character": 0}}}, &hints)
	require.Equal(t, "may be yours 1/1 +1 −1", hints[0].Label)

	// Neither of these names the hunk.
	mark := c.mark()
	c.chooses(d.uri, 11, "Reject all 3 hunks in 2 files but 1 that may be yours")
	c.hearsAfter(mark, "window/showMessage", "rejected 2 hunks; 1 hunk left in 1 file; left 1 hunk that may be yours: notes.txt:12 (reject each by itself)")
	c.waitsForHunks("f", 0)
	w.RequireTree(world.UnexplainedBefore.With(world.UnexplainedAfter, "notes.txt"))
	for _, command := range []string{"cursord.rejectAll", "cursord.rejectFile"} {
		mark = c.mark()
		c.does(command, world.Obj{"uri": d.uri})
		c.hearsAfter(mark, "window/showMessage", "rejected nothing; left 1 hunk that may be yours: notes.txt:12")
	}
	w.RequireTree(world.UnexplainedBefore.With(world.UnexplainedAfter, "notes.txt"))

	// These do.
	mark = c.mark()
	c.chooses(d.uri, 11, "Reject hunk 1/1 (+1 −1), which may be yours")
	c.hearsAfter(mark, "window/showMessage", "rejected 1 hunk")
	c.waitsForHunks("notes.txt", 0)
	w.RequireTree(world.UnexplainedBefore)
	c.does("cursord.undo")
	c.waitsForHunks("notes.txt", 1)
	c.does("cursord.reject", world.Obj{"path": "notes.txt", "line": 12})
	c.waitsForHunks("notes.txt", 0)
	w.RequireTree(world.UnexplainedBefore)
	c.does("cursord.undo")
	c.waitsForHunks("notes.txt", 1)
	c.does("cursord.acceptAll")
	c.waitsForHunks("notes.txt", 0)
	require.Equal(t, world.UnexplainedAfter["notes.txt"], w.Get("notes.txt"))
	require.Regexp(t, `^\*\*why\*\* accepted .* · may be yours: it is not surely the agent's\n`, c.hover(d.uri, 11), "the accept has not made it the agent's")
}

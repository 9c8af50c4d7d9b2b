//go:build unix

package lsp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPRedoOfBoth: the user keeps both sides of a hunk of a copy, takes that back and makes it again in the editor. That made a hunk in
// which the agent deletes the user's line.
func TestLSPRedoOfBoth(t *testing.T) {
	t.Parallel()
	before, mine := world.Numbered(12, nil), world.Numbered(12, map[int]string{2: "2 mine\n"})
	both := world.Numbered(12, map[int]string{2: "2 mine\nagent 2\n"})
	_, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": world.Numbered(12, map[int]string{2: "agent 2\n"})}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 1)
	d.sets(mine)
	c.until("the hunk says that both have changed the line", func() bool {
		list := c.lists[d.uri]
		return len(list) == 1 && strings.Contains(list[0].Message, "you have changed these lines too")
	})
	c.chooses(d.uri, 1, "Keep both")
	c.waitsForHunks("f", 0)
	require.Equal(t, both, d.now())
	d.sets(mine)
	c.waitsForHunks("f", 1)
	d.sets(both)
	c.waitsForHunks("f", 0)
	d.sets(mine)
	c.waitsForHunks("f", 1)
	d.sets(both)
	c.waitsForHunks("f", 0)

	// The same with the command's undo, and with its redo.
	for _, again := range []func(){func() { d.sets(both) }, func() { c.does("cursord.redo") }} {
		c.does("cursord.undo")
		list := c.waitsForHunks("f", 1)
		require.Contains(t, list[0].Message, "→ agent 2 · 1/1 +1 −0")
		require.Equal(t, mine, d.now())
		again()
		c.waitsForHunks("f", 0)
		require.Equal(t, both, d.now())
	}
	d.sets("0\n" + both)
	d.saves()
	c.eventually("all is decided", func() bool { return len(c.w.Joins().Diffs()) == 0 })
}

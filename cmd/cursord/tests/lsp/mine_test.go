//go:build unix

package lsp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPConflictIsAtTheUsersLine: a line that both the user and an agent in a copy have changed once had no hunk, but the one below it had.
func TestLSPConflictIsAtTheUsersLine(t *testing.T) {
	t.Parallel()
	_, c := lspAfter(t, world.Tree{"f": "1\n2\n3\n4\n"}, world.Tree{"f": "1\nagent 2\n3\n4\n"}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 1)
	d.sets("1\n2 mine\n3\n4\n")
	c.until("the mark is at the user's line", func() bool {
		list := c.lists[d.uri]
		return len(list) == 1 && list[0].Range.Start.Line == 1 && list[0].Range.End.Line == 1 && strings.Contains(list[0].Message, "you have changed these lines too")
	})
	require.Contains(t, c.hover(d.uri, 1), "you have changed this place too")
	require.Empty(t, c.hover(d.uri, 2))
	c.does("cursord.accept", world.Obj{"path": "f", "line": 2})
	c.waitsForHunks("f", 0)
	require.Equal(t, "1\n2 mine\nagent 2\n3\n4\n", d.now())
}

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
	c.does("cursord.acceptBoth", world.Obj{"path": "f", "line": 2})
	c.waitsForHunks("f", 0)
	require.Equal(t, "1\n2 mine\nagent 2\n3\n4\n", d.now())
}

// TestLSPOverwritesTheOnlyLineOfACopy: the user overwrites all of a file of one line that an agent in a copy has changed, emptied or deleted.
// The hunk is shown at the user's line with the three choices, and each does what it says.
func TestLSPOverwritesTheOnlyLineOfACopy(t *testing.T) {
	t.Parallel()
	for agent, both := range map[string]string{"agent\n": "mine\nagent\n", "": "mine\n", "(absent)": "mine\n"} {
		for title, want := range map[string]string{"Keep mine": "mine\n", "Take the agent's": agent, "Keep both": both} {
			t.Run(title+" of "+agent, func(t *testing.T) {
				t.Parallel()
				w, c := lspAfter(t, world.Tree{"f": "1\n"}, world.Tree{"f": agent}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
				d := c.opens("f")
				c.turn()
				c.waitsForHunks("f", 1)
				d.sets("mine\n")
				c.until("the hunk says that both have changed the line", func() bool {
					list := c.lists[d.uri]
					return len(list) == 1 && strings.Contains(list[0].Message, "you have changed these lines too")
				})
				c.chooses(d.uri, 0, title)
				if want == "(absent)" {
					c.hears("window/showMessage", "f has unsaved changes", "save or close it and try again")
					d.saves()
					c.waitsForHunks("f", 1)
					c.chooses(d.uri, 0, title)
				}
				c.waitsForHunks("f", 0)
				if want == "(absent)" {
					w.RequireTree(world.Tree{})
				} else {
					require.Equal(t, want, d.now())
				}
			})
		}
	}
}

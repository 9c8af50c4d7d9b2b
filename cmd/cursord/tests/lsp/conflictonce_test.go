//go:build unix

package lsp

import (
	"strings"
	"testing"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPDecidedHunksVanish: a file's last hunk is accepted in the editor, which drops lists of older versions than its text, as Helix
// does. The hunk is shown no more, before the file is saved, also if the user had changed its line.
func TestLSPDecidedHunksVanish(t *testing.T) {
	t.Parallel()
	for _, mine := range []bool{false, true} {
		before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{5: "agent 5\n"})
		_, c := lspAfter(t, world.Tree{"f": before}, world.Tree{"f": after}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
		d := c.opens("f")
		c.turn()
		list := c.waitsForHunks("f", 1)
		if mine {
			d.sets(strings.Replace(before, "line 5\n", "mine 5\n", 1))
			d.saves()
			c.until("the conflict", func() bool {
				list = c.lists[d.uri]
				return len(list) == 1 && strings.Contains(list[0].Message, "you have changed these lines too")
			})
		}
		mark := c.mark()
		c.does("cursord.accept", list[0].Code)
		c.hearsAfter(mark, "window/showMessage", "accepted 1 hunk in your buffers – save to write")
		c.waitsForHunks("f", 0)
	}
}

//go:build unix

package lsp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPMergedTextIsNotOld: the user types in a text that is older than the file, and the agent's changes come into it. No message says that
// the file is newer, and that the user should throw the text away.
func TestLSPMergedTextIsNotOld(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{20: "agent 20\n"})
	w, c := lspAfter(t, world.Tree{"f": before, "g": before}, world.Tree{"f": after}, world.LSPCapabilities(), nil)
	d, other := c.opens("f"), c.opens("g")
	c.turn()
	c.hears("window/showMessage", "1 open file changed on disk")
	d.sets("mine\n" + before)
	mark := c.mark()
	c.hears("window/showMessage", "changes on disk came into f")
	w.Put("g", "another program's\n"+before)
	c.hearsAfter(mark, "window/showMessage", "1 open file changed on disk")
	other.sets(before + "mine\n")
	c.hearsAfter(mark, "window/showMessage", "g is newer on disk") // later than it would be said of f
	for _, m := range c.all() {
		require.NotContains(t, string(m.Params), "f is newer on disk")
	}
}

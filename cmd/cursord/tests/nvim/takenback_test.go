//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimSaysThatASaveLacksTheAgents goes back with "u" over the edits of the agent in a buffer without unsaved changes. The save says
// that they are out, and CTRL-R brings the text back. A save that takes nothing of the agent's out says nothing.
func TestNvimSaysThatASaveLacksTheAgents(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		before, after := world.Numbered(12, nil), world.Numbered(12, map[int]string{5: "agent 5\n", 11: "agent 11\n"})
		w := world.New(t)
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.turn("do it")
		n.agree(e, "f", after, 2)
		n.lua("said = {}")
		n.keys("Gomine<Esc>:silent write<CR>")
		n.agree(e, "f", after+"mine\n", 2)
		n.keys("u:silent write<CR>")
		n.agree(e, "f", after, 2)
		require.Empty(t, n.lua("return said"))
		n.keys("u:silent write<CR>")
		n.hears("cursord: u took the agent's changes out; <C-r> brings the text back")
		n.agree(e, "f", before, 0)
		n.keys("<C-r>")
		n.untilText("f", after)
		n.quiet()
	})
}

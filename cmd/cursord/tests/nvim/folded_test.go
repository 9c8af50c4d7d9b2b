//go:build unix

package nvim

import (
	"testing"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimDecidesAClosedFold decides in a closed fold, by the key and by the command, whatever line the cursor is on: the fold's hunks, and no
// other ones.
func TestNvimDecidesAClosedFold(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 12: "agent 12\n", 16: "agent 16\n"})
	left := world.Numbered(30, map[int]string{5: "agent 5\n"})
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		w.Opens().Turn(nil)
		n := neovim(w, t, bin, "vim.keymap.set('n', 'gr', '<Plug>(cursord-reject)')", "f")
		n.hunksOf("f", 3)
		n.keys(":10,20fold<CR>")
		for _, keys := range []string{"12Ggr", "18Ggr", "18G:Cursord reject<CR>"} {
			t.Log(keys)
			n.keys(keys)
			n.untilText("f", left)
			n.hunksOf("f", 1)
			n.decided()
			n.ex("Cursord undo")
			n.untilText("f", after)
			n.hunksOf("f", 3)
			n.decided()
		}
		n.keys("18G.")
		n.untilText("f", left)
		n.quiet()
	})
}

//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimMergeKeepsTheRedo goes back with "u" over a typed line that conflicts with the agent's. What is on disk then waits: a merge
// by itself would be a new change, and CTRL-R could not bring the typed line back any more.
func TestNvimMergeKeepsTheRedo(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	after, mine := world.Numbered(12, map[int]string{5: "agent 5\n"}), world.Numbered(12, map[int]string{5: "mine 5\n"})
	anNvim(t, func(t *testing.T, bin string) {
		for _, c := range []struct{ act, text, says string }{
			{"<C-r>", mine, ""},
			{":Cursord merge<CR>", after, "cursord: f: the disk's changes are in, u takes them out"},
			{"9Gdd", world.Numbered(12, map[int]string{5: "agent 5\n", 9: ""}), "cursord: f: the disk's changes are in, u takes them out"},
			{":write<CR>", before, "cursord: rejected 1 hunk; :Cursord undo brings it back"},
		} {
			t.Run(c.act, func(t *testing.T) {
				n := conflicting(t, bin, before, after)
				n.untilScreen("you have changed this")
				n.knowsTheMerge()
				n.keys("u")
				n.hears("cursord: f: what is new on disk waits, for <C-r>; :Cursord merge takes it")
				require.Equal(t, before, n.text("f"))
				n.keys(c.act)
				n.untilText("f", c.text)
				if c.says != "" {
					n.hears(c.says)
				} else {
					n.untilScreen("you have changed this")
				}
				n.quiet()
			})
		}
	})
}

// conflicting has a person type a line 5 that is not saved, and an agent make another one of the file f.
func conflicting(t *testing.T, bin, before, after string) *nvim {
	t.Helper()
	w := world.New(t)
	w.Put("f", before)
	w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
	w.Start()
	w.Opens()
	n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, autostart = true }", "f")
	n.follows()
	n.keys("5Gccmine 5<Esc>")
	n.ex("Cursord ask do it")
	return n
}

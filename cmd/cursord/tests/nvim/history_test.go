//go:build unix

package nvim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimUndoWalksAllDecisions goes back over several rejects at once, by "uu", "2u", ":undo" and others. Each is taken
// back, the hunks are pending again, and no line becomes a person's.
func TestNvimUndoWalksAllDecisions(t *testing.T) {
	t.Parallel()
	back := []struct{ name, act string }{
		{"uu", "vim.cmd('normal! uu')"},
		{"2u", "vim.cmd('normal! 2u')"},
		{":undo", "vim.cmd('undo 2')"},
		{"g-", "vim.cmd('normal! 2g-')"},
		{"one after the other, each told", "vim.cmd('normal! u') vim.wait(300) vim.cmd('normal! u')"},
		{"and a save at once", "vim.cmd('normal! uu') vim.cmd('silent write')"},
	}
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(40, nil)
		all := map[int]string{5: "agent 5\n", 15: "", 25: "line 25\nagent 25\n", 35: "agent 35\n"}
		after := world.Numbered(40, all)
		one, two := world.Numbered(40, map[int]string{15: "", 25: all[25], 35: all[35]}), world.Numbered(40, map[int]string{25: all[25], 35: all[35]})
		was, is := world.Tree{}, world.Tree{}
		for i := range back {
			was[fmt.Sprint("f", i)], is[fmt.Sprint("f", i)] = before, after
		}
		w.PutAll(was)
		w.Plays(world.Changing(was, is)...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, review = { after_decide = 'stay' } }")
		for i := range back {
			n.ex(fmt.Sprint("edit f", i)) // before the agent's work, so that this is the first state of the history
		}
		n.turn("do it")
		for i, c := range back {
			t.Log(c.name)
			path := fmt.Sprint("f", i)
			n.ex("edit " + path)
			n.agree(e, path, after, 4)
			n.ex("5Cursord reject")
			n.agree(e, path, one, 3)
			n.ex("15Cursord reject")
			n.agree(e, path, world.Numbered(40, map[int]string{25: all[25], 35: all[35]}), 2)
			require.Equal(t, 3.0, n.lua("return vim.fn.undotree().seq_cur"))
			n.lua(c.act + " vim.cmd.stopinsert()")
			if c.name == ":undo" { // to the state after the first reject
				n.agree(e, path, one, 3)
				n.ex("undo 1")
			}
			n.agree(e, path, after, 4)
		}
		// Redo makes them again as decisions; undo takes them back one by one.
		n.ex("5Cursord reject")
		n.agree(e, "f5", one, 3)
		n.ex("15Cursord reject")
		n.agree(e, "f5", two, 2)
		n.ex("Cursord undo")
		n.agree(e, "f5", one, 3)
		n.ex("Cursord undo")
		n.agree(e, "f5", after, 4)
		n.quiet()
	})
}

// TestNvimReadsAgain shows each hunk once, however often ":edit" reads the file.
func TestNvimReadsAgain(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(40, nil)
		after := world.Numbered(40, map[int]string{5: "agent 5\n", 15: "", 25: "line 25\nagent 25\n", 35: "agent 35\n"})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, notify = { progress = false } }", "f")
		n.turn("do it")
		n.agree(e, "f", after, 4)
		marks := func() any {
			return n.lua(`local function count(ns)
					return #vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces()[ns], 0, -1, {})
				end
				vim.cmd.redraw()
				return { count('cursord'), count('cursord_words') }`)
		}
		once, screen := marks(), n.screen()
		require.Equal(t, 4.0, once.([]any)[0])
		for _, command := range []string{"edit", "edit", "edit!", "checktime", "set filetype=text | edit"} {
			n.ex(command)
			n.hunksOf("f", 4)
			require.Equal(t, once, marks(), command)
			require.Equal(t, screen, n.screen(), command)
		}
		// With changes of the person, reported or not, which ":edit!" drops.
		n.keys("ggOmine<Esc>")
		n.untilRows("f", 6, 16, 26, 36)
		n.ex("edit!")
		n.agree(e, "f", after, 4)
		n.untilRows("f", 5, 15, 25, 35)
		require.Equal(t, once, marks())
		n.lua("vim.fn.append(0, 'mine') vim.cmd('edit!')")
		n.agree(e, "f", after, 4)
		n.untilRows("f", 5, 15, 25, 35)
		require.Equal(t, once, marks())
		n.ex("Cursord reject!")
		n.agree(e, "f", before, 0)
		require.Equal(t, []any{0.0, 0.0}, marks())
		n.quiet()
	})
}

// TestNvimHunksBesideAMode goes to the hunks of a file that became executable as well, and shows its diff.
func TestNvimHunksBesideAMode(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15\n"})
		w.PutAll(world.Tree{"f": before, "g": "only\na mode\n"})
		w.Plays(world.Lines(world.Edits("1", "f", before, after), world.Shells("2", "chmod +x f g"))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.turn("do it")
		n.agree(e, "f", after, 3)
		at := func() any { return n.lua("return { vim.fn.bufname(), vim.fn.line('.') }") }
		for _, row := range []float64{5, 15, 5} {
			n.ex("Cursord next")
			require.Equal(t, []any{"f", row}, at())
		}
		n.ex("Cursord prev")
		require.Equal(t, []any{"f", 15.0}, at())
		n.ex("Cursord review | wincmd p")
		n.untilScreen("f|1| mode 100644 → 100755")
		n.untilScreen("g|1| mode 100644 → 100755")
		n.ex("15Cursord diff")
		n.until("two windows that differ", "return #vim.api.nvim_tabpage_list_wins(0) == 2 and vim.wo.diff")
		n.ex("tabclose")
		n.ex("1Cursord diff")
		n.until("two windows that differ", "return #vim.api.nvim_tabpage_list_wins(0) == 2 and vim.wo.diff")
		n.ex("tabclose")
		n.quiet()
		n.ex("edit g | Cursord diff")
		n.hears("cursord: there is no text to show: the file has another mode")
	})
}

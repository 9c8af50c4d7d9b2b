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

// TestNvimRedoOfARejectKeepsText redoes a reject: typing that follows at once stays unsaved, the other files of the decision follow, and
// where another decision was undone since, the redo changes the text of the buffer alone.
func TestNvimRedoOfARejectKeepsText(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(12, nil), world.Numbered(12, map[int]string{5: "agent 5\n"})
		w.PutAll(world.Tree{"f": before, "g": before})
		w.Plays(world.Changing(world.Tree{"f": before, "g": before}, world.Tree{"f": after, "g": after})...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, review = { after_decide = 'stay' } }", "f")
		n.turn("do it")
		n.agree(e, "f", after, 1)
		back := func(command string) {
			n.t.Helper()
			n.ex(command)
			n.agree(e, "f", before, 0)
			n.keys("u")
			n.agree(e, "f", after, 1)
		}
		t.Log("several files")
		back("Cursord reject!")
		require.Equal(t, after, w.Get("g"))
		n.keys("<C-r>")
		n.agree(e, "f", before, 0)
		n.untilScreen("made again in 2 files: the decision was about all of them")
		require.Equal(t, before, w.Get("g"))
		n.keys("u")
		n.agree(e, "f", after, 1)
		t.Log("another decision undone since")
		e.Decides("diff/reject", world.Obj{"path": "g"})
		back("5Cursord reject")
		e.Decides("diff/undo", world.Obj{})
		n.keys("<C-r>")
		n.untilText("f", before)
		n.hunksOf("f", 0)
		require.True(t, n.modified("f"))
		require.Equal(t, after, w.Get("f"))
		require.Len(t, e.Diffs()["g"].Hunks, 1, "the decision about g stays undone")
		n.ex("write")
		n.agree(e, "f", before, 0)
		t.Log("typing after it")
		n.ex("Cursord undo")
		n.agree(e, "f", after, 1)
		back("5Cursord reject")
		n.lua("vim.cmd('redo') vim.fn.append('$', 'mine')")
		n.poll("the reject on disk", func() bool { return w.Get("f") == before })
		n.hunksOf("f", 0)
		require.Equal(t, before+"mine\n", n.text("f"))
		require.True(t, n.modified("f"))
		n.ex("write")
		n.agree(e, "f", before+"mine\n", 0)
		n.quiet()
	})
}

// TestNvimUndoneAcceptStaysUndone takes an accept of two files back with "u" in one of them. What then changes the buffer of the other
// file does not make the accept again; a redo where the "u" was does.
func TestNvimUndoneAcceptStaysUndone(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		before, after := world.Numbered(12, nil), world.Numbered(12, map[int]string{5: "agent 5\n"})
		w := world.New(t)
		w.PutAll(world.Tree{"f": before, "g": before})
		w.Plays(world.Changing(world.Tree{"f": before, "g": before}, world.Tree{"f": after, "g": after})...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, review = { after_decide = 'stay' } }", "-o", "f", "g")
		n.turn("do it")
		both := func(text string, hunks int) {
			n.t.Helper()
			n.agree(e, "f", text, hunks)
			n.agree(e, "g", text, hunks)
		}
		both(after, 1)
		n.ex("Cursord accept all")
		both(after, 0)
		n.keys("u")
		both(after, 1)
		n.keys("<C-r>")
		both(after, 0)
		n.keys("u")
		both(after, 1)
		n.ex("Cursord reject all")
		n.decided()
		both(before, 0)
		n.ex("Cursord undo")
		both(after, 1)
		n.lua("vim.cmd('wincmd j') vim.fn.append('$', 'mine') vim.cmd('silent write')")
		n.agree(e, "g", after+"mine\n", 1)
		n.decided()
		n.agree(e, "f", after, 1)
		n.quiet()
	})
}

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNvimIsolated reviews what an agent did in a copy of the workspace: the files, and the buffers, stay as they are until
// something is accepted, and what is accepted is an edit where the buffer has changes.
func TestNvimIsolated(t *testing.T) {
	eachNvim(t, func(t *testing.T, bin string) {
		w := newWorld(t)
		before := numbered(30, nil)
		change := func(lines map[int]string) string { return numbered(30, lines) }
		all := map[int]string{5: "agent 5a\nagent 5b\n", 15: "", 25: "line 25\nagent 25\n"}
		w.putAll(tree{"f": before, "gone": "was\nhere\n"})
		w.plays(lines(edits("1", "f", before, change(all)), edits("2", "new", "(absent)", "a\nb\n"), deletes("3", "gone", "was\nhere\n"))...)
		w.start()
		e := w.opens()
		s := e.isolates()
		n := w.neovim(t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", before, 3)
		n.untilRows("f", 5, 15, 26)
		require.Equal(t, change(all), w.copied(s, "f"))
		require.Equal(t, "(absent)", w.get("new"))
		screen := n.screen()
		for _, part := range []string{"┃ line 5\n  agent 5a\n  agent 5b\n", "▔ line 15\n", "\n  agent 25\n"} {
			require.Contains(t, screen, part)
		}
		require.Equal(t, "DiffDelete", n.lua(`local ns = vim.api.nvim_get_namespaces().cursord
			local mark = vim.api.nvim_buf_get_extmarks(0, ns, { 4, 0 }, { 4, -1 }, { details = true })[1]
			return vim.api.nvim_get_hl(0, { name = mark[4].line_hl_group }).link`), "what is to go is here")

		// Accepted, it is in the file, and "u" takes that back.
		accepted := change(map[int]string{5: all[5]})
		n.keys("5G")
		n.ex("Cursord accept")
		n.agree(e, "f", accepted, 2)
		n.until("the next hunk", "return vim.fn.line('.') == 16")
		n.keys("u")
		n.agree(e, "f", before, 3)
		n.keys("5G")
		n.ex("Cursord accept")
		n.agree(e, "f", accepted, 2)
		n.ex("Cursord undo")
		n.agree(e, "f", before, 3)
		n.ex("Cursord redo")
		n.agree(e, "f", accepted, 2)
		// Rejected, it is in the copy no more.
		n.keys("16G")
		n.ex("Cursord reject")
		n.agree(e, "f", accepted, 1)
		require.Equal(t, change(map[int]string{5: all[5], 25: all[25]}), w.copied(s, "f"))

		// In a buffer with changes it is an edit, which reaches the disk when that is saved.
		n.keys("ggOmine<Esc>")
		n.untilRows("f", 28)
		n.lua("vim.cmd('28Cursord accept')")
		want := "mine\n" + change(map[int]string{5: all[5], 25: all[25]})
		n.untilText("f", want)
		n.hunksOf("f", 0)
		require.Equal(t, accepted, w.get("f"), "nothing is written")
		n.ex("write")
		n.agree(e, "f", want, 0)
		n.poll("the copy has what was typed", func() bool { return w.copied(s, "f") == want })

		// Files that come and go.
		n.ex("Cursord review")
		n.untilScreen("gone|1| deleted (+0 -2)")
		n.untilScreen("new|1| created (+2 -0)")
		n.ex("Cursord next")
		require.Equal(t, w.path("gone"), n.lua("return vim.api.nvim_buf_get_name(0)"))
		n.hunksOf("gone", 1)
		n.ex("Cursord diff")
		n.until("what it would be", "vim.cmd('wincmd l') return vim.fn.line('$') == 1 and vim.api.nvim_buf_get_name(0):find('cursord://copy/gone', 1, true) ~= nil")
		n.ex("tabclose")
		n.ex("wincmd b")
		n.keys("Ga")
		n.poll("the new file", func() bool { return w.get("new") == "a\nb\n" })
		n.keys("1Gr")
		n.poll("nothing is left", func() bool { return len(e.diffs()) == 0 })
		require.Equal(t, "was\nhere\n", w.get("gone"))
		n.quiet()
	})
}

//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimIsolated reviews an agent's work in a copy of the workspace. Files and buffers stay until a hunk is accepted; in a
// buffer with changes an accept is an edit.
func TestNvimIsolated(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(30, nil)
		change := func(lines map[int]string) string { return world.Numbered(30, lines) }
		all := map[int]string{5: "agent 5a\nagent 5b\n", 15: "", 25: "line 25\nagent 25\n"}
		w.PutAll(world.Tree{"f": before, "gone": "was\nhere\n"})
		w.Plays(world.Lines(world.Edits("1", "f", before, change(all)), world.Edits("2", "new", "(absent)", "a\nb\n"), world.Deletes("3", "gone", "was\nhere\n"))...)
		w.Start()
		e := w.Opens()
		s := e.Isolates()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", before, 3)
		n.untilRows("f", 5, 15, 26)
		require.Equal(t, change(all), w.Copied(s, "f"))
		require.Equal(t, "(absent)", w.Get("new"))
		screen := n.screen()
		for _, part := range []string{"┃ line 5\n  agent 5a\n  agent 5b\n", "▔ line 15\n", "\n  agent 25\n"} {
			require.Contains(t, screen, part)
		}
		n.lua("vim.o.termguicolors = true")
		require.Equal(t, n.ground("CursordDelete"), strings.Fields(n.cell("line 5"))[2], "what is to go is here")
		require.Equal(t, n.ground("CursordAdd"), strings.Fields(n.cell("agent 5a"))[2], "what is to come is below")

		// An accept writes the file, and "u" takes it back.
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
		// A reject drops the hunk from the copy.
		n.keys("16G")
		n.ex("Cursord reject")
		n.agree(e, "f", accepted, 1)
		require.Equal(t, change(map[int]string{5: all[5], 25: all[25]}), w.Copied(s, "f"))

		// In a buffer with changes an accept is an edit, which reaches the disk with a save.
		n.keys("ggOmine<Esc>")
		n.untilRows("f", 28)
		n.lua("vim.cmd('28Cursord accept')")
		want := "mine\n" + change(map[int]string{5: all[5], 25: all[25]})
		n.untilText("f", want)
		n.hunksOf("f", 0)
		require.Equal(t, accepted, w.Get("f"), "nothing is written")
		n.ex("write")
		n.agree(e, "f", want, 0)
		n.poll("the copy has what was typed", func() bool { return w.Copied(s, "f") == want })

		// Created and deleted files.
		n.ex("Cursord review")
		n.untilScreen("gone|1| deleted (+0 -2)")
		n.untilScreen("new|1| created (+2 -0)")
		n.ex("Cursord next")
		require.Equal(t, w.Path("gone"), n.lua("return vim.api.nvim_buf_get_name(0)"))
		n.hunksOf("gone", 1)
		n.ex("Cursord diff")
		n.until("what it would be", "vim.cmd('wincmd l') return vim.fn.line('$') == 1 and vim.api.nvim_buf_get_name(0):find('cursord://copy/gone', 1, true) ~= nil")
		n.ex("tabclose")
		n.ex("wincmd b")
		n.keys("Ga")
		n.poll("the new file", func() bool { return w.Get("new") == "a\nb\n" })
		n.keys("1Gr")
		n.poll("nothing is left", func() bool { return len(e.Diffs()) == 0 })
		require.Equal(t, "was\nhere\n", w.Get("gone"))
		n.quiet()
	})
}

// TestNvimChoosesIsolation begins sessions in a copy and in the workspace, by command and by setting.
func TestNvimChoosesIsolation(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "text\n")
		w.Start()
		e := w.Joins()
		n := neovim(w, t, bin, picks+"\nvim.g.cursord = { isolation = 'none', chat = { open_on_ask = false } }", "f")
		say := func(text string) {
			n.t.Helper()
			n.hears(text)
		}
		sessions := func() (list []string) {
			var out struct {
				Sessions []struct{ Title, Isolation string }
			}
			e.Must("session/list", world.Obj{"workspace": w.Root}, &out)
			for _, s := range out.Sessions {
				list = append(list, s.Title+" "+s.Isolation)
			}
			return list
		}
		// A prompt that was not sent makes no session.
		n.ex("Cursord ask refused")
		n.until("the question", "return shown[1] and shown[1].prompt:find('May the agent', 1, true) ~= nil")
		n.poll("no session", func() bool { return len(sessions()) == 0 })
		e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)

		n.ex("Cursord ask first")
		say("cursord: done")
		require.Equal(t, []string{"first none"}, sessions())
		n.lua("pick = 'in a copy'")
		n.ex("Cursord isolation")
		say("cursord: in a copy of the workspace, from the next session on")
		require.Equal(t, []any{"in a copy of the workspace", "in the workspace itself"}, n.lua("return shown[#shown].lines"))
		n.keys(":Cursord chat<CR>")
		n.untilScreen(" in a copy")
		n.keys("<Esc>:Cursord chat<CR>")
		n.lua("said = {}")
		// Both prompts go to the one session that is made.
		n.lua("vim.cmd('Cursord ask second | third') vim.cmd('Cursord ask fourth')")
		n.until("both ends", "return #said == 2 and said[2].text == 'cursord: done'")
		require.Equal(t, []string{"second | third copy", "first none"}, sessions())
		require.NotEqual(t, w.Root, w.Runs()[1].Cwd)
		require.Equal(t, w.Runs()[1].Cwd, w.Runs()[2].Cwd)
		n.ex("Cursord isolation copy")
		say("cursord: in a copy of the workspace, in this session")
		n.lua("pick = 'first'")
		n.ex("Cursord sessions")
		n.until("the choices", "return shown[#shown].prompt == 'Session: '")
		require.Equal(t, "second | third  (2 turns, now, in a copy)", n.lua("return shown[#shown].lines[2]"))
		n.until("the chat", "return vim.bo.filetype == 'cursord_input'")
		n.ex("Cursord isolation none")
		say("cursord: in the workspace itself, in this session")
		require.Equal(t, []any{"copy", "none"}, n.lua("return vim.fn.getcompletion('Cursord isolation ', 'cmdline')"))
		n.quiet()
		n.ex("Cursord isolation nonsense")
		say(`cursord: "nonsense" is neither copy nor none`)
	})
}

// TestNvimAcceptsAsEdited edits the text of a copy in the diff tab, and accepts it by ":write".
func TestNvimAcceptsAsEdited(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(30, nil)
		change := func(lines map[int]string) string { return world.Numbered(30, lines) }
		all := map[int]string{5: "agent 5\n", 15: "", 25: "line 25\nagent 25\n"}
		w.PutAll(world.Tree{"f": before, "g": "one\ntwo\n", "gone": "was\nhere\n"})
		w.Plays(world.Lines(world.Edits("1", "f", before, change(all)), world.Edits("2", "g", "one\ntwo\n", "one\n2\n"), world.Edits("3", "new", "(absent)", "a\nb\n"), world.Deletes("4", "gone", "was\nhere\n"))...)
		w.Start()
		e := w.Opens()
		e.Isolates()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", before, 3)
		n.ex("Cursord diff | wincmd l")
		require.Equal(t, change(all), n.text())
		// Another program changes the file: the edited text stays, and ":write" says why it fails.
		n.keys("5Gccmine 5<Esc>")
		n.until("it is typed", "return vim.api.nvim_get_current_line() == 'mine 5'")
		n.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('^f$'), 0, 1, false, { 'first' })")
		n.ex("silent! write")
		n.hears("cursord: the file has changed; \":edit!\" shows its new state")
		require.Equal(t, true, n.lua("return vim.bo.modified"))
		require.Equal(t, "mine 5", n.lua("return vim.fn.getline(5)"))
		n.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('^f$'), 0, 1, false, { 'line 1' }) vim.bo[vim.fn.bufnr('^f$')].modified = false")
		n.hunksOf("f", 3)

		edited := change(map[int]string{5: "mine 5\n", 15: "", 25: "line 25\nagent 25\nmine 25\n"})
		n.keys("25Gomine 25<Esc>")
		n.until("it is typed", "return vim.api.nvim_get_current_line() == 'mine 25'")
		require.Equal(t, edited, n.text())
		n.lua("said = {}")
		n.keys(":wq<CR>")
		n.agree(e, "f", edited, 0)
		n.until("its window is closed", "return #vim.api.nvim_tabpage_list_wins(0) == 1")
		n.ex("tabclose!")
		// The first "u" takes the person's edit back, the second one the decision.
		n.keys("u")
		n.untilText("f", change(all))
		n.keys("u")
		n.untilText("f", before)
		n.ex("silent! edit!")

		// Unedited; in a buffer with changes; a created file; a deleted one.
		n.ex("edit g")
		n.hunksOf("g", 1)
		n.keys("ggOmine<Esc>")
		n.untilText("g", "mine\none\ntwo\n")
		n.untilRows("g", 3)
		n.ex("Cursord diff | wincmd l")
		n.poll("the agent's side", func() bool { return n.text() == "mine\none\n2\n" })
		n.keys("3Gccedited<Esc>:silent! w<CR>")
		n.hears("cursord: the file has unsaved changes; write it first")
		n.ex("wincmd h | write | wincmd l")
		n.lua("said = {}")
		n.ex("write")
		n.agree(e, "g", "mine\none\nedited\n", 0)
		n.ex("edit new")
		n.hunksOf("new", 1)
		n.ex("Cursord diff | wincmd l")
		n.keys("Goc<Esc>:w<CR>")
		n.agree(e, "new", "a\nb\nc\n", 0)
		n.ex("tabclose")
		n.ex("edit gone")
		n.ex("Cursord diff | wincmd l | write")
		n.poll("it is gone", func() bool { return w.Get("gone") == "(absent)" })
		n.quiet()
	})
}

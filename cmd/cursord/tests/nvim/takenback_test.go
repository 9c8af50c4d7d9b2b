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

// TestNvimKeepsATakenBackPromptWithItsSession: a prompt that was taken back and not sent waits for its session, also in the next Neovim. Once
// it was in the input of whatever session the chat showed.
func TestNvimKeepsATakenBackPromptWithItsSession(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Done)
		first := e.Turn(world.Obj{"prompt": "the first prompt"}).SessionID
		input := func(n *nvim, what, text string) {
			n.t.Helper()
			n.until(what, "return vim.bo.filetype == 'cursord_input' and table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') == ...", text)
		}
		n := neovim(w, t, bin, "", "f")
		n.ex("Cursord resume")
		input(n, "the input", "")
		n.keys("my draft<Esc>:Cursord edit<CR>")
		n.untilScreen("No file will change.")
		n.keys("y")
		input(n, "the prompt", "the first prompt")
		n.keys(" again<Esc>:Cursord chat!<CR>")
		input(n, "the draft, for a new session", "my draft")
		n.keys("<Esc>:Cursord resume<CR>")
		input(n, "the prompt as it was left", "the first prompt again")
		n.quits()

		second := e.Turn(world.Obj{"prompt": "q1"}).SessionID
		n = neovim(w, t, bin, "", "f")
		n.ex("Cursord chat")
		n.untilScreen("q1")
		input(n, "the draft, in the other session", "my draft")
		n.keys("<Esc>:Cursord fork<CR>")
		n.until("the fork", "local ws = require('cursord.workspace').find() return ws.current ~= nil and ws.current ~= ...", second)
		input(n, "the draft, in a fork", "my draft")
		n.lua("local ws = require('cursord.workspace').find() require('cursord.chat').switch(ws, { id = ... })", first)
		input(n, "the prompt, in its session", "the first prompt again")
		n.quits()
		n = neovim(w, t, bin, "", "f")
		n.ex("Cursord chat")
		input(n, "nothing is lost by the next end", "my draft")
	})
}

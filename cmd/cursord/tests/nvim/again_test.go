//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimAsksAgainWithTheTranscript has the agent lose the chat. The transcript names a key, which asks the prompt once more; the agent
// then gets what was said before. Elsewhere the key asks nothing.
func TestNvimAsksAgainWithTheTranscript(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\ntwo\nthree\n"})
		w.Plays(`{"fake":"begin"}`, `{"fake":"say","text":"The word is plum."}`, `{"fake":"finish"}`)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "", "f")
		n.turn("remember the word")
		w.Plays(`{"type":"system","subtype":"init","session_id":"another","model":"m"}`, world.Done)
		n.lua("said = {}")
		n.ex("1,2Cursord ask which word")
		n.until("its end", "return said[1] ~= nil")
		n.until("the notice", "local t = (function() "+transcript+" end)() return t and t:find('press R here: that asks your prompt again', 1, true) ~= nil")
		n.lua(`for _, win in ipairs(vim.api.nvim_list_wins()) do
			if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == 'cursord_chat' then
				vim.api.nvim_set_current_win(win)
			end
		end`)
		n.keys("R")
		n.poll("the third turn", func() bool { return len(w.Runs()) == 3 })
		last := w.Runs()[2]
		require.True(t, strings.HasSuffix(strings.TrimSpace(last.Prompt), "which word"), last.Prompt)
		require.Contains(t, last.Prompt, "The word is plum.")
		require.Contains(t, last.Prompt, "</transcript>\n<selection path=\"f\" lines=\"1-2\">\none\ntwo\n</selection>\n</context>")
		n.until("its end", "return #require('cursord.workspace').find():busy() == 0")
		n.lua("said = {}")
		n.keys("R")
		n.hears("the agent knows this chat")
		require.Len(t, w.Runs(), 3)
	})
}

// TestNvimEditKeepsTheSelection: what went with a prompt goes along again when it is edited.
func TestNvimEditKeepsTheSelection(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\ntwo\nthree\n"})
		w.Start()
		w.Trusts()
		w.Opens()
		n := neovim(w, t, bin, `vim.g.cursord = { notify = { progress = false } }`, "f")
		w.Plays(world.Streams("Nothing."), world.Done)
		n.keys("Vj:Cursord ask what is wrong in @f<CR>")
		n.untilScreen("Nothing.")
		n.until("it is idle", "return #require('cursord.workspace').find():busy() == 0")
		n.keys(":Cursord edit<CR>")
		n.untilScreen("No file will change.")
		n.keys("y")
		n.until("the prompt is in the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_current_line() == 'what is wrong in @f'")
		n.poll("what goes along", func() bool { return strings.Contains(n.messages(), "with the prompt goes again: f;") })
		w.Plays(world.Streams("Nothing at all."), world.Done)
		n.keys("<C-s>")
		n.untilScreen("Nothing at all.")
		require.Equal(t, "<context>\n<file path=\"f\" />\n<selection path=\"f\" lines=\"1-2\">\none\ntwo\n</selection>\n</context>\n\nwhat is wrong in @f",
			strings.TrimSpace(w.Prompted()))
		n.quiet()
	})
}

// TestNvimWhyOfOtherLines: a range is answered while the float of another line is open, and only the same question again goes into
// the float.
func TestNvimWhyOfOtherLines(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\ntwo\nthree\nfour\n"})
		w.Start()
		w.Trusts()
		w.Opens()
		n := neovim(w, t, bin, "", "f")
		n.keys(":Cursord why<CR>")
		n.untilScreen("│line 1 ")
		n.keys(":2,4Cursord why<CR>")
		n.untilScreen("│lines 2–4 ")
		n.until("the cursor is in the file", "return vim.api.nvim_win_get_config(0).relative == ''")
		n.keys(":2,4Cursord why<CR>")
		n.until("the cursor is in the float", "return vim.api.nvim_win_get_config(0).relative ~= ''")
		n.quiet()
	})
}

// TestNvimWhyOfMovedLines finds lines that have moved in the unsaved text, but none that others have the text of.
func TestNvimWhyOfMovedLines(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\ntwo\nthree\nfour\nfive\n"})
		w.Start()
		w.Trusts()
		w.Plays(append(world.Edits("1", "f", "one\ntwo\nthree\nfour\nfive\n", "one\ntwo\nlime\nplum\nfive\n"), world.Done)...)
		e := w.Opens()
		e.Turn(world.Obj{"prompt": "fruit"})
		e.Decides("diff/accept", world.Obj{"all": true})
		n := neovim(w, t, bin, "", "f")
		n.keys("3G:m$<CR>:m0<CR>:Cursord why<CR>")
		n.untilScreen("│fruit")
		n.keys("j:2,$Cursord why<CR>")
		n.untilScreen("│line 4 ")
		require.Contains(t, n.screen(), "│lines 2–3, 5 ")
		require.NotContains(t, n.screen(), "not saved")
		n.keys("ggyyPp:1Cursord why<CR>")
		n.untilScreen("not saved: only this buffer has it")
		n.quiet()
	})
}

//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimKeysOfTheChat uses the keys of the transcript and of the input.
func TestNvimKeysOfTheChat(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("lib/a.go", world.Numbered(30, nil))
		w.Plays(world.Streams("See `lib/a.go:12`, and:\n\n```go\none\n\ntwo\n```\n"), world.Done)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.g.cursord = { notify = { progress = false } }", "lib/a.go")
		n.keys(":Cursord chat<CR>")
		n.until("the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_mode().mode == 'i'")
		n.untilScreen("│Ask the agent; <C-s> sends, @ adds files")
		n.untilScreen(" Cursor: new session")
		require.Contains(t, n.screen(), " Cursor: input")
		require.NotContains(t, n.screen(), "cursord://")
		n.keys("first<C-s>")
		n.until("the end of the turn", "return #said == 1")
		n.keys("second<C-s>")
		n.until("the end of the turn", "return #said == 2")
		n.untilScreen(" Cursor: first")
		line := func(want string) {
			n.t.Helper()
			n.until("the line "+want, "return vim.api.nvim_get_current_line() == ...", want)
		}
		n.keys("draft<Up>")
		line("second")
		require.NotContains(t, n.screen(), "Ask the agent")
		n.keys("<Up>")
		line("first")
		n.keys("<Up><Down><Down>")
		line("draft")
		n.keys("<C-u><Esc>")
		n.untilScreen("│Ask the agent; <CR> sends, g? shows keys")

		// A window below leaves the input its height, and its end leads back to the input.
		for range 3 {
			n.keys(":Cursord messages<CR>")
			n.until("the messages", "return vim.bo.buftype == 'nofile' and vim.bo.filetype == ''")
			n.keys(":q<CR>")
			n.until("the input, as high as it was", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_win_get_height(0) == 6")
		}
		n.lua("vim.api.nvim_create_autocmd('WinResized', { callback = function() vim.g.resized = vim.api.nvim_win_get_height(0) end })")
		n.keys(":resize 8<CR>")
		n.until("the plugin knows the person's height", "return vim.g.resized == 8")
		n.keys(":Cursord messages<CR>:q<CR>")
		n.until("the person's height", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_win_get_height(0) == 8")
		n.keys(":resize 6<CR>")

		n.keys("<C-w>k")
		n.until("the transcript", "return vim.bo.filetype == 'cursord_chat'")
		n.keys("gg")
		at := func(want float64) {
			n.t.Helper()
			n.until("its line", "return vim.fn.line('.') == ...", want)
		}
		second := float64(strings.Count(n.text()[:strings.Index(n.text(), "## You\n\nsecond")], "\n") + 1)
		n.keys("]]")
		at(second)
		n.keys("[[")
		at(1)
		n.keys("/^two<CR>gy")
		n.until("the block", `return vim.fn.getreg('"') == 'one\n\ntwo\n'`)
		n.keys("g?")
		n.untilScreen("yank the block of code")
		for _, key := range []string{"q", "<Esc>"} { // closes the list, and not the chat
			n.keys(key)
			n.poll("the list of keys is closed", func() bool { return !strings.Contains(n.screen(), "yank the block") })
			require.Equal(t, "cursord_chat", n.lua("return vim.bo.filetype"))
			n.keys("g?")
			n.untilScreen("yank the block of code")
		}
		n.keys("q")
		n.keys("gg/lib.a.go:12<CR>gd")
		n.until("the file", "return vim.fn.expand('%') == 'lib/a.go' and vim.fn.line('.') == 12")
		n.keys("<C-w>l")
		n.until("the transcript", "return vim.bo.filetype == 'cursord_chat'")
		n.keys("q")
		n.until("it is closed", "return vim.bo.filetype ~= 'cursord_chat' and vim.fn.win_findbuf(vim.fn.bufnr('lib/a.go'))[1] == vim.api.nvim_get_current_win()")

		// <C-c> ends the turn.
		w.Plays(world.Streams("I wait."), world.Waits("never"), world.Done)
		n.ex("Cursord ask wait")
		n.untilScreen("I wait.")
		n.keys(":Cursord chat<CR>:Cursord chat<CR>")
		n.until("the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_mode().mode == 'i'")
		n.keys("<Esc>")
		n.until("normal mode", "return vim.api.nvim_get_mode().mode == 'n'")
		n.keys("<C-c>") // <C-c> would drop keys that are typed ahead
		n.hears("cursord: the turn was cancelled")
	})
}

// TestNvimKeysStayOverAListThatChanges: the float with the keys is closed by a move of the cursor, and not by a list that is written again. Once
// it was gone when the list came from the daemon after it.
func TestNvimKeysStayOverAListThatChanges(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Done)
		session := e.Turn(world.Obj{"prompt": "the first title"}).SessionID
		n := neovim(w, t, bin, "", "f")
		n.ex("Cursord sessions!")
		n.untilScreen("the first title")
		n.keys("g?")
		n.untilScreen("these keys")
		for _, title := range []string{"another", "a third"} {
			e.Must("session/update", world.Obj{"sessionId": session, "title": title}, nil)
			n.until("the title", "return vim.fn.search(..., 'nw') > 0", title)
			n.untilScreen("these keys")
		}
		n.keys("l")
		n.until("it is closed", "return #vim.api.nvim_list_wins() == 2")
		n.quiet()
	})
}

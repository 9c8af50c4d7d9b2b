//go:build unix

package nvim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimForkAndSearch forks the chat's session and one of the list, sees them as a tree, and goes to a place that a search
// has found.
func TestNvimForkAndSearch(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("The scheduler loses a wakeup."), world.Done)
		first := e.Turn(world.Obj{"prompt": "why does it hang"})
		w.Plays(world.Streams("Nothing."), world.Done)
		e.Turn(world.Obj{"prompt": "something else"})
		n := neovim(w, t, bin, `vim.o.columns = 100 vim.g.cursord = { notify = { progress = false } }`, "f")
		n.ex("Cursord sessions!")
		n.untilScreen("why does it hang")
		n.keys("/hang<CR>F")
		n.until("the chat of the fork", "return vim.bo.filetype == 'cursord_input'")
		n.untilScreen("The scheduler loses a wakeup.")
		n.ex("Cursord fork")
		n.until("two forks", `local list
			require('cursord.rpc').request('session/list', vim.empty_dict(), function(_, r) list = r end)
			return vim.wait(1000, function() return list ~= nil end) and #list.sessions == 4`)
		n.untilScreen("why does it hang (fork 2)")
		n.ex("stopinsert | Cursord chat")
		n.until("it is closed", "return #vim.api.nvim_list_wins() == 1 and vim.api.nvim_get_mode().mode == 'n'")
		n.ex("Cursord sessions!")
		n.untilScreen("└ why does it hang (fork)")
		n.untilScreen("  └ why does it hang (fork 2)")
		n.keys("q")

		n.ex("Cursord search LOSES sched")
		n.untilScreen("The scheduler loses a wakeup.")
		require.EqualValues(t, 1, n.lua("return vim.api.nvim_buf_line_count(0)"), "the answer, without its copies in both forks")
		n.keys("G")
		n.untilScreen("why does it hang: The scheduler")
		n.keys("<CR>")
		n.until("the place in the chat of the session", "return vim.bo.filetype == 'cursord_chat' and vim.api.nvim_get_current_line() == 'The scheduler loses a wakeup.'")
		n.until("its session", "return require('cursord.workspace').open_root(vim.b.cursord_root).current ~= nil")
		require.NotEmpty(t, first.SessionID)
		n.ex("Cursord search nowhere")
		n.poll("a message", func() bool { return strings.Contains(n.messages(), "no session has nowhere") })
	})
}

// TestNvimGoesToTheMatch: Enter in the list of a search shows the place that was found, also one that is read first, in the one
// chat of the tab page.
func TestNvimGoesToTheMatch(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("Here."), world.Done)
		e.Turn(world.Obj{"prompt": "what is here"})
		other := w.Folder("other")
		e.Trusts(other)
		var script []string
		for i := range 400 {
			id := fmt.Sprint(i)
			script = append(script, world.Streams("Text.\n\nIt has lime"+id+".\n\nMore."), world.Started(id, world.ReadArgs), world.Completed(id, world.ReadDone))
		}
		w.Plays(append(script, world.Done)...)
		var begun struct {
			Turn struct{ ID, SessionID string }
		}
		e.Must("turn/start", world.Obj{"workspace": other, "prompt": "say much"}, &begun)
		e.Must("turn/wait", world.Obj{"turnId": begun.Turn.ID}, nil)
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 100, 30 vim.g.cursord = { notify = { progress = false } }`, "f")
		n.ex("Cursord chat")
		n.untilScreen("Here.")
		n.keys("<Esc>:Cursord search lime123<CR>")
		n.untilScreen("It has lime123.")
		n.keys("<CR>")
		n.until("the place", "return vim.bo.filetype == 'cursord_chat' and vim.api.nvim_get_current_line() == 'It has lime123.'")
		n.untilScreen("It has lime123.")
		require.EqualValues(t, 3, n.lua("return #vim.api.nvim_tabpage_list_wins(0)"), "the chat of the other folder is closed")
		n.until("it has room", "return vim.api.nvim_win_get_width(0) > 30")
		n.ex("Cursord search much")
		n.untilScreen("prompt   say much")
		n.keys("/prompt<CR><CR>")
		n.until("the prompt", "return vim.api.nvim_get_current_line() == 'say much'")
		n.quiet()
	})
}

//go:build unix

package nvim

import (
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
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\n"})
		w.Start()
		w.Trusts()
		e := w.Opens()
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
		n.until("the chat of the session", "return vim.bo.filetype == 'cursord_input'")
		n.until("its session", "return require('cursord.workspace').open_root(vim.b.cursord_root).current ~= nil")
		require.NotEmpty(t, first.SessionID)
		n.ex("Cursord search nowhere")
		n.poll("a message", func() bool { return strings.Contains(n.messages(), "no session has nowhere") })
	})
}

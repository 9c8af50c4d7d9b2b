//go:build unix

package nvim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
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

// forksOf returns the number of turns and the isolation of each session that was forked from one, the oldest first.
func forksOf(e *world.Editor, session string) (all []string) {
	var list struct{ Sessions []*sessions.Session }
	e.Must("session/list", world.Obj{}, &list)
	for _, s := range slices.Backward(list.Sessions) {
		if s.ForkedFrom != nil && s.ForkedFrom.SessionID == session {
			all = append(all, fmt.Sprint(s.Turns, " ", s.Isolation))
		}
	}
	return all
}

// TestNvimForksAtATurn: F and C in the transcript, the map and the command begin a session that ends with the turn under the cursor, and C
// and "copy" one whose agent works in a copy; elsewhere all turns go along, but for one that runs.
func TestNvimForksAtATurn(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("The first answer."), world.Done)
		first := e.Turn(world.Obj{"prompt": "first"})
		w.Plays(world.Streams("The second answer."), world.Done)
		e.Turn(world.Obj{"prompt": "second", "sessionId": first.SessionID})
		w.Plays(world.Streams("The third answer."), world.Done)
		e.Turn(world.Obj{"prompt": "third", "sessionId": first.SessionID})
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 80, 30
			vim.keymap.set('n', 'gF', '<Plug>(cursord-fork)')
			vim.g.cursord = { notify = { progress = false } }`, "f")
		var forks []string
		forked := func(fork string) {
			t.Helper()
			forks = append(forks, fork)
			n.poll("the fork: "+fork, func() bool { return slices.Equal(forks, forksOf(e, first.SessionID)) })
			n.until("the cursor is in its input, in Insert mode", `local ws = require('cursord.workspace').find()
				return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_mode().mode == 'i' and ws.current ~= ...`, first.SessionID)
		}
		back := func() {
			t.Helper()
			n.lua("vim.cmd.stopinsert() require('cursord.chat').switch(require('cursord.workspace').find(), { id = ... })", first.SessionID)
			n.until("Normal mode", "return vim.api.nvim_get_mode().mode == 'n'")
			n.untilScreen("The third answer.")
		}
		n.ex("Cursord resume")
		n.untilScreen("The third answer.")
		n.keys("<Esc><C-w>k/second answer<CR>g?")
		n.untilScreen("fork at this turn")
		n.untilScreen("fork at it, in a copy")
		n.keys("qF")
		forked("2 none")
		n.untilScreen("The second answer.")
		n.until("its transcript ends with the turn", "return vim.fn.search('third', 'nw') == 0")
		back()
		n.keys("<C-w>k/first answer<CR>C")
		forked("1 copy")
		n.untilScreen("in a copy")
		back()
		n.keys("<C-w>k/second answer<CR>gF")
		forked("2 none")
		back()
		n.keys("<C-w>k/first answer<CR>:Cursord fork copy<CR>")
		forked("1 copy")
		back()
		n.ex("Cursord fork copy") // in the input
		forked("3 copy")
		back()
		w.Plays(world.Streams("I wait."), world.Waits("go on"), world.Done)
		e.Asks(world.Obj{"prompt": "fourth", "sessionId": first.SessionID})
		n.untilScreen("I wait.")
		n.keys("<C-w>k/I wait<CR>F")
		forked("3 none")
		n.quiet()
		n.ex("Cursord fork off")
		n.hears(`"off" is neither copy nor none`)
		w.Put("go on", "")
	})
}

// TestNvimForksWhatASearchHasFound: F and C in the list of a search fork a session at the turn of the place; at its title, the whole of it.
func TestNvimForksWhatASearchHasFound(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("The scheduler loses a wakeup."), world.Done)
		first := e.Turn(world.Obj{"prompt": "why does it hang"})
		w.Plays(world.Streams("Nothing."), world.Done)
		e.Turn(world.Obj{"prompt": "something else", "sessionId": first.SessionID})
		n := neovim(w, t, bin, `vim.o.columns = 100 vim.g.cursord = { notify = { progress = false } }`, "f")
		var forks []string
		forked := func(fork string) {
			t.Helper()
			forks = append(forks, fork)
			n.poll("the fork: "+fork, func() bool { return slices.Equal(forks, forksOf(e, first.SessionID)) })
			n.until("its chat, and no list", "return vim.bo.filetype == 'cursord_input' and #vim.api.nvim_list_wins() == 3")
			n.ex("stopinsert")
		}
		n.ex("Cursord search wakeup")
		n.untilScreen("why does it hang: The scheduler")
		n.keys("F")
		forked("1 none")
		n.ex("Cursord search wakeup")
		n.untilScreen("why does it hang: The scheduler")
		n.keys("C")
		forked("1 copy")
		n.ex("Cursord search hang")
		n.untilScreen("title")
		n.keys("/title .*hang: why<CR>F")
		forked("2 none")
		n.quiet()
	})
}

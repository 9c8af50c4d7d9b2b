//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimDropsRemovedTurns: an open chat loses the turns that a rewind from elsewhere removes, with all of their items and
// without a line too many, and shows the next turn behind what is left.
func TestNvimDropsRemovedTurns(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("The first answer."), world.Done)
		first := e.Turn(world.Obj{"prompt": "first"})
		w.Plays(append(world.Edits("1", "f", "one\n", "two\n"), world.Streams("The second answer."), world.Done)...)
		second := e.Turn(world.Obj{"prompt": "second", "sessionId": first.SessionID})
		w.Plays(world.Streams("The third answer."), world.Done)
		e.Turn(world.Obj{"prompt": "third", "sessionId": first.SessionID})
		n := neovim(w, t, bin, `vim.g.cursord = { notify = { progress = false } }`, "f")
		n.ex("Cursord resume")
		n.untilScreen("The third answer.")
		transcript := func(want string) {
			t.Helper()
			n.until("the transcript is\n"+want, `local shown = require('cursord.transcript').of(select(1, ...))
				return table.concat(vim.api.nvim_buf_get_lines(shown.buf, 0, -1, false), '\n') == select(2, ...)`, first.SessionID, want)
		}
		rewind := func(turn string) {
			t.Helper()
			e.Must("session/rewind", world.Obj{"sessionId": first.SessionID, "turnId": turn}, nil)
		}
		one := "## You\n\nfirst\n\n## Cursor\n\nThe first answer."
		rewind(second.ID)
		transcript(one)
		require.Equal(t, []any{"first"}, n.lua(`return require('cursord.transcript').of(...):prompts()`, first.SessionID))
		w.Plays(world.Streams("Another answer."), world.Done)
		e.Turn(world.Obj{"prompt": "another", "sessionId": first.SessionID})
		transcript(one + "\n\n## You\n\nanother\n\n## Cursor\n\n> a fresh chat has begun, with the transcript of 1 earlier turn as context\n\nAnother answer.")
		rewind(first.ID)
		transcript("")
		w.Plays(world.Streams("Anew."), world.Done)
		e.Turn(world.Obj{"prompt": "anew", "sessionId": first.SessionID})
		transcript("## You\n\nanew\n\n## Cursor\n\nAnew.")
		n.quiet()
	})
}

// TestNvimWhy asks for the prompts of lines: of one that was accepted, of one that nobody has written, of a range with unsaved
// lines above the agent's, and goes from the float to the turn in the chat, at 80 columns and without a prompt to press Enter.
func TestNvimWhy(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\ntwo\nthree\n"})
		w.Plays(append(world.Edits("1", "f", "one\ntwo\nthree\n", "one\n2\nthree\n"), world.Streams("It is 2 now."), world.Done)...)
		first := e.Turn(world.Obj{"prompt": "make two a number"})
		e.Decides("diff/accept", world.Obj{"all": true})
		w.Plays(append(world.Edits("2", "f", "one\n2\nthree\n", "one\n2\n3\n"), world.Streams("It is 3 now."), world.Done)...)
		second := e.Turn(world.Obj{"prompt": "and three"})
		e.Must("session/update", world.Obj{"sessionId": second.SessionID, "title": "numbers"}, nil)
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 80, 24
			vim.notify = builtin_notify
			vim.keymap.set({ 'n', 'x' }, 'gw', '<Plug>(cursord-why)')
			vim.g.cursord = { notify = { progress = false } }`, "f")
		require.NotEqual(t, first.SessionID, second.SessionID)
		waits := func() {
			t.Helper()
			require.Equal(t, map[string]any{"mode": "n", "blocking": false}, n.lua("return vim.api.nvim_get_mode()"))
		}
		n.keys("2Ggw")
		n.untilScreen(`│line 2`)
		n.untilScreen(`│make two a number`)
		n.untilScreen(`│accepted · now · "make two a number"`)
		n.untilScreen("again, then <CR>: its chat")
		n.keys("ggw")
		n.keys("gggw")
		n.untilScreen(`│yours, or older than cursord`)
		waits()

		n.keys("ggOmine<Esc>VGgw")
		n.untilScreen("│line 1 ")
		screen := n.screen()
		for _, part := range []string{"│not saved: only this buffer has it", "│line 2 ", "│line 3 ", "│line 4 ", "│and three ", `│pending · now · "numbers"`} {
			require.Contains(t, screen, part)
		}
		waits()
		n.keys("Ggw")
		n.untilScreen(`│and three`)
		n.keys("gw")
		n.until("the cursor is in the float", "return vim.api.nvim_win_get_config(0).relative ~= ''")
		n.untilScreen("<CR> its chat · q")
		n.keys("<CR>")
		n.until("the turn in the chat", "return vim.bo.filetype == 'cursord_chat' and vim.api.nvim_buf_get_name(0) == 'cursord://chat/' .. ...", second.SessionID)
		n.until("the cursor is on the prompt", "return vim.api.nvim_get_current_line() == '## You'")
		waits()
		n.keys(":Cursord why<CR>")
		n.untilScreen("this buffer has no file of the workspace")
		waits()
		n.quiet()
	})
}

// TestNvimWhyOfACommit asks for a line that a command of the agent has brought by somebody's commit.
func TestNvimWhyOfACommit(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		bob := w.HasBobsBranch()
		w.Start()
		w.Trusts()
		w.Plays(world.Shells("s", "git merge -q bob")...)
		w.Opens().Turn(nil)
		n := neovim(w, t, bin, "vim.o.columns, vim.o.lines = 80, 24", "f")
		n.keys("2G:Cursord why<CR>")
		n.untilScreen("│of commit " + bob[:10] + ",")
		require.Contains(t, n.screen(), "│which an agent's command brought")
		n.quiet()
	})
}

// TestNvimRewind takes turns back from the chat and from the list of sessions. The patch is seen first, Enter is no answer, a line
// that the person has written since stays and is named, and undo brings the files back.
func TestNvimRewind(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\ntwo\nthree\n", "g": "a\n"})
		w.Plays(world.Streams("Hello."), world.Done)
		first := e.Turn(world.Obj{"prompt": "say hello"})
		w.Plays(append(world.Edits("1", "f", "one\ntwo\nthree\n", "one\n2\nthree\n"), world.Streams("It is 2 now."), world.Done)...)
		e.Turn(world.Obj{"prompt": "make two a number", "sessionId": first.SessionID})
		e.Decides("diff/accept", world.Obj{"all": true})
		w.Plays(append(world.Edits("2", "g", "a\n", "b\n"), world.Streams("It is b now."), world.Done)...)
		e.Turn(world.Obj{"prompt": "and a", "sessionId": first.SessionID})
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 80, 30
			vim.notify = builtin_notify
			vim.keymap.set('n', 'gR', '<Plug>(cursord-rewind)')
			vim.g.cursord = { notify = { progress = false } }`, "f", "g")
		waits := func() {
			t.Helper()
			require.Equal(t, map[string]any{"mode": "n", "blocking": false}, n.lua("return vim.api.nvim_get_mode()"))
		}
		n.ex("Cursord resume")
		n.untilScreen("It is b now.")
		n.keys("<Esc><C-w>k/make two<CR>X")
		n.untilScreen(" Take back? ")
		for _, part := range []string{"2 turns will leave the session:", "  make two a number", "  and a", "│-2 ", "│+two ", "│-b ", " y yes · t not the files · q no "} {
			n.untilScreen(part)
		}
		require.Equal(t, []any{"diffOldFile", "diffNewFile", "diffAdded"}, n.lua(`local names = {}
			for i, text in ipairs({ '--- a/f', '+++ b/f', '+two' }) do
				names[i] = vim.fn.synIDattr(vim.fn.synID(vim.fn.search('^' .. text .. '$', 'nw'), 1, 1), 'name')
			end
			return names`), "the names of files are no changed lines")
		n.keys("<CR>")
		n.untilScreen("y takes it back, q leaves it")
		n.untilScreen(" Take back? ")
		n.keys("q")
		n.until("it is closed", "return vim.bo.filetype == 'cursord_chat'")
		require.Equal(t, "one\n2\nthree\n", w.Get("f"))
		waits()

		// Another editor has one of the files unsaved: nothing can be taken back.
		unsaved := e.OpenDocument("g")
		unsaved.Set("b\nmine\n")
		n.keys("X")
		n.untilScreen("g has unsaved changes in an editor")
		require.Equal(t, "b\n", w.Get("g"))
		waits()
		unsaved.Closes()

		// The person writes in the line that would be taken back, and asks again.
		n.lua("vim.cmd('wincmd h | edit f') vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'mine' }) vim.cmd('silent write')")
		n.keys("gR")
		n.untilScreen("1 turn will leave the session:")
		n.keys("q")
		n.until("it is closed", "return vim.bo.filetype ~= 'diff'")
		n.keys("<C-w>l/make two<CR>X")
		n.untilScreen("f (changed since)")
		n.keys("y")
		n.untilScreen("taken back: 2 turns, 1 change; stays: f (change")
		waits()
		n.keys(":Cursord messages<CR>")
		n.untilScreen("stays: f (changed since); :Cursord undo")
		n.keys("q")
		n.poll("g is as before", func() bool { return w.Get("g") == "a\n" })
		require.Equal(t, "one\nmine\nthree\n", w.Get("f"))
		n.poll("the turns are gone", func() bool { return !strings.Contains(n.screen(), "make two") })
		n.untilScreen("Hello.")
		n.lua("vim.cmd('Cursord undo')")
		n.poll("undo brings g back", func() bool { return w.Get("g") == "b\n" })
		n.lua("vim.cmd('Cursord redo')")
		n.poll("redo takes it back again", func() bool { return w.Get("g") == "a\n" })

		n.lua("vim.cmd('Cursord chat')")
		n.until("the chat is closed", "return #vim.api.nvim_list_wins() == 1")
		n.keys(":Cursord sessions!<CR>")
		n.untilScreen("say hello")
		n.keys("X")
		n.untilScreen("No file will change.")
		n.keys("y")
		n.untilScreen("taken back: 1 turn")
		waits()
		n.keys("X")
		n.untilScreen("the session has no turn to take back")
		waits()
		n.quiet()
	})
}

// TestNvimEditsTheLastPrompt has the last prompt in the input again, after its turn was taken back, with the patch first where files
// change; a turn that runs is ended first. A draft is set aside until the prompt is sent. Once both were one prompt.
func TestNvimEditsTheLastPrompt(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(append(world.Edits("1", "f", "one\n", "two\n"), world.Streams("It is two."), world.Done)...)
		first := e.Turn(world.Obj{"prompt": "write two\nplease"})
		e.Decides("diff/accept", world.Obj{"all": true})
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 80, 30
			vim.notify = builtin_notify
			vim.g.cursord = { notify = { progress = false } }`, "f")
		n.ex("Cursord resume")
		n.untilScreen("It is two.")
		n.keys("a draft<Esc><C-w>ke")
		n.untilScreen(" Take back? ")
		n.untilScreen("│-two ")
		n.keys("y")
		n.until("the prompt is in the input", "return vim.bo.filetype == 'cursord_input' and vim.deep_equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), { 'write two', 'please' })")
		require.Equal(t, "one\n", w.Get("f"))
		n.untilText("f", "one\n")
		n.untilScreen("│please\n~                                      │the draft is kept: <Up> shows it\n")
		require.Contains(t, n.messages(), "taken back: 1 turn, 1 change; the draft is kept: <Up> shows it")
		n.keys("<Esc>gg<Up>")
		n.until("the draft", "return vim.api.nvim_get_current_line() == 'a draft'")
		n.keys("<Down>i")
		n.until("the prompt", "return vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'write two' and vim.api.nvim_get_mode().mode == 'i'")
		n.until("the transcript is empty", "return vim.api.nvim_buf_line_count(require('cursord.transcript').of(...).buf) == 1", first.SessionID)
		require.Equal(t, map[string]any{"mode": "i", "blocking": false}, n.lua("return vim.api.nvim_get_mode()"))
		w.Plays(world.Streams("Three then."), world.Done)
		n.keys("<Esc>ggdGithree<C-s>")
		n.untilScreen("Three then.")
		n.until("the draft is back", "return vim.bo.filetype == 'cursord_input' and vim.deep_equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), { 'a draft' })")
		n.keys("<Esc>:%delete<CR>")
		var all struct{ Turns []struct{ Prompt string } }
		e.Must("session/read", world.Obj{"sessionId": first.SessionID}, &all)
		require.Len(t, all.Turns, 1)
		require.Equal(t, "three", all.Turns[0].Prompt)

		// The turn stays until the person says yes, also where no file changes: e is a motion elsewhere.
		n.until("it is idle", "return #require('cursord.workspace').find():busy() == 0")
		n.keys("<Esc><C-w>ke")
		n.untilScreen("No file will change.")
		n.keys("q<C-w>ke")
		n.untilScreen("No file will change.")
		e.Must("session/read", world.Obj{"sessionId": first.SessionID}, &all)
		require.Len(t, all.Turns, 1)
		n.keys("y")
		n.until("the prompt is in the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_current_line() == 'three'")
		w.Plays(world.Streams("I wait."), world.Waits("go"), world.Done)
		n.keys("<C-s>")
		n.untilScreen("I wait.")
		n.keys("<Esc><C-w>ke")
		n.untilScreen("a turn runs or waits here; end it first")
		n.keys(":Cursord steer and quickly<CR>")
		n.untilScreen("the agent takes nothing while it works: this is the next prompt")
		n.until("it waits", "return #require('cursord.workspace').find():busy() == 2")
		n.keys(":Cursord steer and well<CR>")
		n.untilScreen("the agent takes nothing while it works: this waits behind 1 prompt")
		require.Equal(t, map[string]any{"mode": "n", "blocking": false}, n.lua("return vim.api.nvim_get_mode()"))
		n.poll("all turns are over", func() bool {
			n.keys(":Cursord cancel<CR>")
			return n.lua("return #require('cursord.workspace').find():busy() == 0") == true
		})
		n.keys(":Cursord steer too late<CR>")
		n.untilScreen("no turn of the chat runs")
	})
}

// TestNvimSteer adds to a running turn of an agent that takes texts while it works.
func TestNvimSteer(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("../config.toml", "driver = \"acp\"\n")
		w.Put("f", "one\n")
		w.Start("CURSORD_FAKE_BUILD=2026.10.01-e373342")
		w.Trusts()
		w.Plays(`{"fake":"say","text":"Go. "}`, `{"fake":"wait","path":"go"}`, `{"fake":"say","text":"End of {{prompt}}."}`)
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 80, 30
			vim.notify = builtin_notify
			vim.ui.input = function(opts, done) asked = opts.prompt done('and faster') end
			vim.keymap.set('n', 'gs', '<Plug>(cursord-steer)')
			vim.g.cursord = { notify = { progress = false } }`, "f")
		n.ex("Cursord ask begin")
		n.untilScreen("Go.")
		n.keys("gs")
		n.untilScreen("the agent has this with its running turn")
		require.Equal(t, "To the running turn: ", n.lua("return asked"))
		n.untilScreen("Added to this turn: and faster")
		w.Put("go", "")
		n.until("the end", "return #require('cursord.workspace').find():busy() == 0")
	})
}

// TestNvimWhyGoesFar goes from a line to a turn that is pages above the newest items, and says so where the session is deleted.
func TestNvimWhyGoesFar(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(append(world.Edits("1", "f", "one\n", "two\n"), world.Done)...)
		first := e.Turn(world.Obj{"prompt": "the very first"})
		var long []string
		for range 330 {
			long = append(long, world.Thinks("Hm."), world.Streams("So. "))
		}
		w.Plays(append(long, world.Done)...)
		e.Turn(world.Obj{"prompt": "a long one", "sessionId": first.SessionID})
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 80, 30
			vim.keymap.set('n', 'gw', '<Plug>(cursord-why)')
			vim.g.cursord = { notify = { progress = false } }`, "f")
		n.keys("gw")
		n.untilScreen("│the very first")
		n.keys("gw")
		n.untilScreen("<CR> its chat · q")
		n.keys("<CR>")
		n.until("the cursor is on the prompt", "return vim.bo.filetype == 'cursord_chat' and vim.api.nvim_buf_get_lines(0, vim.fn.line('.') + 1, vim.fn.line('.') + 2, false)[1] == 'the very first'")
		require.Greater(t, n.lua("return vim.api.nvim_buf_line_count(0)"), 600.0)
		n.keys("q")
		n.until("the chat is closed", "return vim.fn.expand('%:t') == 'f'")
		n.keys("gw")
		n.untilScreen("│the very first")
		e.Must("session/delete", world.Obj{"sessionId": first.SessionID}, nil)
		n.keys("gw")
		n.untilScreen("<CR> its chat · q")
		n.keys("<CR>")
		n.poll("a message", func() bool { return strings.Contains(n.screen(), "its session was deleted") })
		n.keys("gw")
		n.untilScreen("│pending · now · its session was deleted")
		n.quiet()
	})
}

// TestNvimWhyOfATurnThatIsGone: the float says at once why lines have no prompt, where a rewind was undone that has removed their turn.
func TestNvimWhyOfATurnThatIsGone(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(append(world.Edits("1", "f", "one\n", "two\n"), world.Done)...)
		first := e.Turn(world.Obj{"prompt": "make two"})
		e.Must("session/rewind", world.Obj{"sessionId": first.SessionID, "turnId": first.ID, "files": true}, nil)
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		require.Equal(t, "two\n", w.Get("f"))
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 80, 24 vim.g.cursord = { notify = { progress = false } }`, "f")
		n.keys(":Cursord why<CR>")
		n.untilScreen("│its turn was taken back: a rewind has removed it, with its prompt")
		require.Contains(t, n.screen(), `│pending · now · "make two"`)
		n.quiet()
	})
}

// TestNvimRewindFillsTheWindow: the window of a transcript whose last turn has gone shows as much of the rest as it has room for.
func TestNvimRewindFillsTheWindow(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("The first answer."+strings.Repeat("\n\nMore.", 20)+"\n\nThe end of it."), world.Done)
		first := e.Turn(world.Obj{"prompt": "first"})
		w.Plays(world.Streams("The second answer."+strings.Repeat("\n\nMuch more.", 100)), world.Done)
		e.Turn(world.Obj{"prompt": "second", "sessionId": first.SessionID})
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 100, 24 vim.g.cursord = { notify = { progress = false } }`, "f")
		n.ex("Cursord resume")
		n.untilScreen("Much more.")
		n.keys("<Esc><C-w>k[[ztX")
		n.untilScreen("No file will change.")
		n.keys("y")
		n.untilScreen("The end of it.")
		n.until("the window is full", `local win = vim.fn.bufwinid(require('cursord.transcript').of(...).buf)
			local info = vim.fn.getwininfo(win)[1]
			return info.topline > 1 and info.botline - info.topline + 1 >= info.height - info.winbar`, first.SessionID)
		n.quiet()
	})
}

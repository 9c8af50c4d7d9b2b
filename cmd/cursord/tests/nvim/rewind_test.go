//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimDropsRemovedTurns: an open chat loses the turns that a rewind from elsewhere removes, with all of their items and
// without a line too many, and shows the next turn behind what is left.
func TestNvimDropsRemovedTurns(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\n"})
		w.Start()
		w.Trusts()
		e := w.Opens()
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
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\ntwo\nthree\n"})
		w.Start()
		w.Trusts()
		e := w.Opens()
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

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

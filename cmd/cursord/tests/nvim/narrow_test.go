//go:build unix

package nvim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimSaysWhatMattersFirst has the plugin speak on screens of 80 and of 40 columns. What is cut at the end of the line is the
// less important part, and no text speaks of revisions.
func TestNvimSaysWhatMattersFirst(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		for _, c := range []struct {
			columns                            int
			copied, changed, rejected, stopped string
		}{
			{
				80, "cursord: in a copy of the workspace, from the next session on", "cursord: f has changed; decide again",
				"rejected 1 hunk; none left", "cursord: stopped; the next command starts it",
			},
			{40, "\nin a copy of the workspace,…", "\nf has changed; decide again", "rejected 1 hunk; none left", "\nstopped; the next command s…"},
		} {
			t.Log(c.columns)
			w := world.New(t)
			before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent 5\n"})
			w.Put("f", before)
			w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
			w.Start()
			w.Trusts()
			n := neovim(w, t, bin, fmt.Sprintf(ownNotify, c.columns)+"\nvim.g.cursord = { chat = { open_on_ask = false } }", "f")
			n.keys(":Cursord ask do it<CR>")
			n.untilScreen("1 hunk in 1 file")
			n.keys(":Cursord isolation copy<CR>")
			n.untilScreen(c.copied)
			n.lua(`require('cursord.rpc').say_error({ message = 'f has changed since revision 20', data = { hint = 'look at the present diff and decide again' } })`)
			n.untilScreen(c.changed)
			require.NotContains(t, n.messages(), "revision")
			n.keys(":5Cursord reject<CR>")
			n.untilScreen(c.rejected)
			n.ex("write")
			_, stderr, status := w.Cursord("stop", "--force")
			require.Zero(t, status, stderr)
			n.untilScreen(c.stopped)
			n.kill()
		}
	})
}

// TestNvimNamesTheWayToTheNextHunk ends a turn, and accepts where there is no hunk. The message names what goes to the next one: the person's key,
// else the command.
func TestNvimNamesTheWayToTheNextHunk(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent 5\n"})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.lua("vim.keymap.set('n', '<Space>n', function() end) vim.keymap.set('n', '<Space>h', '<Cmd>Cursord next<CR>')")
		n.turn("do it")
		require.Equal(t, "cursord: 1 hunk in 1 file; <Space>h goes there", n.lua("return said[1].text"))
		n.lua("vim.keymap.del('n', '<Space>h')")
		says := func(command, text string) {
			n.t.Helper()
			n.ex(command)
			n.hears("cursord: " + text)
		}
		says("1 | Cursord accept", "no hunk here; :Cursord next goes to the next one")
		n.lua("vim.keymap.set('n', ']a', '<Plug>(cursord-next)')")
		says("1 | Cursord reject", "no hunk here; ]a goes to the next one")
		says("10,12Cursord reject", "no hunk in these lines; ]a goes to the next one")
		says("1 | Cursord preview", "no hunk here; ]a goes to the next one")
		n.ex("5Cursord accept")
		n.hunksOf("f", 0)
		says("1 | Cursord accept", "no hunk here")
		w.Plays(world.Lines(world.Shells("2", "chmod +x f"))...)
		n.turn("and then")
		n.hears("cursord: 1 hunk in 1 file; :Cursord review goes there")
		says("1 | Cursord accept", "no hunk here; :Cursord review lists those without text")
	})
}

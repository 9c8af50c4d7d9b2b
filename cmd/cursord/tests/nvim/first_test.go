//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimFirstCommand has the first command in Neovim wait until the pending changes are loaded, and then do its work.
func TestNvimFirstCommand(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15\n"})
	cases := []struct{ keys, fits string }{
		{":Cursord next<CR>", "return vim.fn.line('.') == 5"},
		{":Cursord prev<CR>", "return vim.fn.line('.') == 15"},
		{":Cursord review<CR>", "return #vim.fn.getqflist() == 2"},
		{":Cursord diff<CR>", "return #vim.api.nvim_tabpage_list_wins(0) == 2 and vim.wo.diff"},
		{"5G:Cursord preview<CR>", "return #vim.api.nvim_list_wins() == 2"},
		{":5Cursord accept<CR>", "return vim.b.cursord_status_dict and vim.b.cursord_status_dict.pending == 1"},
		{"5Gga", "return vim.b.cursord_status_dict and vim.b.cursord_status_dict.pending == 1 and vim.fn.line('.') == 15"},
		{"5Ggr", "return vim.fn.getline(5) == 'line 5'"},
		{"5GVgr", "return vim.fn.getline(5) == 'line 5'"},
		{"ggOmine<Esc>6G:Cursord reject<CR>", "return vim.fn.getline(6) == 'line 5' and vim.bo.modified"},
		{":Cursord reject! | let g:then = 1<CR>", "return vim.fn.getline(5) == 'line 5' and vim.fn.getline(15) == 'line 15' and vim.g['then'] == 1"},
		{":Cursord accept!<CR>", "return vim.b.cursord_status_dict == nil and vim.fn.screenstring(vim.o.lines, 1) == 'a'"},
	}
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		for _, c := range cases {
			t.Log(c.keys)
			n := neovim(w, t, bin, `vim.g.cursord = { chat = { open_on_ask = false } }
				vim.keymap.set({ 'n', 'x' }, 'ga', '<Plug>(cursord-accept)')
				vim.keymap.set({ 'n', 'x' }, 'gr', '<Plug>(cursord-reject)')`, "f")
			n.keys(c.keys)
			n.until("it is done", c.fits)
			n.quiet()
			require.NotContains(t, n.messages(), "nothing to review")
			n.kill()
			n.poll("the daemon to see that it has ended", func() bool { return e.Status().Clients == 1 }) // until then its unsaved text counts
			for d := e.Diffs()["f"]; d == nil || len(d.Hunks) != 2; d = e.Diffs()["f"] {
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			}
			require.Equal(t, after, w.Get("f"))
		}
	})
}

// TestNvimShowsWhatWasLeft opens a file with pending hunks, with a daemon and without one: they are shown before any
// command. In a folder without hunks nothing is started.
func TestNvimShowsWhatWasLeft(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15\n"})
		w.PutAll(world.Tree{"f": before, ".git/HEAD": "", "../other/f": before, "../other/.git/HEAD": ""})
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		w.Opens().Turn(nil)
		n := neovim(w, t, bin, "", "f")
		n.hunksOf("f", 2)
		n.untilScreen("┃ agent 5")
		n.kill()
		_, stderr, status := w.Cursord("stop", "--force")
		require.Zero(t, status, stderr)

		glanced := `local glance, done = require('cursord.glance'), nil
			return vim.wait(10000, function() return glance.answered() end, 5)`
		n = neovim(w, t, bin, "", w.Path("../other/f"))
		n.until("an answer", glanced)
		require.Equal(t, false, n.lua("return require('cursord.rpc').connected()"))
		out, _, _ := w.Cursord("stop")
		require.Contains(t, out, "no daemon is running", "none was started")
		n.ex("edit " + w.Path("f"))
		n.hunksOf("f", 2)
		n.untilScreen("┃ agent 5")
		n.kill()

		n = neovim(w, t, bin, "vim.g.cursord = { review = { on_open = false } }", "f")
		require.Equal(t, false, n.lua("return require('cursord.rpc').connected()"))
		n.quiet()
	})
}

// TestNvimFollowsAFoldersFirstTurn opens a file before anything is known of its folder. An agent that was started elsewhere then
// changes it: Neovim connects when it gets the focus, when the person pauses, and when the person writes.
func TestNvimFollowsAFoldersFirstTurn(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n"})
	for name, act := range map[string]func(*nvim){
		"focus": func(n *nvim) { n.ex("doautocmd FocusGained") },
		"write": func(n *nvim) { n.ex("write other") },
		"pause": func(n *nvim) {
			n.lua("vim.o.updatetime = 20")
			n.poll("it connects", func() bool {
				n.keys("lh")
				return n.lua("return require('cursord.rpc').connected()") == true
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			anNvim(t, func(t *testing.T, bin string) {
				w := world.New(t)
				w.Put("f", before)
				script := world.Edits("1", "f", before, after)
				w.Plays(world.Lines(script[:1], []string{world.Waits("go")}, script[1:])...)
				w.Start()
				n := neovim(w, t, bin, "", "f")
				n.until("an answer", "return require('cursord.glance').answered()")
				require.Equal(t, false, n.lua("return require('cursord.rpc').connected()"))
				e := w.Opens()
				e.Calls(e.Asks(nil).ID)
				act(n)
				n.until("it connects while the agent works", "return require('cursord.rpc').connected()")
				w.Put("../go", "")
				n.untilText("f", after)
				n.hunksOf("f", 1)
				n.quiet()
			})
		})
	}
}

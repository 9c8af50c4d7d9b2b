//go:build unix

package nvim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// awaitInit has commands say at once that they wait.
const awaitInit = `vim.g.cursord = { chat = { open_on_ask = false } }
	require('cursord.review.await').quietly = 0
	vim.keymap.set({ 'n', 'x' }, 'ga', '<Plug>(cursord-accept)')
	vim.keymap.set({ 'n', 'x' }, 'gr', '<Plug>(cursord-reject)')
	vim.keymap.set('n', ']a', '<Plug>(cursord-next)')`

// holdsACommand waits until a command says that it waits.
func (n *nvim) holdsACommand() {
	n.t.Helper()
	n.until("a command that waits", `for _, one in ipairs(said) do
		if one.text:find('waits for the daemon to place the hunks', 1, true) then return true end
	end`)
}

// TestNvimCommandsWaitForTheDaemon types and then gives commands while the daemon's answers are held back: those of the
// first connection, the first list of hunks, and the answer about a later text. Each command does what it would have done later.
func TestNvimCommandsWaitForTheDaemon(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15\n"})
	without5 := strings.Replace(after, "agent 5\n", "line 5\n", 1)
	cases := []struct{ keys, then, text, fits string }{
		{"]a", "", after, "return vim.fn.line('.') == 6"},
		{"6G:Cursord reject<CR>", "", without5, ""},
		{"6Ggr", "", without5, ""},
		{"6GVgr", "", without5, ""},
		{":6Cursord reject<CR>", "", without5, ""},
		{"6Ggr", "ggOmore<Esc>", "more\nmine\n" + without5, ""},
		{"6Ggr", "G", without5, ""},
		// A command behind one that moves the cursor is about where it goes.
		{"]agr", "", without5, "return vim.fn.line('.') == 16"},
		{"]a]aga", "", after, "return vim.b.cursord_status_dict and vim.b.cursord_status_dict.pending == 1 and vim.fn.line('.') == 16"},
		{":Cursord diff<CR>", "", after, "return #vim.api.nvim_tabpage_list_wins(0) == 2 and vim.wo.diff"},
		{":Cursord accept file<CR>:w<CR>", "", after, "return vim.b.cursord_status_dict == nil"},
		{":Cursord reject!<CR>", "", before, ""},
	}
	for _, held := range []string{"workspace/subscribe", "diff/list", "later"} {
		t.Run(strings.ReplaceAll(held, "/", "-"), func(t *testing.T) {
			t.Parallel()
			anNvim(t, func(t *testing.T, bin string) {
				w := world.New(t)
				w.PutAll(world.Tree{"a": before, "f": before})
				w.Plays(world.Changing(world.Tree{"a": before, "f": before}, world.Tree{"a": after, "f": after})...)
				w.Start()
				e := w.Opens()
				e.Turn(nil)
				for i, c := range cases {
					if held != "later" && !*everyNvim && held == []string{"workspace/subscribe", "diff/list"}[i%2] {
						continue // each of both comes before Neovim has any hunks
					}
					t.Log(c.keys, c.then)
					if held != "later" {
						w.HoldsBack(held)
					} else {
						w.HoldsBack()
					}
					n := neovim(w, t, bin, awaitInit, "f")
					if held == "later" {
						n.hunksOf("f", 2)
						w.HoldsBack("diff/list")
					}
					n.keys("ggOmine<Esc>")
					n.keys(c.keys)
					n.holdsACommand()
					n.keys(c.then)
					w.LetsGo()
					want := c.text
					if c.then == "" || c.then == "G" {
						want = "mine\n" + want
					}
					n.untilText("f", want)
					if c.fits != "" {
						n.until("it is done", c.fits)
					}
					n.decided()
					n.quiet()
					require.NotRegexp(t, "nothing to review|no hunk", n.messages())
					n.kill()
					n.poll("the daemon to see that it has ended", func() bool { return e.Status().Clients == 1 })
					for d := e.Diffs(); d["f"] == nil || d["a"] == nil || len(d["f"].Hunks)+len(d["a"].Hunks) != 4; d = e.Diffs() {
						e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
					}
					w.Put("f", after)
				}
			})
		})
	}
}

// TestNvimCommandsGiveUp holds answers back for longer than commands wait, and breaks the connection while one waits.
func TestNvimCommandsGiveUp(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15\n"})
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		w.Opens().Turn(nil)
		w.HoldsBack("diff/list")
		n := neovim(w, t, bin, awaitInit+"\nrequire('cursord.review.await').most = 0", "f")
		n.keys("ggOmine<Esc>6Ggr")
		n.hears(`cursord: "reject" is not done: no answer from the daemon in 0 s; :checkhealth cursord`)
		require.Equal(t, "mine\n"+after, n.text())
		n.lua("said = {}; require('cursord.review.await').most = 30000")
		n.keys("gr")
		n.holdsACommand()
		n.lua("for _, child in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do vim.uv.kill(child, 'sigkill') end")
		w.LetsGo()
		n.untilText("f", "mine\n"+strings.Replace(after, "agent 5\n", "line 5\n", 1))
		n.decided()
		n.quiet()
		// Another buffer is not what it was meant for.
		w.HoldsBack("diff/list")
		n.lua("said = {}")
		n.keys("Omore<Esc>gr:hide enew<CR>")
		n.holdsACommand()
		w.LetsGo()
		n.hears(`cursord: nothing is done: "reject" was meant for another buffer`)
		require.Equal(t, "\n", n.text(), fmt.Sprint(n.messages()))
	})
}

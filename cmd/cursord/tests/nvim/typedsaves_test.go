//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimSavesDuringACommand types and saves at once while an agent's command runs. The lines are the person's: they are no
// hunks, and a reject of all leaves them.
func TestNvimSavesDuringACommand(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		for _, c := range []struct {
			name, file string
			reviewed   bool // it was under review before
			swap       bool
			unseen     bool // no autocommand reports the save
		}{
			{"a file without hunks", "f", false, false, false},
			{"a file that had hunks", "f", true, false, false},
			{"a new file", "new", false, false, false},
			{"a file without hunks, with a swap file", "f", false, true, false},
			{"a file in another encoding", "latin1", false, false, false},
			{"without autocommands", "f", false, false, true},
			{"without autocommands, a file that had hunks", "f", true, false, true},
		} {
			t.Run(c.name, func(t *testing.T) {
				w := world.New(t)
				w.PutAll(world.Tree{"f": "a\n", "g": "g\n", "latin1": "\xe9\n"})
				w.Start()
				e := w.Opens()
				n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", c.file)
				before := w.Get(c.file)
				if c.swap {
					n.lua("vim.o.updatecount = 200 vim.bo.swapfile = true")
				}
				if c.reviewed {
					w.Plays(world.Lines(world.Edits("e", "f", "a\n", "b\na\n"))...)
					n.turn("edit")
					n.agree(e, "f", "b\na\n", 1)
					n.ex("Cursord accept!")
					n.hunksOf("f", 0)
					before = "b\na\n"
				}
				script := world.Shells("s", "true")
				w.Plays(world.Lines([]string{script[0], world.Execs("echo x >> g; touch ../ready"), world.Waits("go")}, script[1:])...)
				n.ex("Cursord ask do it")
				w.Exists("../ready")
				turn := e.Until("the command", func(n world.Notification) bool {
					return n.Item != nil && n.Item.Tool != nil && n.Item.Tool.CallID == "s"
				}).Item.TurnID
				n.until("the turn", "return #require('cursord.workspace').find():busy() > 0")
				if c.unseen {
					n.keys("Gomine<Esc>:silent noautocmd write<CR>")
					n.until("Neovim has found the save", `local doc = require('cursord.docs').get(vim.api.nvim_get_current_buf())
						return not vim.bo.modified and doc.looked == vim.b.changedtick and doc.saves == vim.fn.undotree().save_last`)
				} else {
					n.keys("Gomine<Esc>:silent write<CR>")
				}
				after := before + "mine\n"
				if c.file == "new" {
					after = "\nmine\n"
				}
				n.poll("the save", func() bool { return w.Get(c.file) == after })
				n.until("the daemon has heard of it", `if vim.bo.modified then return false end
					local heard
					require('cursord.rpc').request('diff/list', { workspace = require('cursord.workspace').find().root }, function() heard = true end)
					return vim.wait(5000, function() return heard end, 1)`)
				w.Put("../go", "")
				e.Ends(turn)
				require.Equal(t, []string{"g"}, world.Sorted(world.Keys(e.Diffs())))
				n.until("Neovim has heard of it", "return require('cursord.workspace').find().diffs['g'] ~= nil")
				n.ex("Cursord reject!")
				n.poll("the reject", func() bool { return w.Get("g") == "g\n" })
				require.Equal(t, after, w.Get(c.file))
			})
		}
	})
}

// TestNvimSaveWithoutTyping reads what a running command has written, and saves it unchanged. It stays the command's.
func TestNvimSaveWithoutTyping(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "a\n")
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		script := world.Shells("s", "true")
		w.Plays(world.Lines([]string{script[0], world.Execs("echo x >> f; touch ../ready"), world.Waits("go")}, script[1:])...)
		n.ex("Cursord ask do it")
		w.Exists("../ready")
		n.until("the turn", "return #require('cursord.workspace').find():busy() > 0")
		n.lua("vim.cmd('silent edit') vim.cmd('silent write')")
		require.Equal(t, "a\nx\n", w.Get("f"))
		n.lua(`local heard
			require('cursord.rpc').request('diff/list', { workspace = require('cursord.workspace').find().root }, function() heard = true end)
			vim.wait(5000, function() return heard end, 1)`)
		w.Put("../go", "")
		n.agree(e, "f", "a\nx\n", 1)
		n.ex("Cursord reject!")
		n.agree(e, "f", "a\n", 0)
	})
}

// TestNvimSwapFileIsNoDoubt has a command change a file that is open with a swap file. Neovim reports its saves, so the
// change is the command's for certain.
func TestNvimSwapFileIsNoDoubt(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "a\n")
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }")
		n.lua("vim.o.directory = '.' vim.o.updatecount = 200 vim.cmd.edit('f')")
		w.Exists(".f.swp")
		n.ex("Cursord review")
		n.until("the daemon knows what is open", `local heard
			local ws = require('cursord.workspace').find()
			if not ws or not ws.loaded then return false end
			require('cursord.rpc').request('diff/list', { workspace = ws.root }, function() heard = true end)
			return vim.wait(5000, function() return heard end, 1)`)
		w.Plays(world.Lines(world.Shells("s", "echo x >> f"))...)
		e.Turn(nil)
		n.agree(e, "f", "a\nx\n", 1)
		require.Equal(t, []string{"shell"}, world.Vias(e.Diffs()["f"]))
		n.ex("Cursord reject!")
		n.agree(e, "f", "a\n", 0)
	})
}

// TestNvimFirstSaveDuringACommand saves what a person types into a Neovim that has not connected yet, while a command runs of an agent that
// was started elsewhere. The lines are the person's.
func TestNvimFirstSaveDuringACommand(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		for _, file := range []string{"f", "new", "latin1"} {
			t.Run(file, func(t *testing.T) {
				w := world.New(t)
				w.PutAll(world.Tree{"f": "a\n", "g": "g\n", "latin1": "\xe9\n"})
				w.Start()
				n := neovim(w, t, bin, unwatched, "g")
				n.ex("edit " + file)
				n.until("an answer", "return require('cursord.glance').answered()")
				require.Equal(t, false, n.lua("return require('cursord.rpc').connected()"))
				e := w.Opens()
				script := world.Shells("s", "true")
				w.Plays(world.Lines([]string{script[0], world.Execs("echo x >> g; touch ../ready"), world.Waits("go")}, script[1:])...)
				turn := e.Asks(nil)
				w.Exists("../ready")
				before := w.Get(file)
				n.keys("ggOtyped<Esc>:silent write<CR>")
				n.until("Neovim has written", "return not vim.bo.modified and require('cursord.rpc').connected()")
				n.until("the daemon has heard of it", `local ws, heard = require('cursord.workspace').find(), nil
					if not ws or not ws.ready then return false end
					require('cursord.rpc').request('diff/list', { workspace = ws.root }, function() heard = true end)
					return vim.wait(5000, function() return heard end, 1)`)
				after := w.Get(file)
				require.NotEqual(t, before, after)
				w.Put("../go", "")
				e.Ends(turn.ID)
				require.Equal(t, []string{"g"}, world.Sorted(world.Keys(e.Diffs())))
				e.Decides("diff/reject", world.Obj{"all": true})
				require.Equal(t, after, w.Get(file))
			})
		}
	})
}

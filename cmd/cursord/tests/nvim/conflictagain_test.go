//go:build unix

package nvim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// beginsConflict opens a file of ten lines in Neovim, where a person types keys in line 2. Then the agent changes lines, that one among them.
func beginsConflict(t *testing.T, bin, keys string, agents map[int]string) (*world.World, *nvim) {
	t.Helper()
	before := world.Numbered(10, nil)
	w := world.New(t)
	w.Put("f", before)
	w.Start()
	w.Trusts()
	n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
	n.keys(keys)
	w.Plays(world.Lines(world.Edits("c", "f", before, world.Numbered(10, agents)))...)
	n.ex("Cursord ask x")
	n.untilScreen("you have changed this")
	return w, n
}

// TestNvimKeepsAConflictBeyondTheDaemon: after the end of the daemon, and after u has brought back a text over which the file was read, a reject
// of the conflict leaves the person's line alone. Before, it put the line from before both beside it.
func TestNvimKeepsAConflictBeyondTheDaemon(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{2: "agent 2\n", 9: "agent 9\n"})
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", before)
		w.Start()
		w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.lua("vim.fn.setline(2, 'mine 2')")
		w.Plays(world.Lines(world.Edits("c", "f", before, after))...)
		n.ex("Cursord ask x")
		n.untilScreen("agent 9")
		n.untilScreen("you have changed this")
		n.poll("the daemon has the merged text", func() bool { return slices.Equal([]any{"conflict", "plain"}, n.told("f")) })
		n.lua("vim.cmd('edit!')")
		n.untilScreen("agent 2")
		n.lua("vim.cmd('undo')")
		n.untilScreen("you have changed this")
		w.Kill()
		t.Cleanup(func() { w.Cursord("stop", "--force") })
		_, stderr, status := w.Cursord("status")
		require.Zero(t, status, stderr)
		n.until("the next daemon", "return require('cursord.rpc').connected()")
		n.untilScreen("you have changed this")
		n.lua("vim.cmd('2Cursord reject')")
		n.untilScreen("rejected 1 hunk")
		n.lua("vim.cmd('silent write!')")
		require.Equal(t, strings.Replace(after, "agent 2\n", "mine 2\n", 1), w.Get("f"))
	})
}

// TestNvimConflictOfTheFirstCommand changes a line before any command. The agent that the first command starts changes nothing but that line:
// it is a conflict, and the person's line is never taken for a deletion of the agent's.
func TestNvimConflictOfTheFirstCommand(t *testing.T) {
	t.Parallel()
	before := world.Numbered(10, nil)
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": before, "g": before})
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.keys("2GA // mine<Esc>")
		w.Plays(world.Lines(world.Edits("c", "f", before, world.Numbered(10, map[int]string{2: "agent 2\n"})))...)
		n.ex("Cursord ask x")
		n.untilScreen("you have changed this")
		n.untilScreen("agent 2")
		n.ex("2Cursord accept both")
		n.poll("the daemon has both", func() bool {
			return len(n.lua("return vim.fn.getline(1, '$')").([]any)) == 11
		})
		n.keys(":silent w<CR>")
		n.poll("both are saved", func() bool { return w.Get("f") == world.Numbered(10, map[int]string{2: "line 2 // mine\nagent 2\n"}) })
		n.quiet()
	})
}

// TestNvimOpensASavedConflictAgain decides the only hunk of a file, a conflict, saves, and goes back with u. The agent's lines are pending and
// shown again, beside the person's, and the next save does not reject them without being seen. An accept whose text the daemon has not heard of
// before the save is one of a hunk with both sides then.
func TestNvimOpensASavedConflictAgain(t *testing.T) {
	t.Parallel()
	mine, agents := "line 2 // mine\n", "agent 2\n"
	for verb, want := range map[string]struct{ kind, text, saved string }{
		"accept":      {"conflict", mine, agents},
		"accept both": {"plain", mine + agents, mine + agents},
		"reject":      {"plain", agents, mine},
	} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			anNvim(t, func(t *testing.T, bin string) {
				w, n := beginsConflict(t, bin, "2GA // mine<Esc>", map[int]string{2: agents})
				n.ex("2Cursord " + verb)
				n.untilScreen("none left")
				n.keys(":silent w<CR>")
				n.poll("it is saved", func() bool { return w.Get("f") == world.Numbered(10, map[int]string{2: want.saved}) })
				n.quiet()
				n.keys("u")
				n.untilScreen(strings.Fields(verb)[0] + " is taken back; 1 hunk left")
				n.untilScreen("agent 2")
				is := func(kind, text string) bool {
					return n.text("f") == world.Numbered(10, map[int]string{2: text}) && slices.Equal([]any{kind}, n.told("f"))
				}
				n.poll("the agent's lines beside the person's", func() bool {
					return is(want.kind, want.text) || verb == "accept" && is("plain", agents)
				})
				n.ex(fmt.Sprintf("%dCursord reject", 1+strings.Count(want.text, "\n")))
				n.untilScreen("rejected 1 hunk")
				n.keys(":silent w<CR>")
				n.poll("the person's line is saved", func() bool { return w.Get("f") == world.Numbered(10, map[int]string{2: mine}) })
			})
		})
	}
}

// TestNvimSaysThatTheDaemonTookAnAcceptBack lets the daemon see the text that u brings back before it is asked to take the accept back. It opens
// the conflict by itself and has nothing left to undo, and the person is told that the accept is taken back all the same.
func TestNvimSaysThatTheDaemonTookAnAcceptBack(t *testing.T) {
	t.Parallel()
	mine, agents := "line 2 // mine\n", "agent 2\n"
	anNvim(t, func(t *testing.T, bin string) {
		w, n := beginsConflict(t, bin, "2GA // mine<Esc>", map[int]string{2: agents})
		n.ex("2Cursord accept")
		n.untilScreen("none left")
		n.lua(`local ws, heard = require('cursord.workspace').find(), false -- of the accepted text: a decision about all makes the daemon look
			require('cursord.docs').flush(ws, function()
				require('cursord.rpc').request('diff/accept', { workspace = ws.root, all = true }, function() heard = true end)
			end)
			vim.wait(20000, function() return heard end, 1)`)
		n.keys(":silent w<CR>")
		n.poll("it is saved", func() bool { return w.Get("f") == world.Numbered(10, map[int]string{2: agents}) })
		n.quiet()
		n.lua(`local rpc = require('cursord.rpc')
			local request = rpc.request
			rpc.request = function(method, ...)
				if method ~= 'diff/undo' then return request(method, ...) end
				local args = { ... }
				Undo = function() request(method, unpack(args)) end
			end`)
		n.keys("u")
		n.poll("the daemon has opened the conflict", func() bool { return n.lua("return Undo ~= nil").(bool) && slices.Equal([]any{"conflict"}, n.told("f")) })
		n.lua("Undo()")
		n.untilScreen("accept is taken back; 1 hunk left")
		n.untilText("f", world.Numbered(10, map[int]string{2: mine}))
	})
}

// TestNvimConflictOfATurnFromATerminal changes a line before any command in Neovim, and a terminal runs the folder's first turn, which changes
// nothing but that line: it is a conflict. Neovim does not know what its text began with, and once showed the person's line as a deletion.
func TestNvimConflictOfATurnFromATerminal(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", world.Numbered(10, nil))
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.keys("2GA MINE<Esc>")
		w.Plays(world.Lines(world.Shells("c", "sed -i 's/^line 2$/line two/' f && touch -d '1 hour' f"))...)
		_, stderr, status := w.Cursord("run", "go")
		require.Zero(t, status, stderr)
		n.ex("Cursord next")
		n.untilScreen("you have changed this")
		require.Equal(t, []any{"conflict"}, n.told("f"))
		n.ex("2Cursord accept")
		n.untilText("f", world.Numbered(10, map[int]string{2: "line two\n"}))
	})
}

// TestNvimRedoesASavedAcceptOfAConflict takes a saved accept back with u, beside another hunk, and makes it again with CTRL-R. Before, the hunk
// stayed pending without the person's line. "both" is not a conflict again: before, the agent's side had the person's line, too, and CTRL-R
// was "Already at newest change".
func TestNvimRedoesASavedAcceptOfAConflict(t *testing.T) {
	t.Parallel()
	mine, agents := "line 2 // mine\n", "agent 2\n"
	for verb, want := range map[string]string{"accept": agents, "accept both": mine + agents} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			anNvim(t, func(t *testing.T, bin string) {
				w, n := beginsConflict(t, bin, "2GA // mine<Esc>gg", map[int]string{2: agents, 9: "agent 9\n"})
				n.ex("2Cursord " + verb)
				n.untilScreen("1 hunk left")
				n.keys(":silent w<CR>")
				saved := world.Numbered(10, map[int]string{2: want, 9: "agent 9\n"})
				n.poll("it is saved", func() bool { return w.Get("f") == saved })
				n.quiet()
				n.keys("u")
				n.untilScreen("accept is taken back; 2 hunks left")
				if verb == "accept both" {
					n.poll("the agent's line is pending below the person's", func() bool {
						return n.text("f") == saved && slices.Equal([]any{"plain", "plain"}, n.told("f"))
					})
				}
				n.keys("<C-r>")
				n.poll("the accept is made again", func() bool { return n.text("f") == saved && slices.Equal([]any{"plain"}, n.told("f")) })
				n.keys(":silent w<CR>")
				n.quiet()
				out, stderr, status := w.Cursord("undo")
				require.Zero(t, status, stderr)
				require.Contains(t, out, "the accept of 1 hunk in f; 2 hunks left")
				n.poll("the agent's line is pending", func() bool { return slices.Equal([]any{"plain", "plain"}, n.told("f")) })
				n.ex("2Cursord reject")
				n.poll("the person's line is back", func() bool { return strings.Contains(w.Get("f"), mine) })
			})
		})
	}
}

// TestNvimRedoesBothByACommand takes a saved accept of both sides back with u, and makes it again with :Cursord redo. CTRL-R then has nothing to
// make again, and says nothing; u takes the accept back. Before, CTRL-R said that the hunk is gone.
func TestNvimRedoesBothByACommand(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, n := beginsConflict(t, bin, "2GA // mine<Esc>gg", map[int]string{2: "agent 2\n", 9: "agent 9\n"})
		saved := world.Numbered(10, map[int]string{2: "line 2 // mine\nagent 2\n", 9: "agent 9\n"})
		pending := func(what string, kinds ...any) {
			n.t.Helper()
			n.poll(what, func() bool { return n.text("f") == saved && slices.Equal(kinds, n.told("f")) })
			n.quiet()
		}
		n.ex("2Cursord accept both")
		n.untilScreen("1 hunk left")
		n.keys(":silent w<CR>")
		n.poll("it is saved", func() bool { return w.Get("f") == saved })
		n.quiet()
		n.keys("u")
		n.untilScreen("accept is taken back; 2 hunks left")
		pending("the agent's line below the person's", "plain", "plain")
		n.ex("Cursord redo")
		n.untilScreen("redone: the accept of 1 hunk in f; 1 hunk left")
		pending("the accept by the command", "plain")
		n.keys("<C-r>")
		n.until("the look at CTRL-R", "local doc = require('cursord.docs').get(vim.fn.bufnr()) return doc.checked == vim.b.changedtick")
		pending("the same after CTRL-R", "plain")
		n.keys("u")
		n.untilScreen("accept is taken back; 2 hunks left")
		pending("the agent's line again", "plain", "plain")
		n.keys("<C-r>")
		n.untilScreen("accepted 1 hunk; 1 hunk left")
		pending("the accept by CTRL-R", "plain")
		require.Equal(t, saved, w.Get("f"))
	})
}

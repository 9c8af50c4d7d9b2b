//go:build unix

package nvim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

const connected = "return require('cursord.rpc').connected()"

// TestNvimKnowsTheFolder opens a file of a folder that the daemon knows, and in which nothing is left to review: Neovim reports the file,
// and follows what an agent writes.
func TestNvimKnowsTheFolder(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{3: "agent 3\n"})
		w := world.New(t)
		w.Put("f", before)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		n := neovim(w, t, bin, "", "f")
		n.follows()
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.CursordOK("run", "go")
		n.untilText("f", after)
		n.quiet()
	})
}

// TestNvimNoticesADaemon opens files before a daemon runs. It connects when one begins, and then follows the folders that the daemon knows.
// The folder of the daemon's socket, and the one above it, are made by the daemon.
func TestNvimNoticesADaemon(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) { noticesADaemon(t, bin, "") })
}

// TestNvimNoticesADaemonWhoseFolderComesAtOnce: the socket's folder comes after Neovim has looked for it, and before it watches the one above.
func TestNvimNoticesADaemonWhoseFolderComesAtOnce(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		noticesADaemon(t, bin, `
local stat, dir = vim.uv.fs_stat, vim.fs.dirname(vim.env.CURSORD_SOCKET)
vim.uv.fs_stat = function(path)
	local found = stat(path)
	if path == dir and not found then
		vim.fn.mkdir(dir, 'p', 448)
	end
	return found
end`)
	})
}

func noticesADaemon(t *testing.T, bin, init string) {
	before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{3: "agent 3\n"})
	w := world.New(t)
	w.PutAll(world.Tree{"f": before, ".git/HEAD": ""})
	socket, cursord := w.LateDaemon()
	n := neovim(w, t, bin, fmt.Sprintf("vim.env.CURSORD_SOCKET = %q\n%s", socket, init), "f")
	n.until("an answer", "return require('cursord.glance').answered()")
	require.Equal(t, false, n.lua(connected))
	w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
	cursord("run", "go")
	n.untilText("f", after)
	n.hunksOf("f", 1)
	n.quiet()
	n.kill()
	cursord("stop", "--force")
}

// unwatched has Neovim hear nothing of the folder in which a daemon tells of new folders, as on some network file systems.
const unwatched = "vim.uv.new_fs_event = function() return { start = function() end, close = function() end } end"

// TestNvimNoticesAFoldersFirstTurn has a file open in a folder that a running daemon does not know. A turn that is started elsewhere is the folder's first:
// Neovim follows it without a key.
func TestNvimNoticesAFoldersFirstTurn(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{3: "agent 3\n"})
		w := world.New(t)
		w.Put("f", before)
		w.Start()
		n := neovim(w, t, bin, "vim.o.updatetime = 1000000", "f")
		n.until("an answer", "return require('cursord.glance').answered()")
		require.Equal(t, false, n.lua(connected))
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.CursordOK("run", "--trust", "go")
		n.untilText("f", after)
		n.hunksOf("f", 1)
		n.quiet()
	})
}

// TestNvimBehindTheDisk connects where an agent has written a file since Neovim has read it: at a command, or by itself when the person begins
// to type. The agent's lines come into the text, and are no changes of the person's.
func TestNvimBehindTheDisk(t *testing.T) {
	t.Parallel()
	before := world.Numbered(10, nil)
	for _, c := range []struct {
		name, keys string
		alone      bool // Neovim connects by itself
	}{
		{"unchanged", ":Cursord next<CR>", false},
		{"changed", "GA typed<Esc>:Cursord next<CR>", false},
		{"begun", "GA typed<Esc>", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			anNvim(t, func(t *testing.T, bin string) {
				w := world.New(t)
				w.Put("f", before)
				w.Start()
				w.Trusts()
				n := neovim(w, t, bin, fmt.Sprintf("%s; vim.g.cursord = { review = { on_open = %t } }", unwatched, c.alone), "f")
				n.until("an answer, if it asks", "return require('cursord.glance').answered() == ...", c.alone)
				w.Plays(world.Lines(world.Edits("1", "f", before, world.Numbered(10, map[int]string{3: "agent 3\n"})))...)
				w.CursordOK("run", "go")
				require.Equal(t, false, n.lua(connected))
				n.keys(c.keys)
				merged := map[int]string{3: "agent 3\n"}
				if c.name != "unchanged" {
					merged[10] = "line 10 typed\n"
				}
				n.untilText("f", world.Numbered(10, merged))
				n.hunksOf("f", 1)
				require.Equal(t, []any{"plain"}, n.told("f"))
				n.keys(":write<CR>")
				n.poll("the disk", func() bool { return w.Get("f") == world.Numbered(10, merged) })
				n.quiet()
			})
		})
	}
}

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

// writes has Neovim write the file of the present buffer, and answers its question whether to write over another program's
// text. It requires that Neovim asks.
func (n *nvim) writes(answer string) {
	n.t.Helper()
	n.ex("messages clear")
	waits := n.lua("return vim.fn.has('nvim-0.12')") == 0.0 // newer ones answer requests while they ask
	asked := func() {
		n.until("it has asked", "return vim.fn.execute('messages'):find('changed since reading it', 1, true) ~= nil")
	}
	n.keys(":write<CR>")
	if waits {
		n.poll("the question", func() bool { return n.call("nvim_get_mode").(map[any]any)["blocking"] == true })
	} else {
		asked()
	}
	n.keys(answer)
	asked()
	n.until("the end of the write", "return vim.api.nvim_get_mode().mode == 'n' and not vim.api.nvim_get_mode().blocking")
}

// told returns the states of a file's hunks, sorted, as the daemon has them for Neovim, after all that Neovim has sent so far.
func (n *nvim) told(path string) []any {
	n.t.Helper()
	hunks, _ := n.lua(`local diff
		require('cursord.rpc').request('diff/list', { workspace = require('cursord.workspace').find().root, path = ... }, function(err, result)
			diff = result.diffs[1] or { hunks = {} }
		end)
		vim.wait(20000, function() return diff end, 1)
		local states = vim.tbl_map(function(h) return h.state or 'plain' end, diff.hunks)
		table.sort(states)
		return states`, path).([]any)
	return hunks
}

// keptMine waits until Neovim says that a write has kept the person's lines, and requires that so many hunks are left.
func (n *nvim) keptMine(left int) {
	n.t.Helper()
	n.poll("the message", func() bool {
		return strings.Contains(n.messages(), "kept your lines; :Cursord undo brings the agent's back")
	})
	require.Len(n.t, n.told("f"), left)
}

// TestNvimRefusedWriteDecidesNothing has a person answer no when Neovim asks whether to write over another program's line, beside
// a conflict with the agent. Neovim tells its autocommands of that write, too.
func TestNvimRefusedWriteDecidesNothing(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		for _, changes := range []map[int]string{{5: "agent 5\n"}, {5: "agent 5\n", 12: "agent 12\n"}} {
			t.Run(fmt.Sprint(len(changes)), func(t *testing.T) {
				w := world.New(t)
				before, after := world.Numbered(20, nil), world.Numbered(20, changes)
				mine := strings.NewReplacer("agent 5", "mine 5", "line 9\n", "mine 9\n").Replace(after)
				theirs, merged := strings.Replace(after, "line 9\n", "theirs 9\n", 1), len(changes)-1
				w.Put("f", before)
				w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
				w.Start()
				e := w.Opens()
				n := neovim(w, t, bin, `vim.g.cursord = { chat = { open_on_ask = false }, autostart = true }
					posts = 0
					vim.api.nvim_create_autocmd('BufWritePost', { callback = function() posts = posts + 1 end })`, "f")
				n.follows()
				n.keys("5Gccmine 5<Esc>9Gccmine 9<Esc>")
				n.ex("Cursord ask do it")
				n.untilText("f", mine)
				conflict := append([]any{"conflict"}, slices.Repeat([]any{"plain"}, merged)...)
				n.poll("the conflict", func() bool { return slices.Equal(conflict, n.told("f")) })
				n.until("Neovim knows the agent's file", `local doc = require('cursord.docs').get(vim.fn.bufnr())
					return doc.known == require('cursord.follow').stamp(doc.path) and not doc.merging and not doc.lacks`)
				w.Put("f", theirs)
				n.until("the other program's line is known", "return require('cursord.docs').get(vim.fn.bufnr()).lacks == true")
				n.writes("n")
				n.until("the refused write is told", "return posts == 1")
				require.Equal(t, conflict, n.told("f"), "nothing was written, so nothing is decided")
				require.Equal(t, theirs, w.Get("f"))
				require.NotContains(t, n.messages(), "kept your lines")
				require.Equal(t, mine, n.text("f"))
				require.True(t, n.modified("f"))
				n.hunksOf("f", len(conflict))
				require.EqualValues(t, "notFound", e.Fails("diff/undo", world.Obj{"workspace": w.Root}).Data.Kind, "no decision is in the log")

				n.writes("y")
				n.agree(e, "f", mine, merged)
				n.keptMine(merged)
			})
		}
	})
}

// TestNvimSavesOverAConflict has a person write a buffer that shows a conflict. The write keeps the person's lines, and Neovim
// does not ask: the agent's are on the screen, and an undo brings them back.
func TestNvimSavesOverAConflict(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		for _, changes := range []map[int]string{{5: "agent 5\n"}, {5: "agent 5\n", 12: "agent 12\n"}} {
			t.Run(fmt.Sprint(len(changes)), func(t *testing.T) {
				w := world.New(t)
				before, after := world.Numbered(20, nil), world.Numbered(20, changes)
				mine := strings.Replace(after, "agent 5", "mine 5", 1)
				w.Put("f", before)
				w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
				w.Start()
				e := w.Opens()
				n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, autostart = true }", "f")
				n.follows()
				n.keys("5Gccmine 5<Esc>")
				n.ex("Cursord ask do it")
				n.untilText("f", mine)
				n.until("the conflict is shown, and Neovim knows the file", "return require('cursord.docs').get(vim.fn.bufnr()).known ~= nil")
				n.ex("write")
				n.agree(e, "f", mine, len(changes)-1)
				n.keptMine(len(changes) - 1)
				n.quiet()
			})
		}
	})
}

// TestNvimAsksForWhatIsWrittenWhileItLooks has another program write the file at the moment at which Neovim is told to know the agent's
// content. Neovim knows that text then, too, and would write over it without a question.
func TestNvimAsksForWhatIsWrittenWhileItLooks(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(20, nil)
		after := world.Numbered(20, map[int]string{12: "agent 12\n"})
		mine, theirs := strings.Replace(after, "line 9\n", "mine 9\n", 1), strings.Replace(after, "line 9\n", "theirs 9\n", 1)
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, autostart = true }", "f")
		n.follows()
		n.lua(`local path, theirs = ...
			local follow = require('cursord.follow')
			local knows = follow.knows
			follow.knows = function(buf)
				vim.fn.writefile(vim.split(theirs, '\n'), path, 'b')
				follow.knows = knows
				knows(buf)
			end`, w.Path("f"), theirs)
		n.keys("9Gccmine 9<Esc>")
		n.ex("Cursord ask do it")
		n.untilText("f", mine)
		n.until("the other program's line is known", "return require('cursord.docs').get(vim.fn.bufnr()).overtaken == true")
		require.Len(t, n.told("f"), 1)
		n.keys(":write<CR>")
		n.poll("the refusal", func() bool {
			return strings.Contains(n.messages(), "f has changes on disk that are not in your text: :write! writes over them, :edit! reads them")
		})
		require.Equal(t, theirs, w.Get("f"))
		require.Equal(t, mine, n.text("f"))
		require.True(t, n.modified("f"))
		n.keys("<CR>:write!<CR>")
		n.agree(e, "f", mine, 1)
		n.ex("messages clear | let v:errmsg = ''")
		n.ex("write")
		n.quiet()
	})
}

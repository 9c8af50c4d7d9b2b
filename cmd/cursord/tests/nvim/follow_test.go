//go:build unix

package nvim

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimDecidesAsFastAsOneTypes decides hunk after hunk without waiting for the daemon: each key is about the next hunk.
func TestNvimDecidesAsFastAsOneTypes(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(60, nil)
		changed := map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: "", 35: "line 35\nagent 35\n", 45: "agent 45\n", 55: "agent 55\n"}
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, world.Numbered(60, changed)))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, `vim.g.cursord = { chat = { open_on_ask = false } }
			vim.keymap.set('n', 'ga', '<Plug>(cursord-accept)')
			vim.keymap.set('n', 'gr', '<Plug>(cursord-reject)')`, "f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", world.Numbered(60, changed), 6)
		n.keys("5Ggrgagrgagr")
		want := world.Numbered(60, map[int]string{15: changed[15], 35: changed[35], 55: changed[55]})
		n.agree(e, "f", want, 1)
		n.until("the last hunk", "return vim.fn.line('.') == 57")
		// The hunks disappear at once, also from the list.
		n.ex("Cursord undo")
		n.hunksOf("f", 2)
		n.ex("Cursord review | wincmd p")
		n.untilRows("f", 47, 57)
		require.Equal(t, []any{1.0, 0.0}, n.lua(`vim.cmd('57Cursord accept | 47Cursord reject')
			vim.cmd.redraw()
			return { #vim.fn.getqflist() + 1, #require('cursord.review.places').places(0) }`))
		n.agree(e, "f", want, 0)
		n.until("the list", "return #vim.fn.getqflist() == 0")
		n.quiet()
	})
}

// TestNvimDecisionFails makes a decision that fails: the hunk is shown again, and the cursor is on it.
func TestNvimDecisionFails(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15\n"})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", after, 2)
		d := e.OpenDocument("f") // another editor has it unsaved
		d.Set("theirs\n" + after)
		e.Must("diff/list", world.Obj{"workspace": w.Root}, nil)
		n.keys("5G")
		n.ex("Cursord reject")
		n.hears("unsaved changes in an editor")
		n.untilRows("f", 5, 15)
		require.Equal(t, 5.0, n.lua("return vim.fn.line('.')"))
		n.hunksOf("f", 2)
		require.Equal(t, after, w.Get("f"))
		d.Closes()
		e.Must("diff/list", world.Obj{"workspace": w.Root}, nil) // the daemon has the other connection's document
		n.ex("Cursord reject")
		n.agree(e, "f", world.Numbered(30, map[int]string{15: "agent 15\n"}), 1)
	})
}

// TestNvimSavesWhatFollowedItsFile saves a buffer that has followed its file without being read again. Neovim does not ask,
// but for a file that another program has written since.
func TestNvimSavesWhatFollowedItsFile(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15\nügent\n", 30: "the end\n"})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		stat := func() os.FileInfo {
			info, err := os.Stat(w.Path("f"))
			require.NoError(t, err)
			return info
		}
		was := stat()
		n := neovim(w, t, bin, `wrote = {}
			vim.api.nvim_create_autocmd({ 'BufWritePre', 'BufWritePost' }, { callback = function(args) table.insert(wrote, args.event) end })`, "f")
		n.ex("Cursord chat")
		n.keys("<Esc>:wincmd t<CR>")
		n.hunksOf("f", 3)
		n.ex("enew | bwipeout f | edit f") // autocommands read it, in which no other autocommands run
		n.hunksOf("f", 3)
		require.Equal(t, was, stat(), "nothing is written")
		n.ex("15,16Cursord reject")
		one := world.Numbered(30, map[int]string{5: "agent 5\n", 30: "the end\n"})
		n.agree(e, "f", one, 2)
		require.Equal(t, 1.0, n.lua("return vim.fn.undotree().seq_last"), "one step for undo, and not all of the file")
		n.ex("checktime") // Neovim knows the file's time
		n.keys("ggOmine<Esc>")
		n.untilText("f", "mine\n"+one)
		n.ex("write other")
		require.Equal(t, "mine\n"+one, w.Get("other"))
		n.ex("write")
		require.Equal(t, "mine\n"+one, w.Get("f"))
		require.Equal(t, []any{"BufWritePre", "BufWritePost", "BufWritePre", "BufWritePost"}, n.lua("return wrote"))
		n.ex("6Cursord reject")
		two := "mine\n" + strings.Replace(one, "agent 5", "line 5", 1)
		n.agree(e, "f", two, 1)

		// Also without autocommands.
		n.keys("ggOmore<Esc>")
		n.untilText("f", "more\n"+two)
		n.ex("noautocmd write")
		require.Equal(t, "more\n"+two, w.Get("f"))
		n.keys("ggdd")
		n.ex("noautocmd write")
		n.ex("checktime")
		n.agree(e, "f", two, 1)
		require.Equal(t, []any{}, n.lua("return vim.api.nvim_get_autocmds({ event = 'BufWriteCmd', buffer = 0 })"))
		n.quiet()

		// Somebody else has changed the same line: Neovim asks, and nothing is merged.
		n.keys("ggAmore<Esc>")
		n.until("it is typed", "return vim.fn.getline(1) == 'minemore'")
		theirs := strings.Replace(two, "mine\n", "theirs\n", 1)
		w.Put("f", theirs)
		warned := func() {
			n.until("it is asked", "return vim.fn.execute('messages'):find('changed since reading it', 1, true) ~= nil")
		}
		waits := n.lua("return vim.fn.has('nvim-0.12')") == 0.0 // newer ones go on while they ask
		n.keys(":write<CR>")
		if waits {
			n.poll("the question", func() bool { return n.call("nvim_get_mode").(map[any]any)["blocking"] == true })
		} else {
			warned()
		}
		n.keys("n")
		warned()
		require.Equal(t, theirs, w.Get("f"))
		n.keys(":write!<CR>")
		// The plugin may have merged the other program's line into the buffer by now.
		mine := strings.Replace(two, "mine", "minemore", 1)
		n.poll("it is written", func() bool { return slices.Contains([]string{mine, mine + "theirs\n"}, w.Get("f")) })
	})
}

// TestNvimTakesUpWhatItCannotPatch has a buffer with a converted text: Neovim reads its file again.
func TestNvimTakesUpWhatItCannotPatch(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Tree{"upper": "one\ntwo\nthree\n"}, world.Tree{"upper": "one\nagent\nthree\n"}
		w.PutAll(before)
		w.Plays(world.Changing(before, after)...)
		w.Start()
		e := w.Opens()
		// An autocommand converts "upper" when it is read, as for encrypted files.
		n := neovim(w, t, bin, `vim.g.cursord = { chat = { open_on_ask = false } }
			vim.api.nvim_create_autocmd('BufReadPost', { pattern = '*/upper', callback = function()
				vim.cmd('silent %s/.*/\\U&/ | set nomodified')
			end })`, "upper")
		require.Equal(t, "ONE\nTWO\nTHREE\n", n.text("upper"))
		n.ex("Cursord ask do it")
		n.untilText("upper", "ONE\nAGENT\nTHREE\n")
		w.Plays(world.Lines(world.Shells("2", "cp -p upper ../then; sed -i s/agent/again/ upper; touch -r ../then upper"))...)
		n.ex("Cursord ask once more")
		n.untilText("upper", "ONE\nAGAIN\nTHREE\n") // although the times are the same
		n.ex("Cursord reject!")
		n.poll("nothing is left", func() bool { return len(e.Diffs()) == 0 })
		n.untilText("upper", "ONE\nTWO\nTHREE\n")
		w.RequireTree(before)
		n.quiet()
	})
}

// TestNvimUndoOfSeveralFiles rejects hunks of several files at once: "u" in one of the files takes the whole decision back.
func TestNvimUndoOfSeveralFiles(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Tree{"f": world.Numbered(9, nil), "g": world.Numbered(9, nil)}
		after := world.Tree{"f": world.Numbered(9, map[int]string{5: "agent 5\n"}), "g": world.Numbered(9, map[int]string{3: ""})}
		w.PutAll(before)
		w.Plays(world.Changing(before, after)...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "g")
		n.ex("edit f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", after["f"], 1)
		n.agree(e, "g", after["g"], 1)
		n.ex("Cursord reject!")
		n.agree(e, "f", before["f"], 0)
		n.agree(e, "g", before["g"], 0)
		n.keys("u")
		n.agree(e, "f", after["f"], 1)
		n.agree(e, "g", after["g"], 1)
		n.untilScreen("taken back in 2 files: the decision was about all of them")
		n.ex("Cursord redo")
		n.agree(e, "f", before["f"], 0)
		n.agree(e, "g", before["g"], 0)
		n.quiet()
	})
}

// TestNvimUndoReachesUnsavedText rejects hunks of several files, one of them with unsaved changes: "u" in another file takes
// its part back, too.
func TestNvimUndoReachesUnsavedText(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Tree{"f": world.Numbered(9, nil), "g": world.Numbered(9, nil)}
		after := world.Tree{"f": world.Numbered(9, map[int]string{5: "agent 5\n"}), "g": world.Numbered(9, map[int]string{3: ""})}
		w.PutAll(before)
		w.Plays(world.Changing(before, after)...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", after["f"], 1)
		n.keys("ggOmine<Esc>")
		n.untilText("f", "mine\n"+after["f"])
		n.untilRows("f", 6)
		n.ex("edit g")
		n.ex("Cursord reject!")
		n.agree(e, "g", before["g"], 0)
		n.untilText("f", "mine\n"+before["f"])
		n.keys("u")
		n.agree(e, "g", after["g"], 1)
		n.untilText("f", "mine\n"+after["f"])
		n.untilRows("f", 6)
		n.ex("buffer f | write")
		n.agree(e, "f", "mine\n"+after["f"], 1)
		n.quiet()
	})
}

// TestNvimPromptIsText asks with characters that have a meaning on a command line.
func TestNvimPromptIsText(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }")
		n.keys(`:Cursord ask why "this" | that # % <lt>afile> \ and 'so'?<CR>`)
		n.poll("the agent", func() bool { return len(w.Runs()) == 1 })
		require.Equal(t, `why "this" | that # % <afile> \ and 'so'?`, strings.TrimSpace(w.Runs()[0].Prompt))
		n.ex("Cursord review all | let g:then = 1")
		n.until("the rest of the line", "return vim.g['then'] == 1")
	})
}

//go:build unix

package nvim

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimSaysThatASaveRejects undoes what came from the disk into unsaved text, and writes. That rejects the agent's changes, and a
// message says so and names what brings them back: the person's key, else the command. A write that rejects nothing says nothing.
func TestNvimSaysThatASaveRejects(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	anNvim(t, func(t *testing.T, bin string) {
		for _, c := range []struct {
			name, says  string
			changes     map[int]string
			act         string // between merge and write
			saved, back string
			keys        string
		}{
			{
				name: "a line", changes: map[int]string{8: "agent 8\n"}, act: "u",
				says:  "cursord: rejected 1 hunk; :Cursord undo brings it back",
				saved: world.Numbered(12, map[int]string{3: "mine 3\n"}),
				back:  world.Numbered(12, map[int]string{3: "mine 3\n", 8: "agent 8\n"}),
			},
			{
				name: "a deletion, by a key", changes: map[int]string{8: "", 11: "agent 11\n"}, act: "u", keys: "<Space>u",
				says:  "cursord: rejected 2 hunks; <Space>u brings them back",
				saved: world.Numbered(12, map[int]string{3: "mine 3\n"}),
				back:  world.Numbered(12, map[int]string{3: "mine 3\n", 8: "", 11: "agent 11\n"}),
			},
			{
				name: "beside a conflict", changes: map[int]string{3: "agent 3\n", 8: "agent 8\n"}, act: "u",
				says:  "cursord: kept your lines, rejected 1 hunk; :Cursord undo brings the agent's back",
				saved: world.Numbered(12, map[int]string{3: "mine 3\n"}),
			},
			{
				name: "redone", changes: map[int]string{8: "agent 8\n"}, act: "u<C-r>",
				saved: world.Numbered(12, map[int]string{3: "mine 3\n", 8: "agent 8\n"}),
			},
			{
				name: "deleted by hand", changes: map[int]string{8: "agent 8\n"}, act: "8Gdd",
				saved: world.Numbered(12, map[int]string{3: "mine 3\n", 8: ""}),
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				w := world.New(t)
				w.Put("f", before)
				w.Plays(world.Lines(world.Edits("1", "f", before, world.Numbered(12, c.changes)))...)
				w.Start()
				w.Opens()
				n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, autostart = true }", "f")
				n.follows()
				if c.keys != "" {
					n.lua("vim.keymap.set('n', ..., '<Plug>(cursord-undo)')", c.keys)
				}
				n.keys("3Gccmine 3<Esc>")
				n.ex("Cursord ask do it")
				merged := c.changes
				merged[3] = "mine 3\n"
				n.untilText("f", world.Numbered(12, merged))
				n.knowsTheMerge()
				n.keys(c.act)
				n.untilText("f", c.saved)
				n.lua("said = {}")
				n.keys(":write<CR>")
				n.poll("the disk", func() bool { return w.Get("f") == c.saved })
				if c.says == "" {
					n.told("f")
					require.Empty(t, n.lua("return said"))
					return
				}
				n.hears(c.says)
				require.Empty(t, n.told("f"))
				if c.back != "" {
					n.keys(":Cursord undo<CR>")
					n.poll("the disk", func() bool { return w.Get("f") == c.back })
					n.untilText("f", c.back)
				}
			})
		}
	})
}

// TestNvimReloadRightAfterAMerge reads the file again before the daemon can know the merged text, and goes back: the conflict is
// there again.
func TestNvimReloadRightAfterAMerge(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{2: "agent 2\n", 9: "agent 9\n"})
	anNvim(t, func(t *testing.T, bin string) {
		for _, reload := range []string{"edit!", "checktime"} {
			t.Run(reload, func(t *testing.T) {
				w := world.New(t)
				w.Put("f", before)
				w.Start()
				w.Opens()
				n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
				n.lua("vim.fn.setline(2, 'mine 2')")
				n.lua(`local change, reload = require('cursord.follow').apply, ...
					require('cursord.follow').apply = function(...)
						change(...)
						require('cursord.follow').apply = change
						vim.schedule(function()
							if reload == 'checktime' then
								vim.bo.modified = false
								vim.o.autoread = true
							end
							vim.cmd(reload)
							reloaded = true
						end)
					end`, reload)
				w.Plays(world.Lines(world.Edits("c", "f", before, after))...)
				n.ex("Cursord ask x")
				n.until("it is read again", "return reloaded")
				n.untilText("f", after)
				n.ex("undo")
				n.untilText("f", strings.Replace(after, "agent 2\n", "mine 2\n", 1))
				n.untilScreen("you have changed this")
				n.poll("the daemon has it", func() bool { return slices.Equal([]any{"conflict", "plain"}, n.told("f")) })
				n.ex("2Cursord reject")
				n.ex("silent write!")
				require.Equal(t, strings.Replace(after, "agent 2\n", "mine 2\n", 1), w.Get("f"))
			})
		}
	})
}

// TestNvimUndoOfASavedAcceptOfAConflict accepts a conflict, and goes back with "u", with and without a write in between. The conflict
// is there again, for the daemon, too, and nothing says otherwise.
func TestNvimUndoOfASavedAcceptOfAConflict(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	after := world.Numbered(12, map[int]string{3: "agent 3\n", 10: "agent 10\n"})
	mine := world.Numbered(12, map[int]string{3: "mine 3\n", 6: "mine 6\n", 10: "agent 10\n"})
	accepted := world.Numbered(12, map[int]string{3: "agent 3\n", 6: "mine 6\n", 10: "agent 10\n"})
	anNvim(t, func(t *testing.T, bin string) {
		for _, write := range []bool{false, true} {
			w := world.New(t)
			w.Put("f", before)
			w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
			w.Start()
			e := w.Opens()
			n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, autostart = true }", "f")
			n.follows()
			n.keys("3Gccmine 3<Esc>6Gccmine 6<Esc>")
			n.ex("Cursord ask do it")
			n.untilText("f", mine)
			n.knowsTheMerge()
			n.ex("3Cursord accept")
			n.untilText("f", accepted)
			n.decided()
			n.hunksOf("f", 1)
			if write {
				n.ex("write")
				n.agree(e, "f", accepted, 1)
			}
			n.lua("said = {}")
			n.keys("u")
			n.untilText("f", mine)
			n.hunksOf("f", 2)
			n.untilScreen("you have changed this")
			n.poll("the daemon has it", func() bool { return len(n.told("f")) == 2 })
			n.until("nothing is taken back any more", "return not require('cursord.docs').get(vim.fn.bufnr()).undoing")
			require.Empty(t, n.lua("return vim.tbl_filter(function(s) return s.level >= vim.log.levels.WARN end, said)"))
			n.ex("write")
			n.agree(e, "f", mine, 1)
			n.kill()
		}
	})
}

// TestNvimUndoOfARejectedFile rejects a new file that is in a buffer. The message says that the file is gone, and "u" brings it back.
func TestNvimUndoOfARejectedFile(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(world.Lines(world.Edits("1", "new", "(absent)", "one\ntwo\n"))...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "new")
		n.hunksOf("new", 1)
		gone := func() {
			n.t.Helper()
			n.poll("it is gone", func() bool { return w.Get("new") == "(absent)" })
			n.hunksOf("new", 0)
			n.decided()
			require.Equal(t, "one\ntwo\n", n.text("new"))
		}
		n.ex("Cursord reject")
		n.untilScreen("the file is gone, u brings it back")
		gone()
		n.keys("u")
		n.agree(e, "new", "one\ntwo\n", 1)
		n.keys("<C-r>")
		gone()
		n.keys("u")
		n.agree(e, "new", "one\ntwo\n", 1)
		n.quiet()
	})
}

// TestNvimSaysWhatUndoTookOutOfSavedText saves the agent's line that came into unsaved text, takes it out with "u", and saves. What is
// undone before a save is not taken back once more after it.
func TestNvimSaysWhatUndoTookOutOfSavedText(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	after := world.Numbered(12, map[int]string{3: "agent 3\n", 8: "agent 8\n"})
	mine := world.Numbered(12, map[int]string{3: "mine 3\n"})
	merged := world.Numbered(12, map[int]string{3: "mine 3\n", 8: "agent 8\n"})
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, autostart = true }", "f")
		n.follows()
		n.keys("3Gccmine 3<Esc>")
		n.ex("Cursord ask do it")
		n.untilText("f", merged)
		n.hears("cursord: f: the disk's changes are in, u takes them out; 1 conflict")
		n.knowsTheMerge()
		n.ex("3|Cursord accept both")
		n.untilText("f", strings.Replace(merged, "mine 3\n", "mine 3\nagent 3\n", 1))
		n.decided()
		n.keys("u")
		n.untilText("f", merged)
		n.poll("the conflict is back", func() bool { return slices.Equal([]any{"conflict", "plain"}, n.told("f")) })
		n.ex("write")
		n.agree(e, "f", merged, 1)
		n.keptMine(1)
		n.lua("said = {}")
		n.keys("u")
		n.untilText("f", mine)
		n.told("f")
		n.ex("write")
		n.agree(e, "f", mine, 0)
		n.hears("cursord: u took 1 hunk out; <C-r> brings the text back")
		n.quiet()
	})
}

//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimReviewBuffer reviews all hunks as one patch, by keys: whole hunks, lines, files, turns. It looks at text and
// colours in all looks.
func TestNvimReviewBuffer(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(30, nil)
		all := map[int]string{3: "agent 3\n", 15: "agent 15a\nagent 15b\nagent 15c\n", 27: ""}
		w.PutAll(world.Tree{"f": before, "g.lua": luaBefore, "run.sh": "echo\n"})
		w.Plays(world.Lines(world.Edits("1", "f", before, world.Numbered(30, all)), world.Edits("2", "g.lua", luaBefore, luaAfter),
			world.Shells("3", "chmod 755 run.sh"))...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		s := e.Turns()[0].SessionID
		w.Plays(world.Lines(world.Edits("1", "new", "(absent)", "a\nb\n"))...)
		e.Turn(world.Obj{"sessionId": s, "prompt": "make the new one"})
		n := neovim(w, t, bin, `vim.o.termguicolors, vim.o.lines = true, 70
			vim.g.cursord = { chat = { open_on_ask = false }, notify = { progress = false } }
			vim.ui.input = function(opts, done) done(opts.prompt == 'Comment: ' and 'why?' or nil) end`, "f")
		n.keys("15G:Cursord patch<CR>")
		n.until("the hunk that the cursor was on", "return vim.bo.filetype == 'cursord_review' and vim.api.nvim_get_current_line():find('@@ -12,7 +12,9 @@', 1, true) == 1")
		n.until("all", "return require('cursord.workspace').find():pending() == 7")
		for _, look := range looks {
			n.looks(look)
			n.ex("normal! zt")
			screen := n.screen()
			require.Regexp(t, ` 7 hunks in 4 files +a accept · (r reject · u undo · m remark · )?g\?\n`, screen)
			require.Contains(t, screen, "\n line 14\n-line 15\n+agent 15a\n")
			require.Contains(t, screen, "\nmodified g.lua +2 −2\n@@ -1,4 +1,4 @@\n")
			require.Contains(t, screen, "\ncreated new +2 −0\n@@ -0,0 +1,2 @@\n+a\n+b\nmode run.sh\nmode 100644 → 100755 by command\n")
			require.Equal(t, n.ground("CursordAdd"), strings.Fields(n.cell("+agent 15a"))[2])
			require.Equal(t, n.ground("CursordDelete"), strings.Fields(n.cell("-line 15"))[2])
			require.Equal(t, n.ink("CursordFile"), strings.Fields(n.cell("modified g.lua"))[0])
			require.Equal(t, n.ink("@keyword.return.lua")+" on "+n.ground("CursordAdd"), n.cell("return a * b"))
			require.Equal(t, n.ink("@string.lua")+" on "+n.ground("CursordAddText"), n.cell("'text'"))
		}
		n.lua("vim.o.background, vim.o.columns = 'dark', 80")
		line := func(what, want string) {
			n.t.Helper()
			n.until(what, "return vim.api.nvim_get_current_line():find(..., 1, true) == 1", want)
		}
		hunks := func(want int) {
			n.t.Helper()
			n.until("the hunks", `local shown = vim.tbl_filter(function(line) return line:find('^@@ ') or line:find('^mode 1') end, vim.api.nvim_buf_get_lines(0, 0, -1, false))
				return vim.bo.filetype == 'cursord_review' and #shown == ... and not require('cursord.review.decide').is_busy(require('cursord.workspace').find())`, want)
		}
		n.keys("m")
		n.untilScreen("the agent gets this with its next prompt")
		n.keys("r")
		line("the next hunk", "@@ -24,7 +2")
		hunks(6)
		require.Equal(t, world.Numbered(30, map[int]string{3: all[3], 27: all[27]}), w.Get("f"))
		n.keys("u")
		line("the hunk that is back", "@@ -12,7 +12,9 @@")
		hunks(7)
		n.keys("6j")
		line("the second of three lines", "+agent 15b")
		n.keys("Vr")
		n.poll("one line is gone", func() bool { return !strings.Contains(w.Get("f"), "agent 15b") })
		require.Contains(t, w.Get("f"), "agent 15a\nagent 15c\n")
		hunks(7)
		n.keys("u")
		n.poll("it is back", func() bool { return strings.Contains(w.Get("f"), "agent 15b") })
		n.keys("U")
		n.poll("and gone", func() bool { return !strings.Contains(w.Get("f"), "agent 15b") })
		n.untilScreen("+agent 15a\n+agent 15c") // drawing the buffer again opens folds
		n.untilScreen("; 7 hunks left")
		n.keys("[[[[<Tab>")
		n.untilScreen("modified f +3 −3\nmodified g.lua")
		n.keys("]]")
		line("the file", "modified g.lua")
		n.keys("a") // all of it
		hunks(5)
		line("the next one", "@@ -0,0 +1,2 @@")

		// By turn.
		n.keys("t")
		n.untilScreen(` 1 hunk in 1 file of "make the new one"`)
		require.NotContains(t, n.screen(), "run.sh")
		n.keys("ga")
		n.untilScreen("Nothing of this turn is left to review.")
		n.keys("t")
		hunks(4)
		n.untilScreen(" 4 hunks in 2 files")
		n.keys("G")
		line("the mode", "mode 100644")
		n.keys("a")
		hunks(3)

		// To the file and back; side by side; keys; the end.
		n.keys("G[cjjj<CR>")
		n.until("its line", "return vim.fn.expand('%') == 'f' and vim.fn.line('.') == 27")
		n.keys(":Cursord patch<CR>")
		line("where it is", "@@ -24,7 +2")
		n.keys("g?")
		n.untilScreen("accept the file")
		n.keys("jk")
		n.keys(":Cursord reject<CR>")
		hunks(2)
		n.keys("ggR")
		n.untilScreen("\nNothing to review.")
		require.Equal(t, before, w.Get("f"))
		n.keys("u")
		hunks(2)
		n.keys("q")
		n.until("it is closed", "return vim.fn.expand('%') == 'f'")
		require.Equal(t, 1.0, n.lua("return #vim.api.nvim_list_wins()"))
		n.quiet()
	})
}

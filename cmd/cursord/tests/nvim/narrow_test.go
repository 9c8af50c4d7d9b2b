//go:build unix

package nvim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimSaysWhatMattersFirst has the plugin speak on screens of 80 and of 40 columns. What is cut at the end of the line is the
// less important part, and no text speaks of revisions.
func TestNvimSaysWhatMattersFirst(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		for _, c := range []struct {
			columns                                   int
			ended, copied, changed, rejected, stopped string
		}{
			{
				80, "cursord: 1 hunk in 1 file; ]a goes there", "cursord: in a copy of the workspace, from the next session on", "cursord: f has changed; decide again",
				"rejected 1 hunk; none left", "cursord: stopped; the next command starts it",
			},
			{40, "\n]a: 1 hunk in 1 file", "\nin a copy of the workspace,…", "\nf has changed; decide again", "rejected 1 hunk; none left", "\nstopped; the next command s…"},
		} {
			t.Log(c.columns)
			w := world.New(t)
			before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent 5\n"})
			w.Put("f", before)
			w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
			w.Start()
			w.Trusts()
			n := neovim(w, t, bin, fmt.Sprintf(ownNotify, c.columns)+"\nvim.g.cursord = { chat = { open_on_ask = false } } vim.keymap.set('n', ']a', '<Plug>(cursord-next)')", "f")
			n.keys(":Cursord ask do it<CR>")
			n.untilScreen(c.ended)
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
	anNvim(t, func(t *testing.T, bin string) {
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

// TestNvimNotesOfTheReviewBuffer looks at a note of the review buffer on 80 and 40 columns, where its end was cut.
func TestNvimNotesOfTheReviewBuffer(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Unexplained()
		n := neovim(w, t, bin, "vim.o.columns = 80", "f")
		n.ex("Cursord patch")
		n.until("the list", "return vim.api.nvim_buf_line_count(0) > 20")
		n.keys("G")
		n.untilScreen("\n! may be yours: it is not surely the agent's; only a reject of the hunk itself\n  takes it back\n@@")
		n.lua("vim.o.columns = 40")
		n.untilScreen("\n! may be yours: it is not surely the\n  agent's; only a reject of the hunk\n  itself takes it back\n@@")
		n.quiet()
	})
}

// TestNvimFloatsOfFortyColumns lists the keys of each buffer of the plugin, and says where a line comes from, on 40 columns and 20 lines.
// No word is cut.
func TestNvimFloatsOfFortyColumns(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent 5\n"})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.o.columns, vim.o.lines = 40, 20 vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.turn("do it please with many words in it")
		n.hunksOf("f", 1)
		n.ex("5Cursord why")
		n.untilScreen("│pending · now · \"do it please with  │")
		n.untilScreen("│many words in it\"                   │")
		for _, command := range []string{"Cursord patch", "Cursord sessions!", "Cursord chat", "Cursord chat | stopinsert"} {
			n.ex(command)
			n.until("its buffer", "return vim.fn.expand('%:t') ~= 'f'")
			if command == "Cursord chat" {
				n.keys("<Esc><C-w>k") // else it is the input
				n.until("the transcript", "return vim.bo.filetype == 'cursord_chat'")
			}
			n.keys("g?")
			n.until("the keys", `for _, win in ipairs(vim.api.nvim_list_wins()) do
				local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false)
				if vim.api.nvim_win_get_config(win).relative ~= '' and vim.tbl_contains(lines, function(l) return l:find('these keys$') end, { predicate = true }) then
					for _, line in ipairs(lines) do
						assert(vim.api.nvim_strwidth(line) <= 38, line)
					end
					vim.api.nvim_win_close(win, true)
					return true
				end
			end
			return false`)
			n.ex("only | edit f")
		}
		n.quiet()
	})
}

// TestNvimStatusLineOfALongTitle: the status line of the transcript has the beginning of a long title, and a blank before the place of the cursor.
func TestNvimStatusLineOfALongTitle(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("Yes."), world.Done)
		e.Turn(world.Obj{"prompt": "fix the counter: 100% done, it counts from one"})
		n := neovim(w, t, bin, "vim.o.columns, vim.o.lines = 80, 24", "f")
		n.ex("Cursord resume")
		n.untilScreen("Yes.")
		for _, c := range []struct{ keys, line string }{
			{"<Esc><C-w>kG0", " Cursor: fix the counter: 100% don… 7,1"},
			{":set laststatus=3<CR>", " Cursor: fix the counter: 100% done, it counts from one"},
		} {
			n.keys(c.keys)
			n.untilScreen(c.line)
		}
		n.quiet()
	})
}

// TestNvimSaysWhatToDo: what to do stands before what is cut at the end of the line. Once it was cut.
func TestNvimSaysWhatToDo(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		n := neovim(w, t, bin, fmt.Sprintf(ownNotify, 80), "f")
		for _, c := range []struct{ message, hint, line string }{
			{"docs/guide.md has unsaved changes in an editor", "save it and try again", "save it and try again: docs/guide.md has unsave … :Cursord messages"},
			{"f has unsaved changes in an editor", "save it and try again", "cursord: f has unsaved changes in an editor; save it and try again"},
			{"it is odd", "press q", "cursord: it is odd; press q"},
			{"it is odd " + strings.Repeat("and long ", 9), strings.Repeat("do this ", 9), "it is odd and long and long and long and long a … :Cursord messages"},
		} {
			n.lua("require('cursord.rpc').say_error({ message = ({...})[1], data = { hint = ({...})[2] } })", c.message, c.hint)
			n.untilScreen("\n" + c.line)
		}
		n.keys(":Cursord messages<CR>")
		n.untilScreen("\ncursord: docs/guide.md has unsaved changes in an editor\n  save it and try again\n")
	})
}

// TestNvimSearchKeysOfFortyColumns: where the keys of the search do not fit, the one that closes it stays.
func TestNvimSearchKeysOfFortyColumns(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, _ := trusted(t, world.Tree{"f": "one\n"})
		n := neovim(w, t, bin, "vim.o.columns = 60", "f")
		n.keys(":Cursord search<CR>")
		for _, c := range []struct {
			columns float64
			keys    string
		}{
			{60, "└ <CR> to the list · <C-n> <C-p> choose · <Esc> close ─"},
			{40, "└ <CR> to the list · <Esc> close ─"},
			{30, "└ <Esc> close ─"},
		} {
			n.lua("vim.o.columns = ...", c.columns)
			n.untilScreen(c.keys)
		}
		n.quiet()
	})
}

// TestNvimNotesAreNotCut shows notes above lines in windows with line numbers and signs: they are wrapped at the edge of the text, also after
// another width or other columns beside the text.
func TestNvimNotesAreNotCut(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent 5\n"})
		w.PutAll(world.Tree{"f": before, "old": "moved\n"})
		w.Start()
		w.Trusts()
		w.Plays(world.Lines(world.Edits("1", "f", before, after), world.Shells("2", "mkdir sub && mv old sub/new_one"))...)
		n := neovim(w, t, bin, "vim.o.number = true vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.ex("edit old | buffer f")
		n.keys("5GA mine<Esc>")
		n.ex("Cursord ask do it")
		n.untilScreen("you have changed this")
		fits := func() {
			n.t.Helper()
			n.poll("the whole note", func() bool {
				return strings.Contains(strings.Join(strings.Fields(n.screen()), " "), "keeps yours, accept takes the agent's, accept both keeps both ")
			})
		}
		fits()
		n.lua("vim.o.columns = 102; vim.wo.number = false")
		fits()
		n.lua("vim.wo.number, vim.wo.foldcolumn = true, '2'")
		fits()
		n.lua("vim.o.columns = 40")
		n.keys(":write | buffer old<CR>")
		n.untilScreen("the agent has moved this file to\n")
		n.untilScreen("sub/new_one\n")
	})
}

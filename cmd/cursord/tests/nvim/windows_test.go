//go:build unix

package nvim

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimChatKeepsItsLook opens the chat before its session is known, and changes sessions. Thoughts are folded, also in
// Insert mode, the title is above, and a "_" in a word is not marked as an error of Markdown.
func TestNvimChatKeepsItsLook(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Plays(`{"type":"thinking","subtype":"delta","text":"Hm.\nWell."}`, `{"type":"thinking","subtype":"completed"}`, world.Streams("Some snake_case words"), world.Done)
		w.Start()
		e := w.Opens()
		e.Turn(world.Obj{"prompt": "the first"})
		e.Turn(world.Obj{"prompt": "the second"})
		n := neovim(w, t, bin, picks)
		look := func(title string) {
			t.Helper()
			n.untilScreen("│ " + title + "\n")
			n.untilScreen("Some snake_case words")
			n.untilScreen("∴ Thinking")
			n.until("Insert mode", "return vim.api.nvim_get_mode().mode == 'i'")
			folded := func() bool { return !strings.Contains(n.screen(), "│ Hm.") }
			n.poll("it is folded", folded)
			n.keys("<Esc>")
			n.until("Normal mode", "return vim.api.nvim_get_mode().mode == 'n'")
			require.True(t, folded())
			require.Empty(t, n.lua(`return vim.api.nvim_win_call(vim.fn.win_getid(vim.fn.winnr('k')), function()
				return vim.fn.synIDattr(vim.fn.synID(vim.fn.search('snake_case', 'nw'), 11, 1), 'name')
			end)`), "the colour of the _")
			require.Equal(t, "no", n.lua("return vim.wo[vim.fn.win_getid(vim.fn.winnr('k'))].signcolumn"))
		}
		n.keys(":Cursord resume<CR>")
		look("the second")
		n.ex("Cursord chat")
		n.keys("<Esc>:Cursord chat<CR>")
		look("the second")
		n.lua("pick = 'the first'")
		n.ex("Cursord sessions")
		look("the first")
		n.ex("wincmd k")
		n.ex("edit!")
		n.untilScreen("Some snake_case words")
		n.quiet()
	})
}

// TestNvimChatKeepsTheCursorOfWhoTypes: the commands that go to the input moved the cursor to the end of a draft that was being typed.
func TestNvimChatKeepsTheCursorOfWhoTypes(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Done)
		e.Turn(world.Obj{"prompt": "hello"})
		n := neovim(w, t, bin, "vim.g.cursord = { notify = { progress = false } }", "f")
		draft := func(want string) {
			t.Helper()
			n.until("the draft", "return vim.fn.getline(1) == ... and vim.api.nvim_get_mode().mode == 'i'", want)
		}
		n.ex("Cursord resume")
		n.until("the session", "return require('cursord.workspace').find().current ~= nil")
		first := n.lua("return require('cursord.workspace').find().current")
		n.keys("draft<Left><Left>")
		draft("draft")
		n.lua("require('cursord.workspace').find().chosen = nil")
		n.ex("Cursord resume")
		n.until("it goes on", "return require('cursord.workspace').find().chosen")
		n.keys("1")
		draft("dra1ft")
		n.ex("Cursord fork")
		n.until("the fork", "return require('cursord.workspace').find().current ~= ...", first)
		n.keys("2")
		draft("dra12ft")
		n.keys("<Esc>")
		n.until("Normal mode", "return vim.api.nvim_get_mode().mode == 'n'")
		n.ex("Cursord resume")
		n.until("Insert mode", "return vim.api.nvim_get_mode().mode == 'i'")
		n.keys("3")
		draft("dra12ft3")
		n.quiet()
	})
}

// TestNvimInASessionFile restores windows from a session file. The file has only the names of the chat's buffers, so the
// chat is opened again.
func TestNvimInASessionFile(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "text\n")
		w.Plays(world.Streams("Some words"), world.Done)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.g.cursord = { notify = { progress = false } }", "f")
		n.turn("first")
		n.ex("Cursord patch")
		n.ex("mksession! ../session.vim")
		require.Contains(t, w.Get("../session.vim"), "cursord://chat/")
		require.Contains(t, w.Get("../session.vim"), "cursord://review/")
		n.ex("silent! only | %bwipeout!")
		n.ex("source ../session.vim")
		n.untilScreen("│Some words\n")
		n.untilScreen("│Ask the agent; <CR> sends")
		require.ElementsMatch(t, []any{"f", "cursord_chat", "cursord_input"}, n.lua(`return vim.tbl_map(function(win)
			local buf = vim.api.nvim_win_get_buf(win)
			return vim.bo[buf].buftype == '' and vim.fn.bufname(buf) or vim.bo[buf].filetype
		end, vim.api.nvim_list_wins())`))
		n.quiet()
	})
}

// nvimAndAChange opens a file in Neovim and has the agent change its line 5.
func nvimAndAChange(w *world.World, t *testing.T, bin string) (e *world.Editor, n *nvim, before, after string) {
	t.Helper()
	before, after = world.Numbered(9, nil), world.Numbered(9, map[int]string{5: "agent 5\n"})
	w.Put("f", before)
	w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
	w.Start()
	e = w.Opens()
	n = neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
	n.ex("Cursord ask do it")
	n.agree(e, "f", after, 1)
	return e, n, before, after
}

// TestNvimShowsOldLinesOnce opens the diff of a file. The file's buffer hides its deleted lines while the other window shows
// them.
func TestNvimShowsOldLinesOnce(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		e, n, before, after := nvimAndAChange(w, t, bin)
		virtual := func() float64 {
			return n.lua(`return #vim.tbl_filter(function(m) return m[4].virt_lines end,
				vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('^f$'), vim.api.nvim_get_namespaces().cursord_words, 0, -1, { details = true }))`).(float64)
		}
		require.EqualValues(t, 1, virtual())
		n.ex("Cursord overlay")
		require.EqualValues(t, 0, virtual())
		require.Contains(t, n.screen(), "┃ agent 5")
		n.ex("Cursord overlay")
		require.EqualValues(t, 1, virtual())
		n.ex("Cursord diff")
		require.EqualValues(t, 0, virtual())
		n.ex("tabprevious")
		require.EqualValues(t, 1, virtual())
		n.ex("tabnext")
		require.EqualValues(t, 0, virtual())
		n.ex("5Cursord reject")
		n.agree(e, "f", before, 0)
		n.ex("Cursord undo")
		n.agree(e, "f", after, 1)
		require.EqualValues(t, 0, virtual())
		n.ex("tabclose")
		require.EqualValues(t, 1, virtual())
		n.quiet()
	})
}

// TestNvimRedoOfARejectRejectsAgain goes back and forth over a reject in a saved buffer. CTRL-R makes the decision again, on disk and for
// all clients.
func TestNvimRedoOfARejectRejectsAgain(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		e, n, before, after := nvimAndAChange(w, t, bin)
		n.ex("5Cursord reject")
		n.agree(e, "f", before, 0)
		n.keys("u")
		n.agree(e, "f", after, 1)
		for range 2 {
			n.keys("<C-r>")
			n.agree(e, "f", before, 0)
			require.False(t, n.modified("f"))
			n.keys("u")
			n.agree(e, "f", after, 1)
			require.False(t, n.modified("f"))
		}
		n.quiet()
	})
}

// TestNvimCompletesFilesThatAreThere does not complete deleted files that git still lists.
func TestNvimCompletesFilesThatAreThere(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.RepositoryIn(".", world.Tree{"file-a": "a\n", "file-b": "b\n"})
		require.NoError(t, os.Remove(w.Path("file-a")))
		w.Start()
		n := neovim(w, t, bin, "")
		n.ex("Cursord review")
		n.until("the file that is there", `local words = vim.tbl_map(function(i) return i.word end, require('cursord.complete').items('@file'))
			assert(not vim.list_contains(words, '@file-a'))
			return vim.deep_equal(words, { '@file-b' })`)
	})
}

// TestNvimBarSaysWhoAsks: the bar above a chat does not say that its session asks if another one does.
func TestNvimBarSaysWhoAsks(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("../config.toml", "driver = \"acp\"\n")
		w.Put("a.txt", "text\n")
		w.Plays(`{"fake":"say","text":"slowly"}`, `{"fake":"wait","path":"go"}`)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { notify = { progress = false } }", "a.txt")
		n.ex("Cursord ask slow")
		n.untilScreen("slowly")
		w.Plays(`{"fake":"shell","ask":true,"command":"echo beta"}`)
		beta := e.Asks(world.Obj{"prompt": "beta, which asks", "isolation": "copy"})
		bar := "return vim.api.nvim_eval_statusline(require('cursord.winbar').text(require('cursord.workspace').find(), ({...})[1], ({...})[2]), { maxwidth = ({...})[2] }).str"
		slow := n.lua("return require('cursord.workspace').find().current")
		n.poll("the bar of slow", func() bool {
			return strings.Contains(n.lua(bar, slow, 60).(string), `working, "beta, which asks" asks you · `)
		})
		require.Regexp(t, `^ slow +"beta, whi…" asks you · \d:\d\d $`, n.lua(bar, slow, 40))
		require.Regexp(t, `^ beta, which asks +in a copy · asks you · \d:\d\d $`, n.lua(bar, beta.SessionID, 60))
		e.Until("the question", func(m world.Notification) bool { return m.Approval != nil })
		e.Must("turn/cancel", world.Obj{"turnId": beta.ID}, nil)
		n.poll("the bar after that", func() bool { return !strings.Contains(n.lua(bar, slow, 60).(string), "asks") })
	})
}

// TestNvimChatSharesANarrowerScreen resizes the screen with the chat open. Files keep half of it, and below 60 columns the chat goes below them, unless the
// person has given the chat a width. It kept all of its columns, and a file had 8 of 59.
func TestNvimChatSharesANarrowerScreen(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("Some words"), world.Done)
		e.Turn(world.Obj{"prompt": "hello"})
		n := neovim(w, t, bin, "vim.g.cursord = { notify = { progress = false } }", "f")
		n.ex("Cursord resume")
		n.untilScreen("│Some words\n")
		n.keys("draft")
		sizes := func(columns float64, want string) { // of the file, the transcript and the input
			t.Helper()
			if columns > 0 {
				n.lua("vim.o.columns = ...", columns)
			}
			n.until(want, `local out = {}
				for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
					out[#out + 1] = vim.api.nvim_win_get_width(win) .. 'x' .. vim.api.nvim_win_get_height(win)
				end
				return table.concat(out, ' ') == ...`, want)
		}
		sizes(0, "49x28 50x21 50x6")
		for range 2 {
			sizes(80, "39x28 40x21 40x6")
			sizes(60, "29x28 30x21 30x6")
			sizes(59, "59x12 59x9 59x5")
			sizes(40, "40x12 40x9 40x5")
			n.untilScreen("\nSome words\n")
			sizes(100, "49x28 50x21 50x6")
		}
		n.keys("<Left>1")
		n.until("it is typed on", "return vim.fn.getline(1) == 'draf1t' and vim.api.nvim_get_mode().mode == 'i'")

		n.keys("<Esc>:tabnew<CR>")
		n.until("another tab page", "return vim.fn.tabpagenr() == 2")
		sizes(80, "80x27")
		n.ex("tabprevious")
		sizes(0, "39x27 40x20 40x6")
		n.ex("tabclose 2")
		n.ex("wincmd t | vsplit | close")
		sizes(100, "49x28 50x21 50x6")
		n.keys("60<C-w>|")
		sizes(0, "60x28 39x21 39x6")
		sizes(80, "40x28 39x21 39x6")
		sizes(50, "10x28 39x21 39x6")
		n.ex("Cursord chat")
		n.ex("Cursord chat")
		sizes(0, "50x12 50x9 50x5")
		n.quiet()
	})
}

//go:build unix

package nvim

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestNvimSessions picks among the sessions of two folders. In the list of sessions it previews one, renames one, deletes
// one and goes on with one.
func TestNvimSessions(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": "one\n", "../other/g": "one\n"})
		w.Start()
		w.Trusts()
		w.Plays(append(world.Edits("1", "f", "one\n", "two\n"), world.Streams("It is two now."), world.Done)...)
		e := w.Opens()
		e.Turn(world.Obj{"prompt": "change f"})
		w.Plays(world.Streams("Nothing."), world.Done)
		e.Turn(world.Obj{"prompt": "a second one"})
		other := w.Folder("../other")
		e.Trusts(other)
		var elsewhere rpc.TurnStartResult
		e.Must("turn/start", world.Obj{"workspace": other, "prompt": "elsewhere", "turnId": "else"}, &elsewhere)
		e.Must("turn/wait", world.Obj{"turnId": "else"}, nil)
		n := neovim(w, t, bin, `vim.o.termguicolors, vim.o.columns = true, 80
			vim.g.cursord = { notify = { progress = false } }
			vim.ui.select = function(items, opts, done)
				shown, prompt = vim.tbl_map(opts.format_item or tostring, items), opts.prompt
				choose = function(i) done(items[i]) end
			end
			vim.ui.input = function(opts, done) asked = opts done('another title') end`, "f")
		n.ex("Cursord sessions")
		n.until("the choices", "return shown ~= nil")
		lines := n.lua("return shown").([]any)
		require.Len(t, lines, 4)
		require.Equal(t, []any{"New session", "a second one  (1 turn, now)", "change f  (1 turn, now, 1 hunk)"}, lines[:3])
		require.True(t, strings.HasPrefix(lines[3].(string), "elsewhere  (1 turn, now, "), lines[3])
		n.lua("choose(4)")
		n.until("the chat of the other folder", "return vim.bo.filetype == 'cursord_input' and vim.b.cursord_root == ...", other)
		n.untilScreen("elsewhere")
		n.keys("<Esc>:Cursord chat<CR>")
		n.until("it is closed", "return #vim.api.nvim_list_wins() == 1")

		n.keys(":Cursord sessions!<CR>")
		for _, look := range looks {
			n.looks(look)
			line, bar := "\n        1 hunk    now        ", " Sessions                     <CR> go · R rename · D delete · K look · v review · g?"
			if n.lua("return vim.o.columns") == 40.0 {
				line, bar = "\n1 hunk     change f\n          other  elsewhere\n", " Sessions       <CR> go · R rename · g?"
			}
			n.untilScreen(line)
			require.Regexp(t, strings.NewReplacer("?", `\?`, "    ", " +").Replace(bar)+`\n`, n.screen())
			require.Equal(t, n.ink("CursordRange"), strings.Fields(n.cell("1 hunk "))[0])
		}
		n.lua("vim.o.columns = 80")
		n.untilScreen("change f\n")
		// A change in another folder does not make that folder's sessions the first.
		e.Must("session/update", world.Obj{"sessionId": elsewhere.Turn.SessionID, "title": "far away"}, nil)
		n.until("it is still the last", "return vim.api.nvim_buf_get_lines(0, 2, 3, false)[1]:find('far away') ~= nil")
		n.keys("/change<CR>K")
		n.untilScreen("│It is two now.")
		n.keys("q")
		n.poll("it is closed, and the list is not", func() bool {
			screen := n.screen()
			return !strings.Contains(screen, "│It is two now.") && strings.Contains(screen, " Sessions")
		})
		n.keys("K")
		n.untilScreen("│It is two now.")
		n.keys("jkR")
		n.untilScreen("another title\n")
		require.Equal(t, "change f", n.lua("return asked.default"))
		n.keys("gg/another<CR>D")
		n.until("the question", "return prompt == 'Delete \"another title\" and all that was said in it?'")
		n.lua("choose(1)")
		n.until("it is gone", "return #vim.tbl_filter(function(l) return l:find('another') end, vim.api.nvim_buf_get_lines(0, 0, -1, false)) == 0")
		n.keys("gg/a second<CR>v")
		n.untilScreen("modified f +1 −1")
		n.keys("q:Cursord sessions!<CR>")
		n.untilScreen("a second one\n")
		n.keys("/a second<CR><CR>")
		n.until("its chat", "return vim.bo.filetype == 'cursord_input'")
		n.untilScreen("a second one")
		n.quiet()
	})
}

// TestNvimListsForksAsTheTerminal: the list of sessions has the forks of a session in the order of their making, and the tree that
// changed last first, as "cursord sessions --tree" has them.
func TestNvimListsForksAsTheTerminal(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Done)
		later := func() { // sessions are in the order of the milliseconds in which they changed
			was := time.Now().UnixMilli()
			require.True(t, world.Comes(world.Patience, func() bool { return time.Now().UnixMilli() > was }))
		}
		fork := func(of, title string) string {
			later()
			var made struct{ Session struct{ ID string } }
			e.Must("session/fork", world.Obj{"sessionId": of, "title": title}, &made)
			return made.Session.ID
		}
		first := e.Turn(world.Obj{"prompt": "the first"}).SessionID
		older := fork(first, "its older fork")
		younger := fork(first, "its younger fork")
		fork(older, "a fork of that")
		later()
		e.Turn(world.Obj{"prompt": "the second"})
		later()
		e.Must("session/update", world.Obj{"sessionId": younger, "title": "the younger fork"}, nil)
		n := neovim(w, t, bin, `vim.o.columns = 80 vim.g.cursord = { notify = { progress = false } }`, "f")
		n.ex("Cursord sessions!")
		n.untilScreen("the younger fork")
		var titles []string
		for line := range strings.Lines(n.text()) {
			_, title, _ := strings.Cut(line, "ws ")
			titles = append(titles, strings.TrimSpace(title))
		}
		require.Equal(t, []string{"the first", "├ its older fork", "│ └ a fork of that", "└ the younger fork", "the second"}, titles)
		n.quiet()
	})
}

// TestNvimAsksInPlace asks in a float beside a selection, by a saved prompt and with symbols, and checks the sources for
// completion plugins.
func TestNvimAsksInPlace(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"lib/a.lua": world.Numbered(30, nil), ".cursor/commands/tidy.md": "Tidy the code up.\n", "../.cursor/commands/mine.md": "Mine.\n"})
		w.Plays(world.Done)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, `vim.o.columns, vim.o.lines = 80, 30
			vim.keymap.set('x', 'ga', '<Plug>(cursord-ask)')
			vim.g.cursord = { chat = { open_on_ask = false }, notify = { progress = false } }`, "lib/a.lua")
		n.keys("3GVjjga")
		n.untilScreen("╭ Ask about lines 3–5 ─")
		require.Contains(t, n.screen(), "line 5\n╭ Ask about lines 3–5 ─", "it is below the lines")
		asked := func(lines string) {
			n.t.Helper()
			require.Equal(t, lines, n.lua(`local buf = vim.fn.bufnr('lib/a.lua')
				local ns = vim.api.nvim_get_namespaces().cursord_inline
				local m = vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true })[1]
				return m and ('%d-%d'):format(m[2] + 1, m[4].end_row) or ''`))
		}
		asked("3-5")
		for _, look := range looks {
			n.looks(look)
			require.Equal(t, n.ground("Visual"), strings.Fields(n.cell("line 4"))[2], "the lines that the prompt is about")
		}
		n.looks(look{"dark", 80})
		n.keys("/ti")
		n.until("the saved prompt", "return vim.fn.pumvisible() == 1")
		n.keys("<C-n><CR> and<C-j>then<C-j>stop")
		n.until("it grows", "return vim.api.nvim_win_get_height(0) == 3 and vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] == '/tidy and'")
		n.keys("<CR>")
		n.poll("the prompt", func() bool { return len(w.Runs()) == 1 })
		require.Equal(t, "<context>\n<selection path=\"lib/a.lua\" lines=\"3-5\">\nline 3\nline 4\nline 5\n</selection>\n</context>\n\nTidy the code up.\n\nand\nthen\nstop",
			strings.TrimSpace(w.Runs()[0].Prompt))
		asked("")
		require.Equal(t, []any{1.0, "n"}, n.lua("return { #vim.api.nvim_list_wins(), vim.api.nvim_get_mode().mode }"))
		n.keys("Vga")
		n.untilScreen("╭ Ask about line ")
		n.keys("one<C-j>two")
		n.untilScreen("│one")
		n.keys("<C-u><BS>")
		n.keys("no<Esc><Esc>")
		n.until("it is closed", "return #vim.api.nvim_list_wins() == 1")

		// Symbols, by a small language server.
		n.lua(`vim.lsp.start({ name = 'one', root_dir = vim.fn.getcwd(), cmd = function()
				return {
					request = function(method, params, done)
						local range = { start = { line = 11, character = 0 }, ['end'] = { line = 20, character = 1 } }
						local answer = method == 'initialize' and { capabilities = { workspaceSymbolProvider = true } }
							or method == 'workspace/symbol' and { { name = 'Frobnicate', kind = 12, location = { uri = vim.uri_from_fname(vim.fn.getcwd() .. '/lib/a.lua'), range = range } } }
							or vim.NIL
						vim.schedule(function() done(nil, answer) end)
						return true, 1
					end,
					notify = function() return true end, is_closing = function() return false end, terminate = function() end,
				}
			end })`)
		n.until("the server", "return #vim.lsp.get_clients({ bufnr = 0, method = 'workspace/symbol' }) == 1")
		n.keys(":Cursord chat<CR>")
		n.until("the input", "return vim.bo.filetype == 'cursord_input' and vim.api.nvim_get_mode().mode == 'i'")
		n.keys("see @Frob")
		n.until("the symbol", "local i = vim.fn.complete_info({ 'items' }).items[1] return i and i.abbr == '@Frobnicate' and i.menu == 'function in lib/a.lua'")
		n.keys("<C-n><C-y>")
		n.until("its place", "return vim.api.nvim_get_current_line() == 'see @lib/a.lua:12-21'")
		n.keys("<C-u>")
		n.until("nothing", "return vim.api.nvim_get_current_line() == ''")

		// The sources, by the interfaces that the plugins document.
		require.Equal(t, []any{"/mine", "/tidy"}, n.lua(`local out
			require('cursord.sources.blink').new():get_completions({ line = '/', cursor = { 1, 1 } }, function(answer) out = answer end)
			return vim.tbl_map(function(i) return i.textEdit.newText end, out.items)`))
		require.Equal(t, []any{"@lib/a.lua", 4.0, 6.0}, n.lua(`local out
			local source = require('cursord.sources.cmp').new()
			assert(source:is_available())
			source:complete({ context = { cursor_line = 'see @a', cursor = { row = 1, col = 7 } } }, function(answer) out = answer end)
			local edit = vim.tbl_filter(function(i) return i.kind == 17 end, out.items)[1].textEdit
			return { edit.newText, edit.range.start.character, edit.range['end'].character }`))
		n.keys("@")
		n.until("the line", "return vim.api.nvim_get_current_line() == '@'")
		require.Equal(t, 0.0, n.lua("return vim.fn.pumvisible()"), "one list is enough")
		n.quiet()
	})
}

// TestNvimTellsThoseWhoLookElsewhere has the terminal notify at a turn's end if Neovim does not have the focus, and not
// otherwise.
func TestNvimTellsThoseWhoLookElsewhere(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "one\n")
		w.Start()
		w.Trusts()
		w.Put("../init.lua", "vim.opt.rtp:prepend('"+world.Top("editors", "nvim")+"')\nvim.env.TMUX = nil\nvim.g.cursord = { chat = { open_on_ask = false } }\n")
		tm := w.Terminal(t)
		out := w.Path("../raw")
		require.NoError(t, tm.Command("pipe-pane", "-o", "cat > '"+out+"'").Run())
		tm.Types(bin+" -u ../init.lua -i NONE -n f", "Enter")
		tm.Poll("the file", func() bool { return strings.Contains(tm.Screen(), "one") && strings.Contains(tm.Screen(), "1,1") })
		ask := func(prompt, end string) {
			tm.Types(":Cursord ask "+prompt, "Enter")
			tm.Poll(end, func() bool { return strings.Contains(tm.Screen(), end) })
		}
		raw := func() string { b, _ := os.ReadFile(out); return string(b) }
		w.Plays(append(world.Edits("1", "f", "one\n", "two\n"), world.Done)...)
		ask("here", "1 hunk in 1 file")
		require.NoError(t, tm.Command("send-keys", "-H", "1b", "5b", "4f").Run()) // the focus is lost
		w.Plays(`{"type":"result","subtype":"error","is_error":true,"result":"it broke"}`)
		ask("away", "it broke")
		tm.Poll("the notification", func() bool { return strings.Contains(raw(), "\x1b]9;here") })
		require.Contains(t, raw(), "\x1b]9;here: ")
		require.Equal(t, 1, strings.Count(raw(), "\x1b]9;here")+strings.Count(raw(), "\x1b]9;away"))
		tm.Types(":qa!", "Enter")
		tm.Until("$")
	})
}

// TestNvimResumesInAnOpenChat: the latest session comes into a chat that shows another one, in all tab pages. The chat showed the other session on, without a bar, and
// the next commands opened more windows.
func TestNvimResumesInAnOpenChat(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w, e := trusted(t, world.Tree{"f": "one\n"})
		w.Plays(world.Streams("Older words."), world.Done)
		e.Turn(world.Obj{"prompt": "the older"})
		w.Plays(world.Streams("Latest words."), world.Done)
		latest := e.Turn(world.Obj{"prompt": "the latest"}).SessionID
		n := neovim(w, t, bin, `vim.o.columns = 120 vim.g.cursord = { notify = { progress = false } }`, "f")
		n.ex("Cursord sessions!")
		n.untilScreen("the older\n")
		n.keys("/the older<CR><CR>")
		n.untilScreen("Older words.")
		n.keys("<Esc>:tab split<CR>:Cursord chat<CR>")
		n.untilScreen("Older words.")
		shows := func(bar, words string) {
			t.Helper()
			n.untilScreen("│ " + bar)
			n.untilScreen("│" + words + "\n")
			require.NotContains(t, n.screen(), "Older words.")
			require.EqualValues(t, 3, n.lua("return #vim.api.nvim_tabpage_list_wins(0)"))
		}
		n.keys("<Esc>:Cursord resume<CR>")
		n.until("the session", "return require('cursord.workspace').find().current == ...", latest)
		shows("the latest", "Latest words.")
		n.keys("<Esc>:tabprevious<CR>")
		shows("the latest", "Latest words.")
		n.ex("Cursord chat")
		require.EqualValues(t, 1, n.lua("return #vim.api.nvim_tabpage_list_wins(0)"))
		n.ex("Cursord chat")
		shows("the latest", "Latest words.")
		n.quiet()
	})
}

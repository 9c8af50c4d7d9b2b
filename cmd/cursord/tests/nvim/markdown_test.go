//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

const answer = "# The plan\n\nI fix **the bug** in `f` and *maybe* more, see [the line](f:7) or [a page](https://example.org/a).\n\n" +
	"- one\n  * two\n\n> quoted\n\n```lua\nlocal x = 1 -- a comment\n```\n\n```python\nimport os\n```\n\n```3:4:a.lua\nlocal y = \"y\"\n```\n\n" +
	"```\nplain **text**\n"

// TestNvimDrawsMarkdown shows an answer in Markdown while it comes, and when it is read again: its signs are hidden, code has the
// colours of its language, and what is yanked is the text itself. What a person has asked is shown as it was written.
func TestNvimDrawsMarkdown(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", world.Numbered(9, nil))
		var script []string
		for _, word := range strings.SplitAfter(answer, " ") {
			script = append(script, world.Streams(word))
		}
		w.Plays(append(script, world.Waits("go"), world.Streams("```\n\nThe **end**."), world.Done)...)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.o.termguicolors, vim.o.lines = true, 50\nvim.cmd.syntax('on')", "f")
		n.ex("Cursord ask what is **this**?")
		shows := func(what string) {
			n.t.Helper()
			n.untilScreen("▌ You")
			n.untilScreen("what is **this**?")
			for _, line := range strings.Split(what, "\n") {
				n.untilScreen(line)
			}
			n.poll("no signs", func() bool {
				screen := n.screen()
				return !strings.Contains(screen, "# The plan") && !strings.Contains(screen, "```") && !strings.Contains(screen, "example.org")
			})
		}
		all := "│The plan\nI fix the bug in f and maybe more\nthe line or a page\n│• one\n  • two\n│▎ quoted\n│local x = 1 -- a comment\n│import os\n│local y = \"y\"\nplain **text**"
		shows(all)
		look := func() {
			n.t.Helper()
			for _, c := range [][2]string{
				{"local x", " on " + n.ground("CursordChatCode")},
				{"-- a comment", n.ink("@comment.lua")}, // by treesitter
				{"import os", n.ink("pythonInclude")},   // by Vim's syntax
				{`"y"`, n.ink("@string.lua")},           // by the file that is quoted
				{"The plan", n.ink("Title")},
			} {
				n.poll("the colours of "+c[0], func() bool { return strings.Contains(n.cell(c[0]), c[1]) })
			}
			require.NotContains(t, n.cell("I fix"), " on "+n.ground("CursordChatCode"))
		}
		look()
		w.Put("../go", "")
		shows(all + "\nThe end.")
		require.Contains(t, n.lua(transcript), "\n"+answer+"```\n\nThe **end**.", "the text itself stays")
		n.until("the end", "return require('cursord').statusline() == ''")
		n.lua("require('cursord.transcript').of(require('cursord.workspace').find().current):reload()")
		shows(all + "\nThe end.")
		look()

		n.keys(":wincmd l<CR>/maybe<CR>yy")
		n.until("a yank", "return vim.fn.getreg('\"'):find('*maybe*', 1, true) ~= nil")
		n.untilScreen("[the line](f:7)")
		n.lua("vim.ui.open = function(url) opened = url end")
		n.keys("/a page<CR>gd")
		n.until("a page", "return opened == 'https://example.org/a'")
		n.keys("?the line<CR><CR>")
		n.until("the line", "return vim.fn.expand('%:t') == 'f' and vim.fn.line('.') == 7")
		n.quiet()
	})
}

// TestNvimDrawsMarkdownPieceByPiece compares what is drawn of a text that comes in pieces with what is drawn of it at once. With
// -every-nvim the pieces have all sizes up to 40.
func TestNvimDrawsMarkdownPieceByPiece(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 3, 7, 16, 40}
	if *everyNvim {
		sizes = nil
		for size := range 40 {
			sizes = append(sizes, size+1)
		}
	}
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		n := neovim(w, t, bin, "")
		require.Nil(t, n.lua(`local all, sizes = ...
			local ws = { root = vim.fn.getcwd() }
			local ns = vim.api.nvim_create_namespace('cursord_markdown')
			local function marks(pieces)
				local shown = require('cursord.transcript').new(ws)
				shown:turn({ id = 't', sessionId = 's', prompt = 'ask', status = 'completed', seq = 1, createdAt = '2026-01-01' })
				shown:item({ id = 'i', turnId = 't', index = 1, kind = 'assistant', status = 'running', seq = 1, text = '' })
				local at, block = 0, shown.by_id.i
				for _, piece in ipairs(pieces) do
					shown:delta({ itemId = 'i', offset = at, text = piece })
					at = at + #piece
					shown:flush()
					repeat
						block.markdown.after = 0
						shown:draw()
					until not block.markdown.stale
				end
				local out = {}
				for _, m in ipairs(vim.api.nvim_buf_get_extmarks(shown.buf, ns, 0, -1, { details = true })) do
					local d = m[4]
					d.ns_id = nil
					out[#out + 1] = vim.inspect({ m[2], m[3], d })
				end
				table.sort(out)
				vim.api.nvim_buf_delete(shown.buf, { force = true })
				return out
			end
			local want = marks({ all })
			assert(#want > 20)
			for _, size in ipairs(sizes) do
				local pieces = {}
				for at = 1, #all, size do pieces[#pieces + 1] = all:sub(at, at + size - 1) end
				local have = marks(pieces)
				if not vim.deep_equal(have, want) then
					local function only(of, other)
						return table.concat(vim.tbl_filter(function(m) return not vim.list_contains(other, m) end, of), '\n')
					end
					return size .. ' too much:\n' .. only(have, want) .. '\nmissing:\n' .. only(want, have)
				end
			end`, answer+"```\n\n1. a\n\n   b\n2. c\n\n~~~json\n{\"a\": 1}\n~~~\n\nThe **end**.", sizes))
		n.quiet()
	})
}

// TestNvimDrawsNothingInAPlainText draws texts at random of which the plugin says, without a parser, that Markdown means nothing by them: the
// parsers find nothing there either.
func TestNvimDrawsNothingInAPlainText(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		n := neovim(world.New(t), t, bin, "")
		require.Equal(t, []any{}, n.lua(`math.randomseed(1)
			local code, markdown = require('cursord.code'), require('cursord.markdown')
			local signs, plain, found = vim.split([[a 1 - . ) ( : , ; ? ' " é = + * _ # > < & ! [ ] / \ | ~ @ $ {]] .. ' %\t', ' '), 0, {}
			signs[#signs + 1], signs[#signs + 2] = '\n', ' '
			for round = 1, 500 do
				local text = {}
				for i = 1, math.random(1, 12) do
					-- Most are of the signs that may be in a plain text.
					text[i] = signs[math.random() < 0.9 and math.random(14) or math.random(#signs)]
					if math.random() < 0.3 then text[i] = ({ 'word', '\n', ' ', '  ', '---', '1.' })[math.random(6)] end
				end
				text = table.concat(text)
				if markdown.is_plain(vim.split(text, '\n')) then
					plain = plain + 1
					local drawn = code.captures(text .. '\n', 'markdown', function(name)
						return not name:find('^_') and not name:find('^n?o?spell')
					end)
					if #drawn > 0 then found[#found + 1] = text end
				end
			end
			assert(plain > 50 and plain < 450, plain)
			return found`))
		n.quiet()
	})
}

// TestNvimGoesToPlacesInBold goes to places that the agent has written in bold or italics. Neovim said that there is nothing to open.
func TestNvimGoesToPlacesInBold(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		text := world.Numbered(9, nil)
		w, e := trusted(t, world.Tree{"f": "one\n", "main.go": text, "util.go": text, "_new.go": text, "__init__.py": text})
		w.Plays(world.Streams("See **main.go:7**, *main.go:8* and __util.go:3__ with _util.go:4_ or __new.go:2_, **`main.go:5`**; __init__.py:6 **main.go**. ~~util.go~~"), world.Done)
		e.Turn(world.Obj{"prompt": "hello"})
		n := neovim(w, t, bin, "vim.g.cursord = { notify = { progress = false } }", "f")
		n.ex("Cursord resume")
		n.untilScreen("See ")
		n.keys("<Esc>")
		n.until("Normal mode", "return vim.api.nvim_get_mode().mode == 'n'")
		for _, c := range []struct {
			written, file string
			line          float64
		}{
			{"main.go:7", "main.go", 7},
			{"main.go:8", "main.go", 8},
			{"__util.go:3", "util.go", 3},
			{"_util.go:4_", "util.go", 4},
			{"__new.go:2_", "_new.go", 2},
			{"`main.go:5`", "main.go", 5},
			{"__init__.py:6", "__init__.py", 6},
			{"main.go**", "main.go", 1},
			{"~~util", "util.go", 1},
		} {
			n.lua(`for _, win in ipairs(vim.api.nvim_list_wins()) do
				if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == 'cursord_chat' then vim.api.nvim_set_current_win(win) end
			end
			assert(vim.fn.search('\\V' .. ..., 'w') > 0)`, c.written)
			n.keys("gd")
			n.until(c.written, "local file, line = ... return vim.fn.expand('%:t') == file and vim.fn.line('.') == line", c.file, c.line)
		}
		n.quiet()
	})
}

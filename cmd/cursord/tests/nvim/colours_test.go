//go:build unix

package nvim

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// A look is a background and a width of the screen.
type look struct {
	background string
	columns    int
}

var looks = []look{{"dark", 80}, {"light", 80}, {"dark", 40}, {"light", 40}}

func (n *nvim) looks(l look) {
	n.t.Helper()
	n.lua("local bg, columns = ... vim.o.background, vim.o.columns = bg, columns", l.background, l.columns)
}

// cell returns the colours of the first cell of a text on the screen: "fg on bg", in hexadecimal digits.
func (n *nvim) cell(text string, row ...int) string {
	n.t.Helper()
	return n.lua(`local want, only = ...
		vim.cmd.redraw()
		for r = only or 1, only or vim.o.lines do
			local cells = {}
			for c = 1, vim.o.columns do cells[c] = vim.fn.screenstring(r, c) end
			local at = table.concat(cells):find(want, 1, true)
			if at then
				local column, bytes = 1, #cells[1]
				while bytes < at do
					column = column + 1
					bytes = bytes + #cells[column]
				end
				local attrs = vim.api.nvim__inspect_cell(1, r - 1, column - 1)[2]
				local normal = vim.api.nvim_get_hl(0, { name = 'Normal' })
				return ('%06x on %06x'):format(attrs.foreground or normal.fg, attrs.background or normal.bg)
			end
		end
		return want .. ' is not on the screen'`, append([]any{text}, anys(row)...)...).(string)
}

func anys(all []int) (out []any) {
	for _, n := range all {
		out = append(out, n)
	}
	return out
}

const colourOf = `local group, key = ...
	local function of(name) return vim.api.nvim_get_hl(0, { name = name, link = false })[key] end
	return ('%06x'):format(of(group) or of('Normal'))`

// ground returns the background of a highlight group, ink the foreground, in hexadecimal digits; those of Normal if it has
// none.
func (n *nvim) ground(group string) string {
	n.t.Helper()
	return n.lua(colourOf, group, "bg").(string)
}

func (n *nvim) ink(group string) string {
	n.t.Helper()
	return n.lua(colourOf, group, "fg").(string)
}

const luaBefore = "local function add(a, b)\n\treturn a + b -- sum\nend\n\nlocal x = 1\nprint(x)\n"
const luaAfter = "local function add(a, b)\n\treturn a * b -- sum\nend\n\nlocal y = 'text'\nprint(x)\n"

// TestNvimColours draws changed lines on a background of their own, in the colours of their syntax: in all looks, by
// treesitter, by syntax files, and in deleted lines.
func TestNvimColours(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f.lua": luaBefore, "f.py": "import os\nx = 1\n"})
		w.Plays(world.Lines(world.Edits("1", "f.lua", luaBefore, luaAfter), world.Edits("2", "f.py", "import os\nx = 1\n", "import sys\nx = 1\n"))...)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, `vim.o.termguicolors, vim.o.number = true, false
			vim.cmd('syntax on | filetype plugin on')
			vim.g.cursord = { chat = { open_on_ask = false }, notify = { progress = false } }`, "f.lua")
		n.lua("vim.treesitter.start() vim.bo.tabstop = 4 vim.bo.expandtab = false")
		n.turn("do it")
		n.hunksOf("f.lua", 2)
		for _, look := range looks {
			n.looks(look)
			add, gone := n.ground("CursordAdd"), n.ground("CursordDelete")
			require.NotEqual(t, add, gone)
			require.NotEqual(t, n.ground("Normal"), add)
			for _, group := range []string{"CursordAdd", "CursordDelete", "CursordAddText", "CursordDeleteText", "CursordMaybe"} {
				require.Nil(t, n.lua("return vim.api.nvim_get_hl(0, { name = ..., link = false }).fg", group), group)
			}
			require.Greater(t, contrast(n.ink("Comment"), n.ground("CursordMaybe")), 3.2, "a comment can be read: %v", look)
			require.Greater(t, contrast(n.ground("Normal"), n.ground("CursordMaybe")), 1.3, "other lines differ: %v", look)
			keyword, text, comment := n.ink("@keyword.return.lua"), n.ink("@string.lua"), n.ink("@comment.lua")
			// The added line: line 3 of the screen, below the deleted one.
			require.Equal(t, keyword+" on "+add, n.cell("return a * b"))
			require.Equal(t, comment+" on "+add, n.cell("-- sum", 3))
			require.Equal(t, n.ground("CursordAddText"), strings.Fields(n.cell("* b"))[2], "a changed word")
			require.Equal(t, text+" on "+n.ground("CursordAddText"), n.cell("'text'"))
			// The deleted lines, above it.
			require.Equal(t, keyword+" on "+gone, n.cell("return a + b"))
			require.Equal(t, comment+" on "+gone, n.cell("-- sum", 2))
			require.Equal(t, n.ground("CursordDeleteText"), strings.Fields(n.cell("+ b"))[2], "a changed word")
			screen := strings.Split(n.screen(), "\n")
			require.Equal(t, "      return a + b -- sum", screen[1], "tabs as wide as in the text")
			require.Equal(t, "┃     return a * b -- sum", screen[2])
			// Up to the window's edge, and not below the last line.
			edge := n.lua(`local out = {}
				for r = 1, 5 do out[r] = vim.api.nvim__inspect_cell(1, r - 1, vim.o.columns - 1)[2].background or 0 end
				return vim.tbl_map(function(c) return c ~= 0 and ('%06x'):format(c) or '' end, out)`)
			normal := n.lua("return vim.api.nvim_get_hl(0, { name = 'Normal' }).bg and '' or ''")
			require.Equal(t, []any{normal, gone, add, normal, normal}, blank(edge.([]any), n.ground("Normal")))
		}

		// Words are compared with the line that has most of them.
		require.Equal(t, []any{[]any{1.0, 2.0}, []any{2.0, 4.0}}, n.lua(`return require('cursord.review.words').pairs(
			{ 'print("Hello " + name)', 'return name' }, { '"""Say hello."""', 'print(f"Hello {name}")', '', 'return name, 1' })`))

		// By syntax.
		n.lua("vim.o.background, vim.o.columns = 'dark', 80")
		n.ex("edit f.py")
		n.hunksOf("f.py", 1)
		require.Equal(t, n.ink("pythonInclude")+" on "+n.ground("CursordAdd"), n.cell("import sys"))

		// A group that somebody has defined stays, also after another colour scheme.
		n.ex("highlight CursordAdd guifg=#123456 guibg=#654321 | colorscheme habamax")
		require.Nil(t, n.lua("return vim.api.nvim_get_hl(0, { name = 'CursordAdd', link = false }).fg"), "it is cleared as all groups are")
		n.lua(`vim.api.nvim_create_autocmd('ColorScheme', { callback = function() vim.cmd('highlight CursordAdd guifg=#123456 guibg=#654321') end })
			vim.cmd.colorscheme('default')`)
		require.Equal(t, "123456 on 654321", n.ink("CursordAdd")+" on "+n.ground("CursordAdd"))
		n.ex("highlight CursordDelete guibg=#111111 | doautocmd ColorScheme")
		require.Equal(t, "111111", n.ground("CursordDelete"))
		n.quiet()
	})
}

// contrast returns the ratio of two colours' luminance, from 1 to 21, as WCAG defines it.
func contrast(a, b string) float64 {
	luminance := func(colour string) (sum float64) {
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(colour[2*i:2*i+2], 16, 8)
			if err != nil {
				panic(err)
			}
			if v := float64(n) / 255; v <= 0.04045 {
				sum += weight * v / 12.92
			} else {
				sum += weight * math.Pow((v+0.055)/1.055, 2.4)
			}
		}
		return sum + 0.05
	}
	return max(luminance(a)/luminance(b), luminance(b)/luminance(a))
}

// blank replaces the background of Normal with "".
func blank(all []any, normal string) []any {
	for i := range all {
		if all[i] == normal {
			all[i] = ""
		}
	}
	return all
}

// TestNvimPreview shows the whole text of a hunk in a float: tabs, wide characters and long lines.
func TestNvimPreview(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 30) + "the end"
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := "one\n\ttwo\nthree\n", "one\n\t日本語のテキスト two\n"+long+"\nthree\n"
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, `vim.o.termguicolors, vim.o.tabstop = true, 4
			vim.g.cursord = { chat = { open_on_ask = false }, notify = { progress = false } }`, "f")
		n.turn("do it")
		n.hunksOf("f", 1)
		for _, look := range looks {
			n.looks(look)
			n.ex("2Cursord preview")
			n.untilScreen("│+   日本語のテキスト two")
			screen := n.screen()
			require.Contains(t, screen, "│-   two ")
			require.Contains(t, screen, "the end")
			require.Contains(t, screen, "│ three ")
			require.Equal(t, []any{true, true, true}, n.lua(`local function attr(want)
					for r = 1, vim.o.lines do
						local cells = {}
						for c = 1, vim.o.columns do cells[c] = vim.fn.screenstring(r, c) end
						if table.concat(cells):find(want, 1, true) then return vim.fn.screenattr(r, 3) end
					end
				end
				return { attr('│-   two') ~= attr('│ three'), attr('│+  ') ~= attr('│ three'), attr('│-   two') ~= attr('│+  ') }`), "colours")
			n.ex("2Cursord preview") // moves the cursor into it
			n.keys("q")
			n.until("it is closed", "return #vim.api.nvim_list_wins() == 1")
			n.ex("2Cursord preview")
			n.keys("j")
			n.until("it is closed", "return #vim.api.nvim_list_wins() == 1")
			n.keys("k")
			n.until("it is there", "return vim.fn.line('.') == 1")
		}
		n.quiet()
	})
}

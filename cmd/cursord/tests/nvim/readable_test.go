//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimColoursCanBeRead: the grounds of DiffAdd and DiffDelete may be made for white text, and DiagnosticOk for another ground than
// that of folds. What is shown on them can be read in all schemes, also with 256 colours.
func TestNvimColoursCanBeRead(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		n := neovim(w, t, bin, "vim.o.termguicolors = true")
		n.lua("require('cursord.review.colours')")
		for _, scheme := range []string{"morning", "shine", "peachpuff", "zellner", "desert", "slate", "default", "habamax"} {
			n.ex("colorscheme " + scheme)
			normal := n.ground("Normal")
			for _, ground := range []string{"CursordAdd", "CursordDelete", "CursordAddText", "CursordDeleteText"} {
				on := n.ground(ground)
				require.NotEqual(t, normal, on)
				for _, syntax := range []string{"Normal", "Comment", "String", "Function", "Statement", "Type", "Constant", "PreProc"} {
					ink := n.ink(syntax)
					require.Greater(t, contrast(ink, on), min(2, 0.69*contrast(ink, normal)), "%s on %s of %s: %s on %s", syntax, ground, scheme, ink, on)
				}
			}
			require.Greater(t, contrast(n.ink("CursordChatDone"), n.ground("CursordFolded")), 2.0, scheme)
			require.Greater(t, contrast(n.ink("CursordChatDone"), normal), 2.0, scheme)
		}
		n.ex("colorscheme habamax")
		require.Equal(t, true, n.lua(`local function get(name) return vim.api.nvim_get_hl(0, { name = name, link = false }) end
			local words, gone = get('CursordAddText').ctermbg, get('CursordDeleteText').ctermbg
			return words ~= 28 and words ~= gone and words ~= get('CursordAdd').ctermbg and words ~= get('Comment').ctermfg`), "habamax with 256 colours")
		n.quiet()
	})
}

// TestNvimFoldedLinesCanBeRead: many schemes make Folded for its own text alone. What the chat and the review show on folded lines can be
// read there in each scheme, as far as it can beside them.
func TestNvimFoldedLinesCanBeRead(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		n := neovim(w, t, bin, "vim.o.termguicolors = true")
		n.lua("require('cursord.review.colours')")
		for _, scheme := range n.lua("return vim.fn.getcompletion('', 'color')").([]any) {
			for _, background := range []string{"dark", "light"} {
				known := n.lua(`local background, scheme = ...
					vim.o.background = background
					vim.cmd.colorscheme(scheme)
					return vim.api.nvim_get_hl(0, { name = 'Normal' }).bg ~= nil`, background, scheme)
				if known != true {
					continue // the ground is the terminal's
				}
				normal, folded, own := n.ground("Normal"), n.ground("CursordFolded"), n.ink("CursordFolded")
				require.GreaterOrEqual(t, contrast(own, folded), 3.0, "plain text of %s, %s", scheme, background)
				for _, group := range []string{"CursordFile", "CursordRange", "CursordChatTool", "CursordChatDone", "CursordChatFailed"} {
					beside, ink := contrast(n.ink(group), normal), n.lua("return (vim.api.nvim_get_hl(0, { name = ..., link = false }).fg or -1)", group)
					if ink != -1.0 { // else it has the ink of CursordFolded
						require.GreaterOrEqual(t, contrast(n.ink(group), folded), min(3, beside*0.9), "%s of %s, %s", group, scheme, background)
					}
				}
			}
		}
		n.quiet()
	})
}

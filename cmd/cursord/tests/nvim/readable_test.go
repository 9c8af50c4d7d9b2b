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
			require.Greater(t, contrast(n.ink("CursordChatDone"), n.ground("Folded")), 2.0, scheme)
			require.Greater(t, contrast(n.ink("CursordChatDone"), normal), 2.0, scheme)
		}
		n.ex("colorscheme habamax")
		require.Equal(t, true, n.lua(`local function get(name) return vim.api.nvim_get_hl(0, { name = name, link = false }) end
			local words, gone = get('CursordAddText').ctermbg, get('CursordDeleteText').ctermbg
			return words ~= 28 and words ~= gone and words ~= get('CursordAdd').ctermbg and words ~= get('Comment').ctermfg`), "habamax with 256 colours")
		n.quiet()
	})
}

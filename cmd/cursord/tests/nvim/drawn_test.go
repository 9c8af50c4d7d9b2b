//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimDrawsAllLinesAfterU takes an edit of the agent out of the text while another hunk stays in the window. Neovim then left one line of
// the screen out and showed another twice.
func TestNvimDrawsAllLinesAfterU(t *testing.T) {
	t.Parallel()
	before := "package a\n\nfunc one() int {\n\treturn 1\n}\n\nfunc two() int {\n\treturn 2\n}\n\nfunc three() int {\n\treturn 3\n}\n"
	after := strings.NewReplacer("return 1", "return 11", "return 3", "return 33").Replace(before)
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("a.go", before)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, "vim.o.columns, vim.o.lines = 80, 24; vim.g.cursord = { chat = { open_on_ask = false } }", "a.go")
		w.Plays(world.Lines(world.Edits("c", "a.go", before, after))...)
		n.ex("Cursord ask x")
		n.untilScreen("return 33")
		n.ex("Cursord next")
		n.ex("Cursord reject")
		n.untilScreen("rejected 1 hunk")
		n.ex("Cursord undo")
		n.untilScreen("undone")
		n.keys("u")
		n.until("the text is as before, and one hunk is left", `return vim.fn.getline(4) == "\treturn 1" and vim.b.cursord_status_dict.pending == 1`)
		n.ex("redraw")
		drawn := n.screen()
		n.ex("redraw!")
		require.Equal(t, n.screen(), drawn)
	})
}

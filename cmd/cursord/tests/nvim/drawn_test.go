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
		n.turn("x")
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

// TestNvimShowsWhatIsAboveTheFirstLine: lines above the first one were hidden when a window came back to the top.
func TestNvimShowsWhatIsAboveTheFirstLine(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		text := world.Numbered(100, nil)
		w, e := trusted(t, world.Tree{"f": text})
		w.Plays(world.Lines(world.Edits("1", "f", text, strings.TrimPrefix(text, "line 1\nline 2\n")))...)
		e.Turn(nil)
		n := neovim(w, t, bin, "", "f")
		n.ex("Cursord review | cclose")
		n.untilScreen("  line 1\n  line 2\n")
		hidden := func() bool { return !strings.Contains(n.screen(), "  line 2\n") }
		for _, keys := range [][2]string{{"50G", "gg"}, {"5Gzt", "gg"}, {"<C-f>", "<C-b>"}, {"3<C-e>", "5<C-y>"}} {
			n.keys(keys[0])
			n.poll(keys[0]+" hides them", hidden)
			n.keys(keys[1])
			n.untilScreen("  line 1\n  line 2\n")
		}
		n.keys("1Gzt:let g:placed = 1<CR>")
		n.until("zt is done", "return vim.g.placed == 1")
		n.untilScreen("  line 1\n  line 2\n")
		n.keys("gg2<C-e>")
		n.poll("who scrolls them away does not see them", hidden)
		n.keys("5j5k")
		n.untilScreen("1,1 ")
		require.True(t, hidden())
		n.quiet()
	})
}

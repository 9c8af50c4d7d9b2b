//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimUndoOfAnAcceptInFilesWithOtherEnds: the accept of a hunk of a copy is one step of undo also where lines end with CRLF and where the file has
// a byte order mark: "u" brings text and hunk back. Before, Neovim read the file again, and "u" took back a part of that.
func TestNvimUndoOfAnAcceptInFilesWithOtherEnds(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][2]string{
		"crlf": {"one\r\ntwo\r\nthree\r\n", "one\r\nTWO\r\nthree\r\n"},
		"bom":  {"\ufeffone\ntwo\nthree\n", "\ufeffone\nTWO\nthree\n"},
		"both": {"\ufeffone\r\ntwo\r\nthree", "\ufeffone\r\nTWO\r\nthree"},
	} {
		t.Run(name, func(t *testing.T) {
			anNvim(t, func(t *testing.T, bin string) {
				w := world.New(t)
				w.Put("f", text[0])
				w.Plays(world.Lines(world.Edits("1", "f", text[0], text[1]))...)
				w.Start()
				e := w.Opens()
				e.Ok(e.Isolates())
				n := neovim(w, t, bin, "", "f")
				n.hunksOf("f", 1)
				was := n.text("f")
				n.keys("2G:Cursord accept<CR>")
				n.hunksOf("f", 0)
				n.poll("the disk", func() bool { return w.Get("f") == text[1] })
				n.poll("the text", func() bool { return n.text("f") != was && !n.modified("f") })
				require.EqualValues(t, 1, n.lua("return #vim.fn.undotree().entries"))
				n.keys("u")
				n.untilText("f", was)
				n.hunksOf("f", 1)
				n.keys(":w<CR>")
				n.poll("the disk", func() bool { return w.Get("f") == text[0] })
				require.Len(t, e.Diffs()["f"].Hunks, 1)
			})
		})
	}
}

// TestNvimCommandAtTheStart: "nvim FILE +Cursord review" begins with the list. There the cursor is at line 0, and it failed.
func TestNvimCommandAtTheStart(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "1\n")
		w.Plays(world.Lines(world.Edits("1", "f", "1\n", "one\n"))...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		n := neovim(w, t, bin, "", "f", "+Cursord review")
		n.until("the list", `return #vim.fn.getqflist() == 1`)
		require.NotContains(t, n.messages(), "Invalid")
	})
}

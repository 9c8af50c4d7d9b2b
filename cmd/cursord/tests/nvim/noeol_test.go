//go:build unix

package nvim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimWithoutAFinalLineEnd reviews and saves a file whose last line has no end. A save neither adds an end nor makes the
// agent's line a person's, and after "u" the buffer equals its file.
func TestNvimWithoutAFinalLineEnd(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, before, after string }{
		{"neither has one", "x\ny", "x\nY"},
		{"the agent took it", "x\ny\n", "x\nY"},
		{"the agent gave it", "x\ny", "x\nY\n"},
		{"and nothing else", "x\ny\n", "x\ny"},
	}
	anNvim(t, func(t *testing.T, bin string) {
		for _, c := range cases {
			t.Log(c.name)
			w := world.New(t)
			w.Put("f", c.before)
			w.Plays(world.Lines(world.Edits("1", "f", c.before, c.after))...)
			w.Start()
			e := w.Opens()
			n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
			is := func(want string, hunks int) {
				n.t.Helper()
				n.poll("the disk", func() bool { return w.Get("f") == want })
				n.until("the daemon has read what was told", `local read
					require('cursord.rpc').request('diff/list', { workspace = vim.uv.fs_realpath('.') }, function() read = true end)
					return vim.wait(5000, function() return read end, 1)`)
				n.hunksOf("f", hunks)
				n.until("a buffer as its file", "return not vim.bo.modified and require('cursord.lines').text(0) == ...", want)
				listed := 0
				if d := e.Diffs()["f"]; d != nil {
					listed = len(d.Hunks)
				}
				require.Equal(t, hunks, listed)
			}
			require.Equal(t, true, n.lua("return vim.bo.fixendofline"))
			n.turn("do it")
			is(c.after, 1)
			n.ex("write!")
			is(c.after, 1)
			n.keys("ggOmine<Esc>")
			n.until("it is typed", "return vim.fn.getline(1) == 'mine' and vim.api.nvim_get_mode().mode == 'n'")
			n.ex("write")
			is("mine\n"+c.after, 1)
			n.ex("1delete | write")
			is(c.after, 1)
			n.untilRows("f", 2)
			n.ex("2Cursord reject")
			is(c.before, 0)
			if c.name == "and nothing else" { // the undo history does not know the line's end
				n.ex("Cursord undo")
			} else {
				n.keys("u")
			}
			is(c.after, 1)
			n.ex("Cursord redo")
			is(c.before, 0)
			n.ex("Cursord undo")
			is(c.after, 1)
			n.ex("Cursord accept!")
			is(c.after, 0)
			require.Equal(t, true, n.lua("return vim.bo.fixendofline"), "with nothing to review it is as it was set")
			n.quiet()
			n.kill()
		}
	})
}

//go:build unix

package nvim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimSavesWhileADecisionIsMade types and saves while a decision is on its way. Neither is lost, and Neovim does not ask
// about the file.
func TestNvimSavesWhileADecisionIsMade(t *testing.T) {
	t.Parallel()
	typed := func(text string) string {
		return strings.Replace(text, "line 25\n", "line 25\nmine\n", 1)
	}
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n"})
	first := world.Numbered(30, map[int]string{15: "agent 15a\nagent 15b\n"})
	types := "vim.fn.append(vim.fn.search('^line 25$', 'nw'), 'mine')\n"
	cases := []struct {
		name, before, act, text string
		hunks                   int
	}{
		{"a reject", "", "vim.cmd('5Cursord reject | write')", first, 1},
		{"an undo", "5Cursord reject", "vim.cmd('Cursord undo | write')", after, 2},
		{"a redo", "5Cursord reject | Cursord undo", "vim.cmd('Cursord redo | write')", first, 1},
		{"the undo of a reject in the buffer", "5Cursord reject", "vim.cmd('undo | write')", after, 2},
		{"several in a row", "", "vim.cmd('5Cursord reject | 15,16Cursord reject | Cursord undo | write')", first, 1},
		{"of the file", "", "vim.cmd('Cursord reject file | wall')", before, 0},
		{"typing after an accept", "", "vim.cmd('5Cursord accept')\n" + types + "vim.cmd.write()", typed(after), 1},
		{"typing after a reject", "", "vim.cmd('5Cursord reject')\n" + types + "vim.cmd.write()", typed(first), 1},
		{"typing above of it", "", "vim.cmd('15,16Cursord reject')\nvim.fn.append(0, 'mine')\nvim.cmd.write()", "mine\n" + world.Numbered(30, map[int]string{5: "agent 5\n"}), 1},
		{"typing beside it", "", "vim.cmd('5Cursord reject')\nvim.fn.append(5, 'mine')\nvim.cmd.write()", strings.Replace(first, "line 5\n", "line 5\nmine\n", 1), 1},
		{"typing after an undo", "5Cursord reject", "vim.cmd('Cursord undo')\n" + types + "vim.cmd.write()", typed(after), 2},
		{"typing after several", "", "vim.cmd('5Cursord reject | 15,16Cursord reject')\n" + types + "vim.cmd.write()", typed(before), 0},
		{"typing between them", "", "vim.cmd('5Cursord reject')\n" + types + "vim.cmd('15,16Cursord reject | write')", typed(before), 0},
		{"typing in another file than one was in", "5Cursord reject | enew", "vim.cmd('Cursord undo')\nvim.cmd('buffer #')\n" + types + "vim.cmd.write()", typed(after), 2},
		{"typing in what was written", "write", "vim.cmd('5Cursord reject')\n" + types + "vim.cmd.write()", typed(first), 1},
		{"in unsaved text", "26put ='too' | sleep 1m", "vim.cmd('5Cursord reject')\n" + types + "vim.cmd('write')", strings.Replace(typed(first), "mine\n", "mine\ntoo\n", 1), 1},
	}
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		was, is := world.Tree{}, world.Tree{}
		for i := range cases {
			was[fmt.Sprint("f", i)], is[fmt.Sprint("f", i)] = before, after
		}
		w.PutAll(was)
		w.Plays(world.Changing(was, is)...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, review = { after_decide = 'stay' } }")
		for i, c := range cases {
			path := fmt.Sprint("f", i)
			n.until("the file", "if vim.api.nvim_buf_get_name(0) ~= ... then vim.cmd.edit(...) return false end return true", w.Path(path))
			n.hunksOf(path, 2)
			for _, command := range strings.Split(c.before, " | ") {
				n.ex(command)
				n.decided()
			}
			t.Log(c.name)
			n.lua(c.act)
			n.agree(e, path, c.text, c.hunks)
			n.quiet()
		}
		require.NotContains(t, n.messages(), "decide again")
	})
}

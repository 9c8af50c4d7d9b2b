//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimConflictWithACopy changes a line that the agent has changed in a copy. Both sides are shown, and decided as mine, the agent's and
// both, in a saved and in an unsaved buffer; "u" brings all back.
func TestNvimConflictWithACopy(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	agents := world.Numbered(12, map[int]string{3: "agent 3\n", 10: "agent 10\n"})
	const mine = "mine a\nmine b\nmine c\nmine d\n"
	text := world.Numbered(12, map[int]string{3: mine})
	eachNvim(t, func(t *testing.T, bin string) {
		for _, c := range []struct{ name, command, line3 string }{
			{"mine", "Cursord reject", mine},
			{"the agent's", "Cursord accept", "agent 3\n"},
			{"both", "Cursord accept both", mine + "agent 3\n"},
		} {
			for _, saved := range []bool{true, false} {
				w := world.New(t)
				w.Put("f", before)
				w.Plays(world.Lines(world.Edits("1", "f", before, agents))...)
				w.Start()
				e := w.Opens()
				s := e.Isolates()
				n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, review = { after_decide = 'stay' } }", "f")
				n.ex("Cursord ask do it")
				n.agree(e, "f", before, 2)
				n.lua("vim.fn.deletebufline('', 3) vim.fn.append(2, { 'mine a', 'mine b', 'mine c', 'mine d' })")
				if saved {
					n.ex("write")
				}
				n.untilScreen("you have changed this, too: reject keeps yours, accept takes the agent's")
				require.Contains(t, n.screen(), "line 2\n┃ mine a\n┃ mine b\n┃ mine c\n┃ mine d\n  you have changed this")
				n.ex("4")
				n.lua("said = {}")
				n.ex(c.command)
				want := world.Numbered(12, map[int]string{3: c.line3})
				n.untilText("f", want)
				n.decided()
				n.hunksOf("f", 1)
				if !saved {
					n.ex("write")
				}
				n.agree(e, "f", want, 1)
				n.poll("the copy", func() bool { return w.Copied(s, "f") == strings.Replace(want, "line 10\n", "agent 10\n", 1) })
				n.keys("u")
				n.untilText("f", text)
				n.hunksOf("f", 2)
				n.untilScreen("you have changed this, too")
				n.quiet()
				n.kill()
			}
		}
	})
}

// TestNvimAcceptsAllOfACopy accepts everything with a conflict among it. Both sides stay, a message says so, and "u" brings all back, on the
// disk as well.
func TestNvimAcceptsAllOfACopy(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	eachNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, world.Numbered(12, map[int]string{3: "agent 3\n", 10: "agent 10\n"})))...)
		w.Start()
		e := w.Opens()
		e.Isolates()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.ex("Cursord ask do it")
		n.agree(e, "f", before, 2)
		n.keys("3Gccmine 3<Esc>:write<CR>")
		n.untilScreen("you have changed this, too")
		text := world.Numbered(12, map[int]string{3: "mine 3\n"})
		n.agree(e, "f", text, 2)
		n.ex("Cursord accept all")
		accepted := world.Numbered(12, map[int]string{3: "mine 3\nagent 3\n", 10: "agent 10\n"})
		n.agree(e, "f", accepted, 0)
		n.untilScreen("accepted 2 hunks; none left; your lines stay beside the agent's in 1 place")
		n.keys("u")
		n.agree(e, "f", text, 2)
		n.keys("<C-r>")
		n.untilText("f", accepted)
		n.hunksOf("f", 0)
		n.ex("write")
		n.agree(e, "f", accepted, 0)
		n.quiet()
	})
}

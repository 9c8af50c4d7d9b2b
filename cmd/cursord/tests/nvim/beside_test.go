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
	anNvim(t, func(t *testing.T, bin string) {
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
				n.untilScreen("your file has other lines here: reject keeps them, accept takes the agent's")
				require.Contains(t, n.screen(), "line 2\n┃ mine a\n┃ mine b\n┃ mine c\n┃ mine d\n  your file has other")
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
				n.untilScreen("your file has other lines here")
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
	anNvim(t, func(t *testing.T, bin string) {
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
		n.untilScreen("your file has other lines here")
		text := world.Numbered(12, map[int]string{3: "mine 3\n"})
		n.agree(e, "f", text, 2)
		n.ex("Cursord accept all")
		accepted := world.Numbered(12, map[int]string{3: "mine 3\nagent 3\n", 10: "agent 10\n"})
		n.agree(e, "f", accepted, 0)
		n.untilScreen("accepted 2 hunks; none left; both sides stay in 1 place")
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

// TestNvimConflictOfManyLines changes one line of four that the agent changes, in unsaved text. All four are one conflict, and a line number
// within it names all of it. A selection of a part decides nothing.
func TestNvimConflictOfManyLines(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	theirs := map[int]string{4: "agent 4\n", 5: "agent 5\n", 6: "agent 6\n", 7: "agent 7\n"}
	text := world.Numbered(12, map[int]string{5: "mine 5\nmine new\n", 10: "mine 10\n"})
	anNvim(t, func(t *testing.T, bin string) {
		for command, want := range map[string]string{
			"6Cursord reject": text,
			"6Cursord accept": world.Numbered(12, map[int]string{4: theirs[4], 5: theirs[5], 6: theirs[6], 7: theirs[7], 10: "mine 10\n"}),
		} {
			w := world.New(t)
			w.Put("f", before)
			w.Plays(world.Lines(world.Edits("1", "f", before, world.Numbered(12, theirs)))...)
			w.Start()
			w.Opens()
			n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, autostart = true }", "f")
			n.follows()
			n.keys("5Gccmine 5<CR>mine new<Esc>11Gccmine 10<Esc>")
			n.ex("Cursord ask do it")
			n.untilScreen("┃ line 4\n┃ mine 5\n┃ mine new\n┃ line 6\n┃ line 7\n  you have changed this")
			n.untilScreen("\n  agent 4\n  agent 5\n  agent 6\n  agent 7\n  line 8")
			n.knowsTheMerge()
			n.lua("said = {}")
			n.ex("5,6Cursord accept")
			n.hears("such a hunk is decided as a whole")
			n.ex(command)
			n.untilText("f", want)
			n.decided()
			n.hunksOf("f", 0)
			n.keys("u")
			n.untilText("f", text)
			n.hunksOf("f", 1)
			n.kill()
		}
	})
}

//go:build unix

package nvim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimAnotherProgramWritesWhatIsUnsaved has another program write a file that is under review and unsaved in Neovim: a line
// that the person has changed, too, and another one. The other line comes into the buffer. As long as the buffer lacks the
// first, Neovim asks before it writes over it.
func TestNvimAnotherProgramWritesWhatIsUnsaved(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before := world.Numbered(30, nil)
		after := strings.Replace(before, "line 20\n", "agent 20\n", 1)
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.turn("do it")
		n.agree(e, "f", after, 1)
		n.keys("5Gccmine 5<Esc>")
		n.until("the daemon knows it", "local doc = require('cursord.docs').get(vim.fn.bufnr()) return doc.open and doc.tick == vim.b.changedtick")
		theirs := strings.NewReplacer("line 5\n", "theirs 5\n", "line 10\n", "theirs 10\n").Replace(after)
		w.Put("f", theirs)
		merged := strings.Replace(theirs, "theirs 5", "mine 5", 1)
		n.untilText("f", merged)
		n.poll("the message", func() bool {
			return strings.Contains(n.messages(), "cursord: f: the disk's changes are in, but not in your lines")
		})
		require.NotContains(t, n.messages(), "agent's changes")
		n.hunksOf("f", 1)
		n.told("f")
		n.writes("n")
		require.Equal(t, theirs, w.Get("f"))
		require.True(t, n.modified("f"))

		t.Log("all that the program has written is in the buffer")
		n.lua("vim.fn.setline(5, 'theirs 5') vim.fn.append(30, 'mine')")
		n.until("Neovim knows the file", "return require('cursord.docs').get(vim.fn.bufnr()).lacks == nil")
		n.ex("write")
		n.agree(e, "f", theirs+"mine\n", 1)
	})
}

// TestNvimKnowsTheFileWhenConflictsAreDecided decides the only conflict of a file. Neovim then writes it without a question.
func TestNvimKnowsTheFileWhenConflictsAreDecided(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		for _, one := range []struct{ command, text string }{
			{"5Cursord reject", "mine 5\n"}, {"5Cursord accept", "agent 5\n"}, {"5|Cursord accept both", "mine 5\nagent 5\n"},
		} {
			t.Run(one.command, func(t *testing.T) {
				w := world.New(t)
				before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{5: "agent 5\n"})
				want := world.Numbered(10, map[int]string{5: one.text, 10: "line 10\nmore\n"})
				w.Put("f", before)
				w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
				w.Start()
				e := w.Opens()
				n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false }, autostart = true }", "f")
				n.follows()
				n.keys("5Gccmine 5<Esc>Gomore<Esc>")
				n.ex("Cursord ask do it")
				n.until("the conflict is shown", "return require('cursord.docs').get(vim.fn.bufnr()).known ~= nil")
				n.ex(one.command)
				n.hunksOf("f", 0)
				n.ex("write")
				n.agree(e, "f", want, 0)
				n.quiet()
			})
		}
	})
}

//go:build unix

package nvim

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimUndoOfARejectedDeletion rejects the deletion of an open file. "u" deletes it again, and Ctrl-R brings it back.
func TestNvimUndoOfARejectedDeletion(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		text := world.Numbered(9, nil)
		w.Put("f", text)
		w.Plays(world.Lines(world.Deletes("1", "f", text))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.turn("do it")
		n.hunksOf("f", 1)
		n.ex("Cursord reject")
		n.agree(e, "f", text, 0)
		n.keys("u")
		n.poll("it is deleted again", func() bool { return w.Get("f") == "(absent)" })
		n.hunksOf("f", 1)
		require.Equal(t, text, n.text("f"), "the buffer still has the text")
		n.keys("<C-r>")
		n.agree(e, "f", text, 0)
		n.quiet()
	})
}

// TestNvimUndoOfARejectedMode is the same for a file that the agent has made executable.
func TestNvimUndoOfARejectedMode(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		text := world.Numbered(9, nil)
		w.Put("f", text)
		w.Plays(world.Lines(world.Shells("s", "chmod 755 f"))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.turn("do it")
		mode := func(want os.FileMode, hunks int) {
			n.t.Helper()
			n.poll("its mode", func() bool {
				info, err := os.Stat(w.Path("f"))
				return err == nil && info.Mode().Perm()&0o100 == want
			})
			n.agree(e, "f", text, hunks)
		}
		mode(0o100, 1)
		n.ex("Cursord reject file")
		mode(0, 0)
		n.keys("u")
		mode(0o100, 1)
		n.keys("<C-r>")
		mode(0, 0)
		n.quiet()
	})
}

// TestNvimDoesNotRepeatAFailedAccept: an accept that the daemon refuses is no step of the undo history, which would make it again.
func TestNvimDoesNotRepeatAFailedAccept(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{5: "agent 5\n"})
		w.Put("f", before)
		w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		d := e.OpenDocument("f") // another editor has the same line unsaved
		d.Set(strings.Replace(before, "line 5", "theirs 5", 1))
		n.turn("do it")
		n.hunksOf("f", 1)
		n.ex("5Cursord accept")
		n.hears("unsaved changes of the same lines")
		n.decided()
		require.Equal(t, 0.0, n.lua("return #vim.tbl_filter(function(s) return s.is ~= 'failed' end, require('cursord.docs').get(vim.fn.bufnr()).steps)"))
		require.Len(t, e.Diffs()["f"].Hunks, 1)
	})
}

// TestNvimUndoOfAnAcceptedDeletionThatIsWrittenAgain accepts the deletion of an open file, and writes the buffer. "u" and the command then
// cannot take the accept back, and say that the file has changed, not that another decision was made. Without the file they can.
func TestNvimUndoOfAnAcceptedDeletionThatIsWrittenAgain(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		text := world.Numbered(9, nil)
		w.Put("f", text)
		w.Plays(world.Lines(world.Deletes("1", "f", text))...)
		w.Start()
		e := w.Opens()
		n := neovim(w, t, bin, "vim.g.cursord = { chat = { open_on_ask = false } }", "f")
		n.turn("do it")
		n.hunksOf("f", 1)
		n.ex("Cursord accept")
		n.hunksOf("f", 0)
		n.ex("write")
		n.agree(e, "f", text, 0)
		n.keys("u")
		n.hears("cannot be taken back: those lines of f have changed since")
		require.NotContains(t, n.messages(), "another")
		n.agree(e, "f", text, 0)
		require.NoError(t, os.Remove(w.Path("f")))
		n.ex("Cursord undo")
		n.poll("the deletion is pending", func() bool { d := e.Diffs()["f"]; return d != nil && len(d.Hunks) == 1 })
		n.hunksOf("f", 1)
	})
}

// TestNvimSaysBothOfAnAcceptedDeletion: that the file is gone does not hide what was accepted.
func TestNvimSaysBothOfAnAcceptedDeletion(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.PutAll(world.Tree{"f": world.Numbered(10, nil), "gone.txt": "a\nb\n"})
		w.RepositoryIn(".", nil)
		w.Start()
		w.Trusts()
		n := neovim(w, t, bin, fmt.Sprintf(ownNotify, 80)+"\nvim.g.cursord = { chat = { open_on_ask = false } }", "gone.txt")
		edits := world.Edits("c", "f", world.Numbered(10, nil), world.Numbered(10, map[int]string{2: "agent 2\n"}))
		w.Plays(world.Lines(append(edits, world.Shells("1", "rm gone.txt")...))...)
		n.ex("Cursord ask x")
		n.untilScreen("2 hunks in 2 files")
		n.ex("Cursord accept!")
		n.untilScreen("accepted 2 hunks; none left; gone.txt is gone, :w writes it again")
	})
}

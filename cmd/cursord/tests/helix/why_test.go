//go:build unix

package helix

import (
	"strings"
	"testing"

	"cursord/cmd/cursord/tests/world"
)

// TestHelixSymbols finds what was said by the list of symbols, beside gopls, and opens it at its line.
func TestHelixSymbols(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put(".git/HEAD", "")
		w.Put("go.mod", "module shout\n\ngo 1.24\n")
		w.Put("a.go", "package main\n\nfunc main() { peculiarFunction() }\n\nfunc peculiarFunction() { unused := 4 }\n")
		w.Trusts()
		w.Plays(world.InitLine, world.Says("Two words.\nThe peculiar case\nis done.\n", ""), world.Done)
		w.CursordOK("run", "--quiet", "do it")
		h := helix(w, t, bin, "a.go")
		h.sees("declared and not used: unused") // gopls is there, too
		h.Types("Space", "S")
		h.Types("-l", "pecul")
		h.sees("agent: Two words. The peculiar case", "peculiarFunction")
		h.Types("-l", " done")
		h.sees("1/1")
		h.Types("Enter")
		h.sees("NOR", "chat-", "The peculiar case", " 13:1")
	})
}

// TestHelixWhy: "space k" on a line that an agent wrote says which prompt it comes from, also after it was accepted and saved; where
// the agent does not work in a copy, what it has replaced, too.
func TestHelixWhy(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		t.Run("copy", func(t *testing.T) { whyInHelix(t, bin, "copy") })
		t.Run("none", func(t *testing.T) { whyInHelix(t, bin, "none") })
	})
}

func whyInHelix(t *testing.T, bin, isolation string) {
	w := world.New(t)
	w.Put(".git/HEAD", "")
	w.Put("todo.txt", "alpha\nbeta\ngamma\n")
	w.Trusts()
	w.Plays(world.Lines(world.Edits("1", "todo.txt", "alpha\nbeta\ngamma\n", "alpha\nBETA\ngamma\n"))...)
	w.CursordOK("run", "--quiet", "--isolation", isolation, "make beta loud")
	h := helix(w, t, bin, "todo.txt")
	h.Types("2", "G", "Space", "k")
	h.sees("hunk 1/1 +1 −1", "make beta loud", "+BETA")
	h.escapes("hunk 1/1")
	h.Types("Space", "a")
	h.sees("Accept hunk 1/1")
	h.Types("Enter")
	h.sees("cursord: accepted 1 hunk")
	h.ex("wa")
	h.Poll("the file is written", func() bool { return w.Get("todo.txt") == "alpha\nBETA\ngamma\n" })
	h.Poll("why, once the daemon has seen the save", func() bool {
		h.Types("2", "G", "Space", "k") // G closes a popup
		return world.Comes(world.Patience/10, func() bool { return strings.Contains(h.Screen(), "why accepted") })
	})
	h.sees("session “make beta loud”")
	if isolation == "none" {
		h.sees("before:", "-beta")
	}
}

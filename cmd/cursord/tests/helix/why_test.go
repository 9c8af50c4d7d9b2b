//go:build unix

package helix

import (
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

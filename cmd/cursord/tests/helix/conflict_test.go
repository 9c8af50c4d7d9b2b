//go:build unix

package helix

import (
	"strings"
	"testing"

	"cursord/cmd/cursord/tests/world"
)

// TestHelixDecidedHunksVanish: the user and an agent that works in a copy have changed the same line. Once the hunk is accepted its
// diagnostic is gone, before the file is saved.
func TestHelixDecidedHunksVanish(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put(".git/HEAD", "")
		before := world.Numbered(9, nil)
		w.Put("notes.md", before)
		w.Plays(world.Lines(world.Edits("1", "notes.md", before, strings.Replace(before, "line 5\n", "agent 5\n", 1)))...)
		w.Start()
		w.Opens()
		h := helix(w, t, bin, "notes.md")
		if !h.popups {
			return // its keys cannot tell the line
		}
		h.asks("do it")
		h.sees("→ agent 5 · 1/1 +1 −1")
		h.Types("5", "G", "x", "c")
		h.Types("-l", "mine 5")
		h.sees("INS", "mine 5")
		h.Types("Escape")
		h.sees("NOR") // an Escape right before another key would be Alt with it
		h.ex("w")
		h.sees("mine 5", "you have changed these lines too")
		h.Types("5", "G")
		h.Types("Space", "i", "y")
		h.sees("accepted 1 hunk in your buffers – save to write (:wa); none left")
		h.misses("you have changed these lines too", "● 1")
	})
}

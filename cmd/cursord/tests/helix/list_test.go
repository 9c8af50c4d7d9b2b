//go:build unix

package helix

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// installed starts Helix with the default configuration of "cursord editor install helix".
func installed(w *world.World, t *testing.T, bin string, files ...string) *hx {
	t.Helper()
	env := helixEnv(w, t, bin)
	editorCommand(w, t, env, "install", "helix", "--yes")
	h := &hx{Tmux: helixTerminal(w, t, env), w: w, popups: !strings.Contains(bin, "25.01")}
	h.opens(files...)
	return h
}

// TestHelixListOfHunks: "space i n" leads to the list of all hunks for a file that is not in the work tree yet. The list has
// a server, and every hunk is shown and decided there, also those of other files.
func TestHelixListOfHunks(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put(".git/HEAD", "")
		before := world.Numbered(30, nil)
		w.Put("a.py", before)
		w.Plays(world.Lines(
			world.Edits("1", "a.py", before, world.Numbered(30, map[int]string{5: "agent 5\n", 20: "agent 20\n"})),
			world.Edits("2", "lib/new.py", "(absent)", "one\ntwo\n"),
			world.Edits("3", "other.py", "(absent)", "three\n"),
		)...)
		w.Start()
		w.Trusts()
		e := w.Opens()
		h := installed(w, t, bin, "a.py")
		h.asks("make them")
		h.sees("cursord: done – 4 hunks to review in 3 files", "→ agent 5 · 1/2 +1 −1")

		// The next hunks: first those of this file, then those of new files.
		h.Types("Space", "i", "n")
		h.sees("1 sel  5:1")
		h.Types("Space", "i", "n")
		h.sees("1 sel  20:1")
		h.Types("Space", "i", "n")
		h.sees("review.diff", "diff --cursord a/lib/new.py b/lib/new.py", "new.py: new file, +2")
		h.served()
		h.Types("Space", "k")
		h.sees("hunk 1/1 new.py: new file, +2", "+one")
		h.escapes("hunk 1/1")
		h.Types("Space", "i", "n")
		h.sees("1 sel  25:1", "other.py: new file, +1")
		h.Types("Space", "a")
		h.sees("Accept hunk 1/1 (other.py: new file, +1)", "Accept all 4 hunks in 3 files")
		h.Types("Enter")
		h.Poll("the file is there", func() bool { return w.Get("other.py") == "three\n" })
		h.misses("other.py")

		// In the list, reject one of two hunks of a file.
		h.Types("g", "g")
		h.Types("-l", "/agent 20")
		h.Types("Enter")
		if h.popups {
			h.Types("Space", "i", "-")
		} else {
			h.Types("Space", "a")
			h.sees("Reject hunk 2/2 (+1 −1)")
			h.Types("Down", "Enter")
		}
		h.misses("agent 20")
		h.Types("g", "g")
		h.Types("-l", "/agent 5")
		h.Types("Enter", "Space", "a")
		h.sees("Accept hunk 1/1 (+1 −1)", "Go to hunk 1/1 in a.py")
		h.escapes("Go to hunk")
		h.Types("Space", "i", "Y")
		h.sees("cursord: accepted 2 hunks, some in your buffers")
		h.Poll("the new file is there", func() bool { return w.Get("lib/new.py") == "one\ntwo\n" })
		h.ex("wa")
		h.Poll("all is written", func() bool { return len(e.Diffs()) == 0 })
		require.Equal(t, world.Numbered(30, map[int]string{5: "agent 5\n"}), w.Get("a.py"))
	})
}

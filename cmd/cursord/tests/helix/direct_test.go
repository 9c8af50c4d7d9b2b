//go:build unix

package helix

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// behindTheDisk starts Helix without a copy for agents, with a file that an agent has changed on disk since: Helix says so and shows the old text.
func behindTheDisk(t *testing.T, bin string) (w *world.World, e *world.Editor, h *hx, env []string) {
	t.Helper()
	w = world.New(t)
	w.Put(".git/HEAD", "")
	before, after := "alpha\nbeta\ngamma\n", "ALPHA\nbeta\nGAMMA\n"
	w.Put("todo.txt", before)
	w.Plays(world.Lines(world.Edits("1", "todo.txt", before, after))...)
	w.Start()
	e = w.Opens()
	env = helixEnv(w, t, bin)
	editorCommand(w, t, env, "install", "helix", "--yes", "--languages", "text")
	w.Put("../config/helix/languages.toml", strings.Replace(w.Get("../config/helix/languages.toml"), `"copy"`, `"none"`, 1))
	h = &hx{Tmux: helixTerminal(w, t, env), w: w}
	h.opens("todo.txt")
	h.ex("lsp-workspace-command cursord.status") // the daemon gets the text before the command
	h.sees("cursord: 0 hunks to review, 0 turns running, a new session")
	e.Turn(nil)
	h.sees("alpha", ":reload-all")
	return w, e, h, env
}

// TestHelixWithoutACopy: the agent writes a file that Helix shows. Helix gets a hint to load it again, and a reject is
// written.
func TestHelixWithoutACopy(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w, e, h, env := behindTheDisk(t, bin)
		h.ex("reload-all")
		h.sees("ALPHA", "← alpha · 1/2 +1 −1", "← gamma · 2/2 +1 −1")
		h.Types("Space", "a")
		h.sees("Accept hunk 1/2", "Reject hunk 1/2")
		h.Types("Down", "Enter")
		h.Poll("the reject is written", func() bool { return w.Get("todo.txt") == "alpha\nbeta\nGAMMA\n" })
		h.sees(":reload")
		h.ex("reload-all")
		h.sees("alpha", "GAMMA", "← gamma · 1/1 +1 −1")
		h.Types("3", "G", "Space", "a")
		h.sees("Accept hunk 1/1")
		h.Types("Enter")
		h.Poll("it is accepted", func() bool { return len(e.Diffs()) == 0 })
		require.Equal(t, "alpha\nbeta\nGAMMA\n", w.Get("todo.txt"))

		// Back and again, by the key and by the menu.
		h.Types("Space", "i", "u")
		h.sees("took the last decision back", "← gamma · 1/1 +1 −1")
		h.Types("Space", "i", "U")
		h.sees("made the last decision again")
		h.Poll("it is accepted", func() bool { return len(e.Diffs()) == 0 })
		h.Types("Space", "i", "u")
		h.sees("← gamma · 1/1 +1 −1")
		h.Types("g", "g", "Space", "a")
		h.sees("Make again: accept 1 hunk")
		h.Types("Escape")

		// Changed parts of the installation stay, and are named.
		out := editorCommand(w, t, env, "uninstall", "helix", "--yes")
		require.Contains(t, out, "kept [language-server.cursord]: it has more than cursord wrote")
		require.NotContains(t, w.Get("../config/helix/languages.toml"), "language-servers")
	})
}

// TestHelixBehindTheDiskAtARestart: Helix shows a file as it was before an agent wrote it, and nothing is unsaved. The daemon that comes after
// a crash takes the buffer for what it is: others may decide, and Helix shows the agent's hunks when it has loaded the file.
func TestHelixBehindTheDiskAtARestart(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w, _, h, _ := behindTheDisk(t, bin)
		w.Kill()
		w.ComesBack()
		h.Types("Escape")
		h.misses(":reload-all")
		h.Poll("Helix's documents have come", func() bool {
			h.ex("lsp-workspace-command cursord.status")
			return world.Comes(world.Patience/6, func() bool { return strings.Contains(h.Screen(), "2 hunks to review, 0 turns running") })
		})
		h.sees("alpha", "gamma")
		h.misses("[+]")
		w.CursordOK("reject", w.Opens().Diffs()["todo.txt"].Hunks[1].ID)
		require.Equal(t, "ALPHA\nbeta\ngamma\n", w.Get("todo.txt"))
		h.sees(":reload-all")
		h.ex("reload-all")
		h.sees("ALPHA", "← alpha · 1/1 +1 −1")
	})
}

//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHelixWithoutACopy has the agent write what Helix shows: Helix is told to read it again, and a reject is written.
func TestHelixWithoutACopy(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := newWorld(t)
		w.put(".git/HEAD", "")
		before, after := "alpha\nbeta\ngamma\n", "ALPHA\nbeta\nGAMMA\n"
		w.put("todo.txt", before)
		w.plays(lines(edits("1", "todo.txt", before, after))...)
		w.start()
		e := w.opens()
		env := w.helixEnv(t, bin)
		w.editorCommand(t, env, "install", "helix", "--yes", "--languages", "text")
		w.put("../config/helix/languages.toml", strings.Replace(w.get("../config/helix/languages.toml"), `"copy"`, `"none"`, 1))
		h := &hx{tmux: w.helixTerminal(t, env), w: w}
		h.opens("todo.txt")
		e.turn(nil)
		h.sees("alpha", ":reload-all")
		h.ex("reload-all")
		h.sees("ALPHA", "1/2 +1 −1 · do it", "2/2 +1 −1 · do it")
		h.types("Space", "a")
		h.sees("Accept hunk 1/2", "Reject hunk 1/2")
		h.types("Down", "Enter")
		h.poll("the reject is written", func() bool { return w.get("todo.txt") == "alpha\nbeta\nGAMMA\n" })
		h.sees(":reload")
		h.ex("reload-all")
		h.sees("alpha", "GAMMA", "1/1 +1 −1 · do it")
		h.types("3", "G", "Space", "a")
		h.sees("Accept hunk 1/1")
		h.types("Enter")
		h.poll("it is accepted", func() bool { return len(e.diffs()) == 0 })
		require.Equal(t, "alpha\nbeta\nGAMMA\n", w.get("todo.txt"))

		// What was changed of the installation stays, and is named.
		out := w.editorCommand(t, env, "uninstall", "helix", "--yes")
		require.Contains(t, out, "kept [language-server.cursord]: it has more than cursord wrote")
		require.NotContains(t, w.get("../config/helix/languages.toml"), "language-servers")
	})
}

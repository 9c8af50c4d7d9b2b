//go:build unix

package helix

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestHelixInASubfolder: keys decide about the file in the buffer, although the folder has another file of the name by which Helix,
// started in a subfolder, calls it.
func TestHelixInASubfolder(t *testing.T) {
	t.Parallel()
	eachHelix(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put(".git/HEAD", "")
		w.Put("a.txt", "root\n")
		w.Put("src/a.txt", "inner\n")
		w.Trusts()
		w.Plays(world.Lines(world.Edits("1", "a.txt", "root\n", "ROOT\n"), world.Edits("2", "src/a.txt", "inner\n", "INNER\n"))...)
		w.CursordOK("run", "--quiet", "--isolation", "copy", "make it loud")
		env := helixEnv(w, t, bin)
		editorCommand(w, t, env, "install", "helix", "--yes", "--languages", "text")
		h := &hx{Tmux: helixTerminal(w, t, env), w: w}
		h.Types("cd src", "Enter")
		h.opens("a.txt")
		h.sees("→ INNER")
		if strings.Contains(filepath.Base(bin), "25.01") {
			return // its keys have no places
		}
		h.Types("Space", "i", "y")
		h.sees("1  INNER", "a.txt [+]")
		require.Equal(t, "root\n", w.Get("a.txt"))
		require.Contains(t, w.CursordOK("diff"), "ROOT")
	})
}

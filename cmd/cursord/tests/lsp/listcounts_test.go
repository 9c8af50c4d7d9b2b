//go:build unix

package lsp

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPListCountsAgree: in the list of sessions the hunks of a folder are those of its sessions, as this editor sees them, also in other folders.
// The head had counted a hunk that was accepted in an unsaved document, and the lines of other folders had no counts.
func TestLSPListCountsAgree(t *testing.T) {
	t.Parallel()
	w, c := lspAfter(t, world.Tree{"f": "1\n", "g": "1\n"}, world.Tree{"f": "2\n", "g": "2\n"}, world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	d := c.opens("f")
	c.turn()
	c.waitsForHunks("f", 1)
	other := w.Path("../other")
	require.NoError(t, os.Mkdir(other, 0o755))
	w.Plays(world.Lines(world.Edits("c1", "x", "(absent)", "1\n"), world.Edits("c2", "y", "(absent)", "1\n"))...)
	for _, args := range [][]string{{"trust", other}, {"run", "--quiet", "--workspace", other, "in another folder"}} {
		_, stderr, status := w.Cursord(args...)
		require.Zero(t, status, stderr)
	}
	c.chooses(d.uri, 0, "Accept hunk 1/1")
	c.waitsForHunks("f", 0)
	c.does("cursord.resume")
	uri, _ := c.shown(0, "SESSIONS.md")
	raw, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
	require.NoError(t, err)
	require.Regexp(t, `\n## `+w.Root+` · 1 hunk to review\n\n- do it · .* · 1 hunk · goes on here · `, string(raw))
	require.Regexp(t, `\n## `+other+` · 2 hunks to review\n\n- in another folder · .* · 2 hunks · `, string(raw))
}

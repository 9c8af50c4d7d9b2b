//go:build unix

package lsp

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPPermits: the editor's options limit the agent, and a line of the prompt's file sends an image along. A folder
// beside the workspace that is not trusted is reported, and not asked about again and again.
func TestLSPPermits(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	lib := w.Folder("lib")
	w.Put("shot.png", world.PNGBytes)
	w.Start()
	e := w.Opens()
	c := lsp(w, world.LSPCapabilities(), world.Obj{"sandbox": "enabled", "autoReview": true, "addDirs": []string{lib}})
	mark := c.mark()
	c.does("cursord.ask", "not yet")
	c.hearsAfter(mark, "window/showMessage", lib+" is not trusted")
	require.Empty(t, w.Runs())
	e.Trusts(lib)
	mark = c.mark()
	c.does("cursord.compose")
	uri, _ := c.shown(mark, "PROMPT.md")
	file := strings.TrimPrefix(uri, "file://")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte("look"+string(raw)+"# image: shot.png\n"), 0o600))
	c.hearsAfter(mark, "window/showMessage", "done")
	require.Equal(t, []string{"--sandbox=enabled", "--auto-review", "--add-dir=" + lib}, w.PermitArgs())
	require.Contains(t, w.Prompted(), `<image path="`+w.Path("shot.png")+`" />`)
}

//go:build unix

package lsp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPNamesOpenFiles: a name, which an editor may write relative to any folder, is that of the open file; of several it is none.
func TestLSPNamesOpenFiles(t *testing.T) {
	t.Parallel()
	w, c := lspAfter(t, world.Tree{"a.txt": "root\n", "src/a.txt": "inner\n"}, world.Tree{"a.txt": "ROOT\n", "src/a.txt": "INNER\n"},
		world.LSPCapabilities(), world.Obj{"isolation": "copy"})
	c.turn()
	inner := c.opens("src/a.txt")
	c.waitsForHunks("src/a.txt", 1)
	root := c.opens("a.txt")
	for _, command := range []string{"cursord.accept", "cursord.acceptFile"} {
		mark := c.mark()
		require.Error(t, c.call("workspace/executeCommand", world.Obj{"command": command, "arguments": []any{world.Obj{"path": "a.txt", "line": 1}}}, nil))
		c.hearsAfter(mark, "window/showMessage", "a.txt is the name of 2 open files: give the absolute path")
	}
	require.Equal(t, "root\n", root.now())
	require.Equal(t, "inner\n", inner.now())
	root.closes()
	c.does("cursord.accept", world.Obj{"path": "a.txt", "line": 1})
	c.waitsForHunks("src/a.txt", 0)
	require.Equal(t, "INNER\n", inner.now())
	require.Equal(t, "root\n", w.Get("a.txt"))
}

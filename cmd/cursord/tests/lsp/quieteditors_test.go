//go:build unix

package lsp

import (
	"testing"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPTellsWhatATurnWaitsFor: an editor's progress names the reason of a turn's wait.
func TestLSPTellsWhatATurnWaitsFor(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Waiting()
	trusted(w)
	c := lsp(w, world.LSPCapabilities(), nil)
	c.does("cursord.ask", "go")
	c.hears("$/progress", "waiting for 1 background command")
	c.does("cursord.cancel")
	c.hears("$/progress", `"end"`, "cancelled")
}

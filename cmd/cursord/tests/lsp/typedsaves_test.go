//go:build unix

package lsp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestLSPSaveDuringACommand types and saves at once while an agent's command runs. The line is the person's: it is no hunk,
// and a reject of all leaves it.
func TestLSPSaveDuringACommand(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"f": "a\n", "g": "g\n"})
	w.Start()
	e := w.Opens()
	c := lsp(w, world.LSPCapabilities(), nil)
	d := c.opens("f")
	c.does("cursord.status") // the daemon has all earlier messages
	e.Diffs()
	script := world.Shells("s", "true")
	w.Plays(world.Lines([]string{script[0], world.Execs("echo x >> g; touch ../ready"), world.Waits("go")}, script[1:])...)
	turn := e.Asks(nil)
	w.Exists("../ready")
	e.Calls(turn.ID)
	d.sets("a\nmine\n")
	d.saves()
	c.does("cursord.status")
	w.Put("../go", "")
	e.Ends(turn.ID)
	require.Equal(t, []string{"g"}, world.Sorted(world.Keys(e.Diffs())))
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "a\nmine\n", "g": "g\n"})
}

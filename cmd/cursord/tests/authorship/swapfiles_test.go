//go:build unix

package authorship

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestSwapFilesAreNoChanges has an editor open a file while a command runs: its swap file is nobody's change.
func TestSwapFilesAreNoChanges(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "a\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Shells("s", "echo x >> f; echo b0VIM > .f.swp; ln -s me@here.1:2 .#f; echo y > .hidden"))...)
	e.Turn(nil)
	require.Equal(t, []string{".hidden", "f"}, world.Sorted(world.Keys(e.Diffs())))
}

//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAFileThatAPersonMovesAway: a person moves a file with pending hunks away and back. The hunks are there again, also for the next daemon.
// Once they were accepted without a word.
func TestAFileThatAPersonMovesAway(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(9, nil), world.Numbered(9, map[int]string{3: "agent 3\n", 7: "agent 7\n"})
	for name, restarts := range map[string]bool{"one daemon": false, "the next daemon": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			w.Start()
			e := w.Opens()
			w.Plays(world.Lines(world.Edits("c", "f", before, after))...)
			e.Turn(nil)
			w.Makes("mv f g")
			require.NotContains(t, e.Diffs(), "f")
			if restarts {
				w.Kill()
				w.Start()
				e = w.Opens()
				require.NotContains(t, e.Diffs(), "f")
			}
			w.Makes("mv g f")
			require.Len(t, e.Diffs()["f"].Hunks, 2)
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Equal(t, before, w.Get("f"))

			w.Makes("mv f g")
			require.Empty(t, e.Diffs())
			w.Put("f", "another\n")
			require.Empty(t, e.Diffs())
			require.Equal(t, "another\n", w.Get("f"))
		})
	}
}

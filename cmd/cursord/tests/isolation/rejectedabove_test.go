//go:build unix

package isolation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestRejectAboveAPersonsLine: the agent changes a line in its copy, and a person changes the same line. The agent's change is rejected, and the
// person takes the own one back: nothing is to review. Once there was a deletion of that line, which no agent had made.
func TestRejectAboveAPersonsLine(t *testing.T) {
	t.Parallel()
	before := world.Numbered(9, nil)
	for name, looks := range map[string]bool{"seen": true, "unseen": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			w.Start()
			e := w.Opens()
			s := e.Isolates()
			w.Plays(world.Lines(world.Edits("c", "f", before, world.Numbered(9, map[int]string{5: "copy 5\n"})))...)
			e.Turn(world.Obj{"sessionId": s.ID})
			w.Put("f", world.Numbered(9, map[int]string{5: "mine 5\n"}))
			if looks {
				require.NotEmpty(t, e.Diffs())
			}
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Empty(t, e.Diffs())
			w.Put("f", before)
			require.Empty(t, e.Diffs(), "nobody has deleted a line")
			w.Put("f", world.Numbered(9, map[int]string{2: "mine 2\n", 5: "mine again\n"}))
			require.Empty(t, e.Diffs())
			require.Equal(t, world.Numbered(9, map[int]string{2: "mine 2\n", 5: "mine again\n"}), w.Get("f"))
		})
	}
}

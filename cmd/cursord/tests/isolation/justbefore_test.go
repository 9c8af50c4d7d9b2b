//go:build unix

package isolation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAPersonsLineFromJustBeforeATurn: a person saves a file right before an isolated turn begins, whose agent writes it as well. The times do not
// say what it was when the turn began. The person's line was taken for one that the agent had added to what git has, and came back when the person
// deleted it.
func TestAPersonsLineFromJustBeforeATurn(t *testing.T) {
	bothKinds(t, testAPersonsLineFromJustBeforeATurn)
}

func testAPersonsLineFromJustBeforeATurn(t *testing.T) {
	for name, agent := range map[string]string{"written as it was": "sed -i s/nomatch/x/ f", "changed": "sed -i s/9/nine/ f"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Makes("seq 10 >f")
			w.Commits()
			w.Start()
			e := w.Opens()
			s := e.Isolates()
			w.Plays(world.Done)
			e.Ok(s)
			w.Plays(world.Lines(world.Shells("1", agent))...)
			w.Makes("sed -i '3i mine' f; sed -i /^5/d f")
			e.Ok(s)
			pending := len(e.Diffs())
			w.Makes("sed -i /^7/d f")
			require.Len(t, e.Diffs(), pending)
			w.Makes("sed -i '/^mine/d' f")
			for _, d := range e.Diffs() {
				require.Len(t, d.Hunks, 1)
				require.Equal(t, []string{" 4", " 6", " 8", "-9", "+nine", " 10"}, d.Hunks[0].Lines)
			}
			e.Decides("diff/accept", world.Obj{"all": true})
			require.NotContains(t, w.Get("f"), "mine")
		})
	}
}

//go:build unix

package isolation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestUndoOfARejectOfAMoveInACopy, in which another file came in the place of the moved one.
func TestUndoOfARejectOfAMoveInACopy(t *testing.T) { bothKinds(t, testUndoOfARejectOfAMoveInACopy) }

func testUndoOfARejectOfAMoveInACopy(t *testing.T) {
	w := newWorld(t)
	w.Put("f", "b\nc\nd\n")
	w.Commits()
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	w.Plays(world.Lines(world.Shells("s", `printf 'b\nc\nq\n' >f; mv f g`))...)
	e.Ok(s)
	w.Plays(world.Lines(world.Shells("t", `printf 'txt\n' >f`))...)
	e.Ok(s)
	was := e.Diffs()
	require.Len(t, was, 2)
	for range 2 {
		require.Empty(t, e.Decides("diff/reject", world.Obj{"all": true}).Skipped)
		require.Empty(t, e.Diffs())
		require.Equal(t, "b\nc\nd\n", w.Copied(s, "f"))
		e.Decides("diff/undo", world.Obj{})
		require.Equal(t, "txt\n", w.Copied(s, "f"))
		require.Equal(t, "b\nc\nq\n", w.Copied(s, "g"))
		for path, d := range e.Diffs() {
			require.Equal(t, was[path].Hunks, d.Hunks)
		}
	}
}

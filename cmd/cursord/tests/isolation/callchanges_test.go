//go:build unix

package isolation

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// changed waits until the transcript has n changes of a call of a turn, and returns them.
func changed(e *world.Editor, turn, call string, n int) (all []string) {
	e.T.Helper()
	has := e.Until("the changes of call "+call, func(told world.Notification) bool {
		it := told.Item
		return it != nil && it.TurnID == turn && it.Tool != nil && it.Tool.CallID == call && len(it.Changes) == n
	})
	for _, c := range has.Item.Changes {
		all = append(all, fmt.Sprintf("%s %s +%d -%d", c.Kind, c.Path, c.Added, c.Removed))
	}
	return all
}

// TestACommandsChangeOfAPendingFileIsAtItsCall: a command changes files that wait for a decision about an earlier call's changes.
func TestACommandsChangeOfAPendingFileIsAtItsCall(t *testing.T) {
	bothKinds(t, func(t *testing.T) {
		w := newWorld(t)
		w.PutAll(world.Tree{"f": "1\n", "g": "1\n"})
		w.Commits()
		w.Plays(world.Lines(
			world.Edits("1", "f", "1\n", "1\n2\n"), world.Shells("2", "echo 2 >>g"), []string{`{"fake":"wait","path":"` + w.Path("../go") + `"}`},
			world.Shells("3", "echo 3 >>f; echo 3 >>g; echo 3 >new"))...)
		w.Start()
		e := w.Opens()
		turn := e.Asks(world.Obj{"sessionId": e.Isolates().ID})
		require.Equal(t, []string{"modified f +1 -0"}, changed(e, turn.ID, "1", 1))
		require.Equal(t, []string{"modified g +1 -0"}, changed(e, turn.ID, "2", 1))
		w.Put("../go", "")
		require.ElementsMatch(t, []string{"modified f +1 -0", "modified g +1 -0", "created new +1 -0"}, changed(e, turn.ID, "3", 3))
		e.Ends(turn.ID)
		require.Equal(t, []string{"edit", "shell"}, world.Vias(e.Diffs()["f"]))
	})
}

// TestAnEditRightAfterACommandIsAtItsCall: the daemon sees what a command and the edit after it have made of a file at once.
func TestAnEditRightAfterACommandIsAtItsCall(t *testing.T) {
	bothKinds(t, func(t *testing.T) {
		w := newWorld(t)
		w.Put("f", "1\n2\n3\n4\n")
		w.Commits()
		w.Rests()
		w.Plays(world.Lines(world.Shells("1", "echo 5 >>f"), world.Edits("2", "f", "1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n"))...)
		w.Start()
		e := w.Opens()
		turn := e.Turn(world.Obj{"sessionId": e.Isolates().ID})
		require.Equal(t, []string{"edit", "shell"}, world.Vias(e.Diffs()["f"]))
		for _, it := range e.Items(turn.ID) {
			if it.Tool != nil {
				require.Len(t, it.Changes, 1, it.Tool.CallID)
			}
		}
	})
}

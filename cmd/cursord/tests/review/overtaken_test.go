//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// TestUndoPassesOverADecisionWhoseLinesHaveChanged: such a decision is named once, and then is no bar to those before it.
func TestUndoPassesOverADecisionWhoseLinesHaveChanged(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("keep", "k\n")
	w.Put("x", "0\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c", "keep", "k\n", "agent\n"), world.Edits("d", "x", "0\n", "1\n"))...)
	first := e.Turn(nil)
	require.Equal(t, 1, e.Decides("diff/reject", world.Obj{"path": "keep"}).Applied)
	again := func(text string) string {
		w.Plays(world.Lines(world.Edits("c", "x", "1\n", text))...)
		return e.Turn(world.Obj{"sessionId": first.SessionID}).ID
	}
	e.Must("session/rewind", world.Obj{"sessionId": first.SessionID, "turnId": again("2\n")}, nil)
	require.Equal(t, "1\n", w.Get("x"))
	again("3\n")

	here := world.Obj{"workspace": w.Root}
	err := e.Fails("diff/undo", here)
	require.Equal(t, api.KindConflict, err.Data.Kind)
	require.Regexp(t, `^the rewind of 1 hunk in x \(.*\d\d:\d\d\) cannot be taken back: those lines of x have changed since$`, err.Message)
	require.Regexp(t, `^call undo again to pass it over: next is the reject of 1 hunk in keep \(.*\d\d:\d\d\)$`, err.Data.Hint)

	w.Stop()
	w.Start()
	e = w.Opens()
	e.Must("diff/undo", here, nil)
	require.Equal(t, "agent\n", w.Get("keep"))
	require.Equal(t, "3\n", w.Get("x"))
	err = e.Fails("diff/undo", here)
	require.Equal(t, api.KindNotFound, err.Data.Kind)
	require.Equal(t, "1 decision cannot be taken back while its lines are changed", err.Data.Hint)
	e.Must("diff/redo", here, nil)
	require.Equal(t, "k\n", w.Get("keep"))
}

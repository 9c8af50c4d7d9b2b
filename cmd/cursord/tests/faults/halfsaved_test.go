//go:build unix

package faults

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
)

// TestAnUndoIsReportedDuringALook: an editor undoes an accept while the daemon takes in half of its save, and perhaps saves the accept's text
// all the same. Before, the decision was forgotten as one that the editor had never made, so that the next undo lost a hunk.
func TestAnUndoIsReportedDuringALook(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"undone": false, "undone and redone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testAnUndoIsReportedDuringALook(t, again)
		})
	}
}

func testAnUndoIsReportedDuringALook(t *testing.T, again bool) {
	w := world.New(t)
	plans(w, "")
	u := w.AboutToUndo(undertest.Fault + "=" + faultPlan(w))
	arrived := func() { u.E.Must("daemon/status", nil, nil) } // after what came before it on this connection
	arrived()
	plans(w, "wait 1")
	w.Put("f", u.Half)
	require.True(t, world.Comes(world.Patience, func() bool {
		_, err := os.Stat(faultPlan(w) + ".log")
		return err == nil
	}), "the daemon brings the half into the copy")
	u.Doc.Set(u.Before)
	if again {
		u.Doc.Set(u.One)
		w.Put("f", u.One)
	}
	arrived()
	plans(w, "")
	u.E.Diffs() // after the look
	u.Redoes()
}

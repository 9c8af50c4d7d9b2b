//go:build unix

package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestRejectWithoutRoomForWhatComesOfIt rejects while the disk has room for the intent but not for the result: no file is
// written. With more room the reject works.
func TestRejectWithoutRoomForWhatComesOfIt(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	state := filepath.Join(w.Dir, "state")
	world.Mounted(t, state, "60m")
	t.Cleanup(w.Kill) // before the disk is unmounted
	w.Put("f", "f\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Shells("s", "echo x >>f"))...)
	require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	filler := filepath.Join(state, "filler")
	w.Makes("head -c 100m /dev/zero >" + filler + " || true; truncate -s -1M " + filler)
	for range 2 {
		failed := e.Fails("diff/reject", world.Obj{"workspace": w.Root, "all": true})
		require.EqualValues(t, "storage", failed.Data.Kind)
		require.Equal(t, "f\nx\n", w.Get("f"))
		require.Contains(t, e.Diffs(), "f")
	}
	require.NoError(t, os.Remove(filler))
	e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, "f\n", w.Get("f"))
}

// TestHugeImportThatDoesNotFit imports more than the disk has room for: the database stays in order, and turns go on.
func TestHugeImportThatDoesNotFit(t *testing.T) {
	world.TooLargeForRace(t)
	w := world.New(t)
	world.Mounted(t, filepath.Join(w.Dir, "state"), "40m")
	t.Cleanup(w.Kill) // before the disk is unmounted
	w.Start()
	e := w.Opens()
	text := strings.Repeat("0123456789abcde\\n", 1<<16)
	result := `{"type":"tool_call","subtype":"completed","call_id":"{{i}}","tool_call":{"shellToolCall":{"args":{"command":"make"},"result":{"success":{"stdout":"` + text + `"}}}}}`
	w.Plays(world.InitLine, `{"fake":"repeat","n":10,"lines":2}`,
		`{"type":"tool_call","subtype":"started","call_id":"{{i}}","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}`, result, world.Succeeds(""))
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	file := filepath.Join(w.Dir, "s.ndjson")
	w.CursordOK("export", turn.SessionID, "--format", "ndjson", "-o", file)
	_, says, code := w.Cursord("import", "--new-ids", "-w", w.Root, file)
	require.Equal(t, 1, code)
	require.Contains(t, says, "the session was not imported: no space left for the database")
	var status api.Status
	e.Must("daemon/status", nil, &status)
	require.Empty(t, status.Storage.Trouble)
	require.Zero(t, status.Storage.Waiting)
	w.Plays(world.InitLine, world.Succeeds(""))
	require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	require.NotContains(t, w.CursordOK("sessions", "--all"), "incomplete")
}

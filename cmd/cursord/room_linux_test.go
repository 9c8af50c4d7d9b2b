package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// TestRejectWithoutRoomForWhatComesOfIt rejects where the disk has so little room that the database could take what is intended,
// and not what comes of it: nothing is written. With more room it is.
func TestRejectWithoutRoomForWhatComesOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	state := filepath.Join(w.dir, "state")
	mounted(t, state, "60m")
	t.Cleanup(w.kill) // before the disk goes
	w.put("f", "f\n")
	w.start()
	e := w.opens()
	w.plays(lines(shells("s", "echo x >>f"))...)
	require.Equal(t, sessions.TurnCompleted, e.turn(nil).Status)
	filler := filepath.Join(state, "filler")
	w.makes("head -c 100m /dev/zero >" + filler + " || true; truncate -s -1M " + filler)
	for range 2 {
		failed := e.fails("diff/reject", obj{"workspace": w.ws, "all": true})
		require.EqualValues(t, "storage", failed.Data.Kind)
		require.Equal(t, "f\nx\n", w.get("f"))
		require.Contains(t, e.diffs(), "f")
	}
	require.NoError(t, os.Remove(filler))
	e.decides("diff/reject", obj{"all": true})
	require.Equal(t, "f\n", w.get("f"))
}

// TestHugeImportThatDoesNotFit imports what the disk has no room for: it leaves the database in order, and turns go on.
func TestHugeImportThatDoesNotFit(t *testing.T) {
	huge(t)
	w := newWorld(t)
	mounted(t, filepath.Join(w.dir, "state"), "40m")
	t.Cleanup(w.kill) // before the disk goes
	w.start()
	e := w.opens()
	text := strings.Repeat("0123456789abcde\\n", 1<<16)
	result := `{"type":"tool_call","subtype":"completed","call_id":"{{i}}","tool_call":{"shellToolCall":{"args":{"command":"make"},"result":{"success":{"stdout":"` + text + `"}}}}}`
	w.plays(initLine, `{"fake":"repeat","n":10,"lines":2}`,
		`{"type":"tool_call","subtype":"started","call_id":"{{i}}","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}`, result, succeeds(""))
	turn := e.turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	file := filepath.Join(w.dir, "s.ndjson")
	w.cursordOK("export", turn.SessionID, "--format", "ndjson", "-o", file)
	_, says, code := w.cursord("import", "--new-ids", "-w", w.ws, file)
	require.Equal(t, 1, code)
	require.Contains(t, says, "the session is not imported: no space left for the database")
	var status api.Status
	e.must("daemon/status", nil, &status)
	require.Empty(t, status.Storage.Trouble)
	require.Zero(t, status.Storage.Waiting)
	w.plays(initLine, succeeds(""))
	require.Equal(t, sessions.TurnCompleted, e.turn(nil).Status)
	require.NotContains(t, w.cursordOK("sessions", "--all"), "incomplete")
}

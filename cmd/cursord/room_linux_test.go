package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon"
	"cursord/sessions"
)

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
	var status daemon.Status
	e.must("daemon/status", nil, &status)
	require.Empty(t, status.Storage.Trouble)
	require.Zero(t, status.Storage.Waiting)
	w.plays(initLine, succeeds(""))
	require.Equal(t, sessions.TurnCompleted, e.turn(nil).Status)
	require.NotContains(t, w.cursordOK("sessions", "--all"), "incomplete")
}

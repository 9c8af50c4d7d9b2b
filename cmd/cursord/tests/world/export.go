//go:build unix

package world

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// Exported writes an exported session with one turn, whose answer has size bytes, and returns the file's path.
func (w *World) Exported(id string, updated time.Time, size int) string {
	w.T.Helper()
	at := sessions.Time{Time: updated}
	s := &sessions.Session{ID: id, Workspace: w.Root, Title: id, Mode: sessions.ModeAgent, Turns: 1, CreatedAt: at, UpdatedAt: at}
	turn := &sessions.Turn{ID: "turn-" + id, SessionID: id, Prompt: "x", Mode: sessions.ModeAgent, Status: sessions.TurnCompleted, CreatedAt: at}
	item := &sessions.Item{TurnID: turn.ID, Kind: sessions.ItemAssistant, Status: sessions.ItemCompleted, Text: strings.Repeat("x", size), StartedAt: at}
	path := filepath.Join(w.Dir, id+".ndjson")
	w.WritesExport(path, api.ExportLine{Session: s}, api.ExportLine{ExportPart: api.ExportPart{Turn: turn}},
		api.ExportLine{ExportPart: api.ExportPart{Item: item}}, api.ExportLine{End: &api.ExportEnd{Turns: 1, Items: 1}})
	return path
}

// WritesExport writes these lines to a file for session/import.
func (w *World) WritesExport(path string, lines ...api.ExportLine) {
	w.T.Helper()
	var file bytes.Buffer
	out := json.NewEncoder(&file)
	require.NoError(w.T, out.Encode(api.ExportHeader{Cursord: "session", Version: 1}))
	for _, line := range lines {
		require.NoError(w.T, out.Encode(line))
	}
	require.NoError(w.T, os.WriteFile(path, file.Bytes(), 0o600))
}

// SessionIDs lists the ids of all sessions, sorted.
func (e *Editor) SessionIDs() (ids []string) {
	e.T.Helper()
	var list struct{ Sessions []*sessions.Session }
	e.Must("session/list", Obj{"limit": 1000}, &list)
	for _, s := range list.Sessions {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return ids
}

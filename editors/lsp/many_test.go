package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/paths"
	"cursord/editors/lsp/client"
)

// TestManyCreatedFiles: the cost of each of many created files does not grow with their number, though one list has them
// all. The test counts bytes, not time: four times the files cost about four times as much, and not sixteen times.
func TestManyCreatedFiles(t *testing.T) {
	cost := func(n int) float64 {
		dir := t.TempDir()
		var out bytes.Buffer
		s := newServer(t.Context(), &out, Options{Version: "test", StateDir: filepath.Join(dir, "state"), Dial: newSilent, Log: slog.New(slog.DiscardHandler)})
		s.client = client.New(&client.Capabilities{})
		s.phase, s.roots = serving, []string{paths.URI(dir)}
		s.begin()
		defer s.daemon.client.Close()
		w := s.folders[0]
		lines := strings.TrimSuffix(strings.Repeat(`"+a line",`, 50), ",")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range n {
			s.heard("diff/changed", json.RawMessage(fmt.Sprintf(`{"workspace":%q,"seq":%d,"diff":{"workspace":%[1]q,"path":"f%05[2]d","kind":"created",
				"state":"pending","baseline":"known","rev":1,"seq":%[2]d,"hunks":[{"id":"%[2]d.1","kind":"file","newStart":1,"newLines":50,"lines":[%[3]s],"isolated":true,"sources":[]}]}}`,
				w.path, i+1, lines)))
		}
		s.syncReview(w)
		runtime.ReadMemStats(&after)
		require.Len(t, s.placedAt(w, s.reviewURI(w)), n)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	cost(10) // pays the costs that occur only once
	few, many := cost(200), cost(800)
	require.Less(t, many/few, 9.0, "%.0f bytes for 200 files, %.0f for 800", few, many)
}

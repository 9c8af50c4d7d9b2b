package daemon

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/config"
	"cursord/daemon/internal/params"
	"cursord/sessions"
)

// TestDamagedRecords stores a review, a decision, a note and an intent that are not JSON. This daemon and the next one serve
// the workspace all the same, and clear the diff of the review.
func TestDamagedRecords(t *testing.T) {
	var log bytes.Buffer
	o := Options{StateDir: t.TempDir(), Config: config.Default(), Log: slog.New(slog.NewTextHandler(&log, nil))}
	root, err := params.Root(t.TempDir())
	require.NoError(t, err)
	d, err := Open(o)
	require.NoError(t, err)
	bad := []byte("{")
	d.store.Submit(root, []sessions.Op{
		sessions.Put{Object: &sessions.Diff{Workspace: root, Path: "f", State: "pending", Hunks: []sessions.Hunk{{ID: "h"}}, Seq: 1}},
		sessions.PutReview{Path: "f", State: bad}, sessions.PutDecision{N: 1, Data: bad}, sessions.PutNote{N: 1, Data: bad},
		sessions.PutIntent{N: 1, Data: bad},
	}, nil)
	require.NoError(t, d.Close())

	d, err = Open(o)
	require.NoError(t, err)
	w, err := d.workspaceAt(root)
	require.NoError(t, err)
	w.review.Wait()
	w.settled(t)
	diff, err := d.store.Diff(root, "f")
	require.NoError(t, err)
	require.Equal(t, "clean", diff.State)
	messages := 0
	d.Messages(func(_ slog.Level, text string) {
		if strings.Contains(text, "was damaged") {
			messages++
		}
	}).Stop()
	require.Equal(t, 1, messages)
	require.NoError(t, d.Close())
	for _, what := range []string{"the review of f", "decision 1", "note 1"} {
		require.Contains(t, log.String(), what)
	}

	log.Reset()
	d, err = Open(o)
	require.NoError(t, err)
	_, err = d.workspaceAt(root)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.NotContains(t, log.String(), "level=ERROR")
}

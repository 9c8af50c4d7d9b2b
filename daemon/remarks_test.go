package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
)

// TestDeletedSessionsLeftTheirRemarks deletes a session with remarks for its next prompt. They go, and a later reject of its
// changes leaves none.
func TestDeletedSessionsLeftTheirRemarks(t *testing.T) {
	w := openSpace(t, nil)
	kept, err := w.d.CreateSession(w.root, api.SessionParams{})
	require.NoError(t, err)
	gone, err := w.d.CreateSession(w.root, api.SessionParams{})
	require.NoError(t, err)
	reject := func(n uint64) {
		reviewLoop{w}.KeepRejections(n, []decisionlog.Rejection{{Session: gone.ID, Text: "that was rejected"}, {Session: kept.ID, Text: "this was rejected"}})
	}
	waits := func(want ...string) {
		t.Helper()
		w.in(t, func() {
			require.Equal(t, want, w.remarks.Sessions())
		})
		require.Eventually(t, func() bool {
			notes, err := w.d.store.Notes(w.root)
			return err == nil && len(notes) == len(want)
		}, patience, time.Millisecond, "what is stored")
	}
	reject(1)
	waits(gone.ID, kept.ID)
	require.NoError(t, w.d.DeleteSession(gone.ID))
	waits(kept.ID)
	reject(2)
	waits(kept.ID, kept.ID)
}

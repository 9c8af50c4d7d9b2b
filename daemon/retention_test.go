package daemon

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/config"
	"cursord/sessions"
)

// TestCompactedWhenItPays compacts a database that is mostly empty pages, and leaves a full one alone.
func TestCompactedWhenItPays(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced")
	}
	d, err := Open(Options{StateDir: t.TempDir(), Config: config.Default()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	store := func(ops ...sessions.Op) {
		done := make(chan error, 1)
		d.store.Submit("/w", ops, func(err error) { done <- err })
		require.NoError(t, <-done)
	}
	bytes := func() int64 {
		use, err := d.store.DiskUse()
		require.NoError(t, err)
		return use.Bytes
	}
	blob := make([]byte, 80<<20)
	store(sessions.PutReview{Path: "a", State: []byte("x"), Blobs: [][]byte{blob}})
	full := bytes()
	d.compactIfWasteful(context.Background())
	require.Equal(t, full, bytes())
	store(sessions.DropReview{Path: "a"})
	store(sessions.SetTrust{Trusted: true}) // frees the pages of the commit before
	w, err := d.workspaceAt("/w")
	require.NoError(t, err)
	w.running.Store(1)
	d.compactIfWasteful(context.Background())
	require.Equal(t, full, bytes(), "not while a turn runs")
	w.running.Store(0)
	d.compactIfWasteful(context.Background())
	require.Less(t, bytes(), full/2)
	rec, err := d.store.Workspace("/w")
	require.NoError(t, err)
	require.True(t, rec.Trusted)
}

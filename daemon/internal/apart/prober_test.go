package apart

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each start of a daemon tried an overlay, by six processes, also where the configuration lets nobody have one.
func TestNoOverlayIsTriedWhereNoneIsAllowed(t *testing.T) {
	allowed := false
	above := filepath.Join(t.TempDir(), "state")
	p := NewProber(t.Context(), filepath.Join(above, "overlay"), func() bool { return allowed })
	require.ErrorIs(t, p.Refusal(t.Context()), ErrByConfiguration)
	p.Close()
	require.NoDirExists(t, above)

	p = NewProber(t.Context(), filepath.Join(above, "overlay"), func() bool { return allowed })
	allowed = true // by a new configuration
	require.NotErrorIs(t, p.Refusal(t.Context()), ErrByConfiguration)
	p.Close()
	require.DirExists(t, above)

	p = NewProber(t.Context(), filepath.Join(above, "none", "overlay"), func() bool { return allowed })
	p.Close()
	require.DirExists(t, filepath.Join(above, "none"), "where it is allowed, the trial begins at once")
	allowed = false
	p = NewProber(t.Context(), filepath.Join(above, "late", "overlay"), func() bool { return allowed })
	p.Close()
	allowed = true
	require.ErrorIs(t, p.Refusal(t.Context()), context.Canceled)
	require.NoDirExists(t, filepath.Join(above, "late"))
}

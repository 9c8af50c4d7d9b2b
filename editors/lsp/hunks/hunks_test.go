package hunks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestSummary: a new file that may be run says so.
func TestSummary(t *testing.T) {
	h := &sessions.Hunk{Kind: "file", Lines: []string{"+a", "+b"}}
	require.Equal(t, "run.sh: new file, +2", Summary(&sessions.Diff{Path: "in/run.sh", Kind: sessions.DiffCreated}, h))
	require.Equal(t, "run.sh: new file, mode 100755, +2", Summary(&sessions.Diff{Path: "in/run.sh", Kind: sessions.DiffCreated, NewMode: "100755"}, h))
}

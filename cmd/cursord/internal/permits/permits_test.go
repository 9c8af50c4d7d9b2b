package permits

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// TestPermitArgs: what a chat hands to another is the command line of its permissions.
func TestPermitArgs(t *testing.T) {
	t.Parallel()
	enabled, review := "enabled", false
	require.Equal(t, []string{"--sandbox=enabled", "--auto-review=false", "--add-dir=/a"},
		Args(&rpc.TurnStartParams{Sandbox: &enabled, AutoReview: &review, AddDirs: &[]string{"/a"}}))
	require.Empty(t, Args(&rpc.TurnStartParams{}))
}

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// TestADaemonThatEndsIsNoRiddle tells what to do where a daemon is killed while it is asked.
func TestADaemonThatEndsIsNoRiddle(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	require.Equal(t, exitFailed, exitStatus(fmt.Errorf("gc: %w", rpc.ErrClosed), true, "", &told))
	require.Equal(t, "cursord: gc: connection to the daemon is closed\n"+
		"  it has ended: try again, which starts another; \"cursord logs\" may say why\n", told.String())
}

package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/serve"
	"cursord/rpc"
)

// TestADaemonThatEndsIsNoRiddle tells what to do where a daemon is killed while it is asked.
func TestADaemonThatEndsIsNoRiddle(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	require.Equal(t, exitFailed, exitStatus(fmt.Errorf("gc: %w", rpc.ErrClosed), true, "", &told))
	require.Equal(t, "cursord: gc: connection to the daemon is closed\n"+
		"  the daemon has ended: try again, which starts another one; \"cursord logs\" may say why it ended\n", told.String())
}

// TestAnUnknownShellIsWrongUsage refuses an unknown shell to complete for, as any unknown command.
func TestAnUnknownShellIsWrongUsage(t *testing.T) {
	t.Parallel()
	root := rootCommand(serve.Injected{})
	root.SetArgs([]string{"completion", "foo"})
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	require.Equal(t, exitUsage, exitStatus(root.Execute(), started, "", io.Discard))
}

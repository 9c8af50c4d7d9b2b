//go:build unix

package rpc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStoppedWhileAClientReads stops this process in the middle of a write for longer than a client may take for one: the
// client is not to blame.
func TestStoppedWhileAClientReads(t *testing.T) {
	const limit = time.Second
	theirs, ours := io.Pipe()
	var stalled atomic.Bool
	g := newStallGuard(ours, limit, func() {
		stalled.Store(true)
		ours.Close()
	})
	defer g.stop()
	wrote := make(chan error)
	go func() {
		_, err := g.Write([]byte("x"))
		wrote <- err
	}()
	require.Eventually(t, g.armed.Load, patience, time.Millisecond)
	stop := fmt.Sprintf("kill -STOP %[1]d; sleep %[2]v; kill -CONT %[1]d", os.Getpid(), (limit + limit/2).Seconds()) // what is tested
	require.NoError(t, exec.Command("sh", "-c", stop).Run())
	_, err := theirs.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, <-wrote)
	require.False(t, stalled.Load())

	go func() {
		_, err := g.Write([]byte("y"))
		wrote <- err
	}()
	require.ErrorIs(t, <-wrote, io.ErrClosedPipe)
	require.True(t, stalled.Load(), "nobody reads")
}

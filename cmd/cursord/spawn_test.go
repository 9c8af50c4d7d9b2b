package main

import (
	"net"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDyingDaemonIsReplaced has a client connect to a daemon that ends before it reads anything.
func TestDyingDaemonIsReplaced(t *testing.T) {
	w := newWorld(t)
	dying, err := net.Listen("unix", w.socket())
	require.NoError(t, err)
	taken := make(chan error, 1)
	go func() {
		conn, err := dying.Accept()
		if err == nil {
			dying.Close()
			err = conn.Close()
		}
		taken <- err
	}()
	_, stderr, status := w.cursord("status")
	require.Zero(t, status, stderr)
	require.NoError(t, <-taken)
	_, stderr, status = w.cursord("stop")
	require.Zero(t, status, stderr)
}

// TestADaemonThatGaveWayInVain has the daemon that a client starts give way to another, which ends at once: the client
// starts one more.
func TestADaemonThatGaveWayInVain(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{{"status"}, {"call", "daemon/status"}} {
		w.put("../gives-way", "")
		cmd := exec.Command("cursord", args...)
		cmd.Env = w.env("CURSORD_GIVES_WAY=" + filepath.Join(w.dir, "gives-way"))
		began := time.Now()
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NoFileExists(t, filepath.Join(w.dir, "gives-way"))
		require.Less(t, time.Since(began), startLimit)
		w.cursordOK("stop")
	}
}

package main

import (
	"net"
	"testing"

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

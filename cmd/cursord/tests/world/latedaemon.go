//go:build unix

package world

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// LateDaemon returns a socket, whose folder and the one above it only a daemon makes, and a function that runs cursord with it. The
// workspace is trusted and has had a turn, and no daemon runs.
func (w *World) LateDaemon() (socket string, cursord func(args ...string)) {
	w.T.Helper()
	run := filepath.Join(w.Dir, "run")
	socket = filepath.Join(run, "c", "d.sock")
	cursord = func(args ...string) {
		cmd := exec.Command("cursord", args...)
		cmd.Dir, cmd.Env = w.Root, w.Env("CURSORD_SOCKET="+socket)
		out, err := cmd.CombinedOutput()
		require.NoError(w.T, err, "%v: %s", args, out)
	}
	cursord("run", "--trust", "go")
	cursord("stop")
	require.NoError(w.T, os.RemoveAll(run))
	return socket, cursord
}

//go:build unix

package life

import (
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
	"cursord/rpc/dial"
)

// TestDyingDaemonIsReplaced: a client connects to a daemon that ends before it reads anything.
func TestDyingDaemonIsReplaced(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	dying, err := net.Listen("unix", w.Socket())
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
	_, stderr, status := w.Cursord("status")
	require.Zero(t, status, stderr)
	require.NoError(t, <-taken)
	_, stderr, status = w.Cursord("stop")
	require.Zero(t, status, stderr)
}

// TestADaemonThatCannotServeSaysWhy: the daemon that a client starts listens and then finds its database in use. The client
// reports that at once, and does not go on starting daemons.
func TestADaemonThatCannotServeSaysWhy(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	elsewhere := "CURSORD_SOCKET=" + filepath.Join(w.Dir, "other.sock")
	for _, args := range [][]string{{"status"}, {"stdio"}} {
		cmd := exec.Command("cursord", args...)
		cmd.Env = w.Env(elsewhere)
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"daemon/status"}` + "\n")
		out, err := cmd.CombinedOutput()
		require.Error(t, err, "%s", out)
		require.Contains(t, string(out), "the daemon did not start: "+filepath.Join(w.Dir, "state", "cursord.db")+": another process has the database open")
	}
}

// TestADaemonThatGaveWayInVain: the daemon that a client starts gives way to another daemon, which ends at once. The client
// starts one more.
func TestADaemonThatGaveWayInVain(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	for _, args := range [][]string{{"status"}, {"call", "daemon/status"}} {
		w.Put("../gives-way", "")
		cmd := exec.Command("cursord", args...)
		cmd.Env = w.Env(undertest.GivesWay + "=" + filepath.Join(w.Dir, "gives-way"))
		began := time.Now()
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NoFileExists(t, filepath.Join(w.Dir, "gives-way"))
		require.Less(t, time.Since(began), dial.StartLimit)
		w.CursordOK("stop")
	}
}

//go:build linux

package life

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// TestTwoEnvironmentsFoughtForTheDatabase: one user has clients in two environments with different places for the socket,
// such as a desktop and cron. They share one daemon, whichever starts it and however it ends.
func TestTwoEnvironmentsFoughtForTheDatabase(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	in := func(runtime string, cmd *exec.Cmd) *exec.Cmd {
		dir := filepath.Join(w.Dir, runtime)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		cmd.Env = w.Env("CURSORD_SOCKET=", "XDG_RUNTIME_DIR="+dir)
		return cmd
	}
	opens := func(runtime string) *world.Editor {
		cmd := in(runtime, exec.Command("cursord", "stdio"))
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		e := w.EditorOn(world.Piped{ReadCloser: out, WriteCloser: in})
		t.Cleanup(func() {
			e.Client.Close()
			_ = cmd.Wait()
		})
		e.Must("initialize", world.Obj{}, nil)
		return e
	}
	status := func(runtime string) (s api.Status) {
		out, err := in(runtime, exec.Command("cursord", "status", "--json")).CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NoError(t, json.Unmarshal(out, &s))
		return s
	}
	t.Cleanup(func() {
		for _, runtime := range []string{"a", "b"} {
			_ = in(runtime, exec.Command("cursord", "stop", "--force")).Run()
		}
	})
	a := opens("a")
	first := a.Status()
	require.Equal(t, filepath.Join(w.Dir, "a", "cursord", "d.sock"), first.Socket)
	b := opens("b")
	require.Equal(t, first.PID, b.Status().PID)
	require.Equal(t, first.PID, status("b").PID)

	// Both learn that the daemon was stopped, and both join the next one.
	out, err := in("b", exec.Command("cursord", "stop")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, e := range []*world.Editor{a, b} {
		e.Message("info", "the cursord daemon was stopped")
	}
	second := b.Status()
	require.Equal(t, filepath.Join(w.Dir, "b", "cursord", "d.sock"), second.Socket)
	a.Reconnected(1)
	require.Equal(t, second.PID, a.Status().PID)

	// After a kill both together start one daemon.
	for n := 2; n < 5; n++ {
		pid := a.Status().PID
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		require.Equal(t, a.Status().PID, b.Status().PID)
		require.NotEqual(t, pid, a.Status().PID)
		require.Equal(t, a.Status().PID, status("a").PID)
		require.Equal(t, a.Status().PID, status("b").PID)
	}
}

//go:build linux

package life

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestDaemonStaysWithoutASuccessor: clients name programs as newer builds that cannot replace the daemon. It stays.
func TestDaemonStaysWithoutASuccessor(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	newer := newerProgram(w)
	w.Args = []string{"--detached"}
	w.Start()
	e := w.Joins()
	program := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(w.Dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	which := func(name string) string {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		return path
	}
	foreign := program("foreign", "#!/bin/sh\necho cursord dev\n", 0o755)
	programs := map[string]string{
		"/nonexist": "no such file", w.Dir: "is not a regular file", "cursord": "not an absolute path",
		program("plain", "#!/bin/sh\necho cursord dev\n", 0o644): "permission denied",
		program("broken", "no program\n", 0o755):                 "cannot be run",
		which("false"):                                           "is not cursord", which("yes"): "is not cursord",
	}
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(foreign, 65534, 65534))
		programs[foreign] = "belongs to user 65534"
	}
	for name, why := range programs {
		var joined api.Joined
		e.Must("daemon/join", world.Obj{"version": "dev", "written": int64(math.MaxInt64), "program": name}, &joined)
		require.Equal(t, "no", joined.Replaced, name)
		w.Logged(w.LogFile, why)
	}
	var joined api.Joined
	e.Must("daemon/join", world.Obj{"version": "999.0.0", "written": int64(math.MaxInt64), "program": newer}, &joined)
	require.Equal(t, "no", joined.Replaced, "a release is older than what a developer built")
	require.Equal(t, w.Cmd.Process.Pid, e.Status().PID)
}

// TestDaemonStartsAgainIfItsSuccessorIsGone removes the newer build after the daemon has agreed to be replaced by it.
func TestDaemonStartsAgainIfItsSuccessorIsGone(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	newer := newerProgram(w)
	w.Args = []string{"--detached"}
	w.Start()
	e := throughStdio(w)
	e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	pid := e.Status().PID
	own := programOf(t, pid)
	w.Plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`,
		`{"fake":"exec","argv":["sh","-c","until test -e `+w.Dir+`/go; do sleep 0.01; done"]}`,
		`{"type":"result","subtype":"success","result":"done","session_id":"{{session}}"}`)
	turn := e.Asks(nil)
	var joined api.Joined
	w.Joins().Must("daemon/join", world.Obj{"version": "dev", "written": int64(math.MaxInt64), "program": newer}, &joined)
	require.Equal(t, "later", joined.Replaced)
	require.NoError(t, os.Remove(newer))
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "go"), nil, 0o600))
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	e.Reconnected(1)
	require.Equal(t, pid, e.Status().PID)
	require.Equal(t, own, programOf(t, pid))
	w.Logged(w.LogFile, "the newer build has not taken over")
}

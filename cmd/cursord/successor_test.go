//go:build linux

package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// logFile returns what a daemon in the background has logged.
func (w *world) logFile() string {
	b, err := os.ReadFile(filepath.Join(w.dir, "state", "cursord.log"))
	require.NoError(w.t, err)
	return string(b)
}

// TestDaemonStaysWithoutASuccessor names programs that cannot take the daemon's place as those of a newer build.
func TestDaemonStaysWithoutASuccessor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	newer := w.newerProgram()
	w.args = []string{"--detached"}
	w.start()
	e := w.joins()
	program := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(w.dir, name)
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
		"/nonexist": "no such file", w.dir: "is no regular file", "cursord": "not an absolute path",
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
		e.must("daemon/join", obj{"version": "dev", "written": int64(math.MaxInt64), "program": name}, &joined)
		require.Equal(t, "no", joined.Replaced, name)
		w.logged(w.logFile, why)
	}
	var joined api.Joined
	e.must("daemon/join", obj{"version": "999.0.0", "written": int64(math.MaxInt64), "program": newer}, &joined)
	require.Equal(t, "no", joined.Replaced, "a release is older than what a developer built")
	require.Equal(t, w.cmd.Process.Pid, e.status().PID)
}

// TestDaemonStartsAgainIfItsSuccessorIsGone takes the newer build away after the daemon has promised it its place.
func TestDaemonStartsAgainIfItsSuccessorIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	newer := w.newerProgram()
	w.args = []string{"--detached"}
	w.start()
	e := w.throughStdio()
	e.must("workspace/trust", obj{"workspace": w.ws, "trusted": true}, nil)
	e.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	pid := e.status().PID
	own := programOf(t, pid)
	w.plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`,
		`{"fake":"exec","argv":["sh","-c","until test -e `+w.dir+`/go; do sleep 0.01; done"]}`,
		`{"type":"result","subtype":"success","result":"done","session_id":"{{session}}"}`)
	turn := e.asks(nil)
	var joined api.Joined
	w.joins().must("daemon/join", obj{"version": "dev", "written": int64(math.MaxInt64), "program": newer}, &joined)
	require.Equal(t, "later", joined.Replaced)
	require.NoError(t, os.Remove(newer))
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))
	require.Equal(t, sessions.TurnCompleted, e.ends(turn.ID).Status)
	e.reconnected(1)
	require.Equal(t, pid, e.status().PID)
	require.Equal(t, own, programOf(t, pid))
	w.logged(w.logFile, "the newer build has not taken over")
}

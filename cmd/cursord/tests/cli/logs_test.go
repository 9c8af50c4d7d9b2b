//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestHangup sends SIGHUP to a daemon. The daemon goes on and writes to a new log file.
func TestHangup(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	out := w.CursordOK("call", "daemon/status")
	var pid int
	_, err := fmt.Sscanf(out[strings.Index(out, `"pid":`):], `"pid":%d`, &pid)
	require.NoError(t, err)
	defer w.CursordOK("stop", "--force")
	log := filepath.Join(w.Dir, "state", "cursord.log")
	require.NoError(t, os.Rename(log, log+".away"))
	require.NoError(t, syscall.Kill(pid, syscall.SIGHUP))
	w.Logged(func() string { b, _ := os.ReadFile(log); return string(b) }, "a hangup: read the configuration again")
	require.Contains(t, w.CursordOK("call", "daemon/status"), fmt.Sprintf(`"pid":%d,`, pid))
	require.Contains(t, w.CursordOK("logs"), "INFO  a hangup: read the configuration again")
}

// TestHangupReadsTheConfiguration changes settings of a running daemon.
func TestHangupReadsTheConfiguration(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Args = []string{"--detached"}
	w.Start()
	file := filepath.Join(w.Dir, "state", "cursord.log")
	log := func() string {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(b)
	}
	hangup := func(config, says string) {
		t.Helper()
		require.NoError(t, os.Truncate(file, 0))
		w.Put("../config.toml", config)
		require.NoError(t, syscall.Kill(w.Cmd.Process.Pid, syscall.SIGHUP))
		w.Logged(log, says)
	}
	const taken = "read the configuration again"
	e := w.Opens()
	runs := func(turn *sessions.Turn) {
		t.Helper()
		e.Until("the turn to run", func(n world.Notification) bool {
			return n.Turn != nil && n.Turn.ID == turn.ID && n.Turn.Status == sessions.TurnRunning
		})
	}
	w.Plays(world.InitLine, world.Waits("go"), world.Succeeds(""))
	one := e.Asks(nil)
	runs(one)
	two := e.Asks(nil)
	require.Equal(t, sessions.TurnQueued, two.Status)
	hangup("parallel_turns = 2\nmodel = \"m-1\"", taken)
	runs(two) // it is no longer queued
	w.Put("../go", "")
	e.Ends(two.ID)
	require.True(t, slices.ContainsFunc(w.Runs(), func(r world.AgentRun) bool { return slices.Contains(r.Args, "m-1") })) // turn one may still be starting its agent

	// The log names settings that need a restart, and mistakes. A configuration with a mistake changes nothing.
	hangup("model = \"m-2\"\nlarge_lines = 5\ncopy_include = [\".env\"]\nlog_level = \"warn\"", `"key":"copy_include"`)
	require.Contains(t, log(), `"key":"large_lines"`)
	require.NotContains(t, log(), `"key":"large_size"`)
	hangup("model = \"m-3\"\nmodle = 1\nlog_level = \"loud\"", "config.toml:3: log_level must be")
	e.Ends(one.ID)
	e.Turn(nil)
	require.Contains(t, w.Runs()[2].Args, "m-2")
	require.NotContains(t, log(), `"level":"INFO"`)

	hangup("idle_exit = \"1ms\"", taken)
	require.NoError(t, e.Client.Close())
	select {
	case <-w.Ended:
	case <-time.After(world.Patience):
		t.Fatal("it does not end although nobody is there")
	}
}

// TestTracedDaemon records the messages of all connections in a file that only its user can read.
func TestTracedDaemon(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	trace := filepath.Join(w.Dir, "wire.ndjson")
	require.NoError(t, os.WriteFile(trace, nil, 0o644))
	w.Args = []string{"--trace", trace}
	w.Start()
	one, two := w.Opens(), w.Joins()
	turn := one.Turn(world.Obj{"prompt": "a secret"})
	two.Must("session/read", world.Obj{"sessionId": turn.SessionID}, nil)
	require.NoError(t, syscall.Kill(w.Cmd.Process.Pid, syscall.SIGHUP))
	two.Must("daemon/status", nil, nil)
	w.Stop()
	info, err := os.Stat(trace)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	raw, err := os.ReadFile(trace)
	require.NoError(t, err)
	for _, part := range []string{`"method":"turn/start","params":{"prompt":"a secret"`, `"direction":"out","message":{"jsonrpc":"2.0","method":"turn/changed"`,
		`"method":"session/read"`, `"event":"opened"`, `"event":"closed"`} {
		require.Contains(t, string(raw), part)
	}
	require.NotContains(t, w.Log.String(), "a secret")
}

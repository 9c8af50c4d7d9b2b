package main

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

	"cursord/sessions"
)

// TestHangup sends a daemon SIGHUP: it goes on, in a new file of its log.
func TestHangup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.cursordOK("call", "daemon/status")
	var pid int
	_, err := fmt.Sscanf(out[strings.Index(out, `"pid":`):], `"pid":%d`, &pid)
	require.NoError(t, err)
	defer w.cursordOK("stop", "--force")
	log := filepath.Join(w.dir, "state", "cursord.log")
	require.NoError(t, os.Rename(log, log+".away"))
	require.NoError(t, syscall.Kill(pid, syscall.SIGHUP))
	w.logged(func() string { b, _ := os.ReadFile(log); return string(b) }, "a hangup: read the configuration again")
	require.Contains(t, w.cursordOK("call", "daemon/status"), fmt.Sprintf(`"pid":%d,`, pid))
	require.Contains(t, w.cursordOK("logs"), "INFO  a hangup: read the configuration again")
}

// logged waits until a log has a text.
func (w *world) logged(log func() string, text string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return strings.Contains(log(), text) }, patience, patience/1000)
}

// TestHangupReadsTheConfiguration changes settings of a daemon at work.
func TestHangupReadsTheConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.args = []string{"--detached"}
	w.start()
	file := filepath.Join(w.dir, "state", "cursord.log")
	log := func() string {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(b)
	}
	hangup := func(config, says string) {
		t.Helper()
		require.NoError(t, os.Truncate(file, 0))
		w.put("../config.toml", config)
		require.NoError(t, syscall.Kill(w.cmd.Process.Pid, syscall.SIGHUP))
		w.logged(log, says)
	}
	const taken = "read the configuration again"
	e := w.opens()
	runs := func(turn *sessions.Turn) {
		t.Helper()
		e.until("the turn to run", func(n told) bool {
			return n.Turn != nil && n.Turn.ID == turn.ID && n.Turn.Status == sessions.TurnRunning
		})
	}
	w.plays(initLine, waits("go"), succeeds(""))
	one := e.asks(nil)
	runs(one)
	two := e.asks(nil)
	require.Equal(t, sessions.TurnQueued, two.Status)
	hangup("parallel_turns = 2\nmodel = \"m-1\"", taken)
	runs(two) // it waits no more
	w.put("../go", "")
	e.ends(two.ID)
	require.True(t, slices.ContainsFunc(w.runs(), func(r agentRun) bool { return slices.Contains(r.Args, "m-1") })) // the first may still be starting

	// What cannot be changed under way is named, and so is a mistake, which changes nothing.
	hangup("model = \"m-2\"\nlarge_lines = 5\ncopy_include = [\".env\"]\nlog_level = \"warn\"", `"key":"copy_include"`)
	require.Contains(t, log(), `"key":"large_lines"`)
	require.NotContains(t, log(), `"key":"large_size"`)
	hangup("model = \"m-3\"\nmodle = 1\nlog_level = \"loud\"", "config.toml:3: log_level must be")
	e.ends(one.ID)
	e.turn(nil)
	require.Contains(t, w.runs()[2].Args, "m-2")
	require.NotContains(t, log(), `"level":"INFO"`)

	hangup("idle_exit = \"1ms\"", taken)
	require.NoError(t, e.c.Close())
	select {
	case <-w.ended:
	case <-time.After(patience):
		t.Fatal("it does not end although nobody is there")
	}
}

// TestTracedDaemon records the wire of all connections in a file that only its user may read.
func TestTracedDaemon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trace := filepath.Join(w.dir, "wire.ndjson")
	require.NoError(t, os.WriteFile(trace, nil, 0o644))
	w.args = []string{"--trace", trace}
	w.start()
	one, two := w.opens(), w.joins()
	turn := one.turn(obj{"prompt": "a secret"})
	two.must("session/read", obj{"sessionId": turn.SessionID}, nil)
	require.NoError(t, syscall.Kill(w.cmd.Process.Pid, syscall.SIGHUP))
	two.must("daemon/status", nil, nil)
	w.stop()
	info, err := os.Stat(trace)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	raw, err := os.ReadFile(trace)
	require.NoError(t, err)
	for _, part := range []string{`"method":"turn/start","params":{"prompt":"a secret"`, `"direction":"out","message":{"jsonrpc":"2.0","method":"turn/changed"`,
		`"method":"session/read"`, `"event":"opened"`, `"event":"closed"`} {
		require.Contains(t, string(raw), part)
	}
	require.NotContains(t, w.log.String(), "a secret")
}

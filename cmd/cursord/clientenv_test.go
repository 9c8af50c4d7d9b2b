//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

const envSecret = "sesame-4711"

// printsEnv is an agent that writes its environment into the workspace when it runs a turn.
func (w *world) printsEnv() string {
	return w.program("printing", `test "$1" = -p && env >`+w.path("../env")+"\n"+w.fake())
}

// keepsNoSecret looks for the secret in all that the daemon has written.
func (w *world) keepsNoSecret() {
	w.t.Helper()
	require.NotContains(w.t, w.log.String(), envSecret)
	require.NoError(w.t, filepath.WalkDir(filepath.Join(w.dir, "state"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		require.NotContains(w.t, string(data), envSecret, path)
		return err
	}))
}

// TestEnvironmentOfTheClient gives agents the environment of who starts the turn, and nobody else gets to see it.
func TestEnvironmentOfTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("../config.toml", "agent_env = \"client\"\nlog_level = \"debug\"\n")
	trace := filepath.Join(w.dir, "trace")
	w.args = []string{"--trace", trace}
	w.start("CURSORD_AGENT=" + w.printsEnv())
	e := w.opens()

	// A client that tells nothing.
	turn := e.turn(nil)
	require.Contains(t, e.notices(turn.ID), "has not told its environment")
	require.NotContains(t, w.get("../env"), "WHO=")

	// Commands tell it by themselves, editors through cursord stdio.
	run := w.command("run", "hello")
	run.Env = append(run.Env, "WHO=command", "CURSOR_API_KEY="+envSecret)
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, w.get("../env"), "WHO=command\n")
	require.Contains(t, w.get("../env"), "CURSOR_API_KEY="+envSecret+"\n")
	require.NotContains(t, string(out), "has not told")

	_, conn := w.spawns(w.program("of-editor", "WHO=editor CURSOR_API_KEY="+envSecret+` exec cursord "$@"`))
	through := w.editorOn(conn)
	through.must("initialize", obj{}, nil)
	through.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	require.Equal(t, sessions.TurnCompleted, through.turn(nil).Status)
	require.Contains(t, w.get("../env"), "WHO=editor\n")

	// Whoever speaks the protocol, here one that has the daemon say what it hears.
	var hello struct{ AgentEnv string }
	other := w.joins()
	other.must("initialize", obj{"trace": "verbose"}, &hello)
	require.Equal(t, "client", hello.AgentEnv)
	other.must("agent/environment", obj{"variables": []string{"WHO=other", "CURSOR_API_KEY=" + envSecret}}, nil)
	other.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	turn = other.turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	require.Contains(t, w.get("../env"), "WHO=other\n")
	require.Contains(t, w.get("../env"), "CURSORD_TURN_ID="+turn.ID+"\n")
	require.NotContains(t, w.get("../env"), "CURSORD_SOCKET=", "nothing of the daemon's own")
	other.until("what the daemon heard", func(n told) bool {
		require.NotContains(t, n.Verbose, envSecret)
		return strings.Contains(n.Verbose, "CURSOR_API_KEY=…")
	})

	for _, wrong := range [][]string{{"no value"}, {"=x"}, {"A=\x00"}, {"A=" + strings.Repeat("x", 200<<10)}, make([]string, 20_000)} {
		require.Equal(t, -32602, other.fails("agent/environment", obj{"variables": wrong}).Code)
	}

	w.stop()
	recorded, err := os.ReadFile(trace)
	require.NoError(t, err)
	require.Contains(t, string(recorded), `"CURSOR_API_KEY=…"`)
	require.NotContains(t, string(recorded), envSecret)
	w.keepsNoSecret()
}

// TestEnvironmentOfTheDaemon is the other way round, which holds unless the configuration says otherwise.
func TestEnvironmentOfTheDaemon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start("CURSORD_AGENT="+w.printsEnv(), "WHO=daemon")
	other := w.joins()
	var hello struct{ AgentEnv string }
	other.must("initialize", obj{}, &hello)
	require.Empty(t, hello.AgentEnv)
	other.must("workspace/trust", obj{"workspace": w.ws, "trusted": true}, nil)
	other.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	other.must("agent/environment", obj{"variables": []string{"WHO=other", "X=" + envSecret}}, nil)
	turn := other.turn(nil)
	require.Empty(t, other.notices(turn.ID))
	require.Contains(t, w.get("../env"), "WHO=daemon\n")
	require.NotContains(t, w.get("../env"), envSecret)
	w.stop()
	w.keepsNoSecret()
}

// TestDoctorKnowsWhoseEnvironmentAgentsGet does not say that it is the daemon's where it is the client's.
func TestDoctorKnowsWhoseEnvironmentAgentsGet(t *testing.T) {
	w := newWorld(t)
	w.put("../config.toml", "agent_env = \"client\"\n")
	w.start("CURSOR_ONE=x")
	out, _, _ := w.cursord("doctor")
	require.Contains(t, out, "only the daemon has: CURSOR_ONE\n")
	require.Contains(t, out, "agents run in that of who starts the turn")
	require.NotContains(t, out, "agents run in the daemon's")
}

// TestDoctorComparesEnvironments names what differs and tells no values.
func TestDoctorComparesEnvironments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start("CURSOR_API_ENDPOINT=https://daemon", "CURSOR_BOTH=same", "CURSOR_ONE="+envSecret)
	doctor := func(env ...string) string {
		c := w.command("doctor")
		c.Env = append(c.Env, env...)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NotContains(t, string(out), envSecret)
		return string(out)
	}
	out := doctor("CURSOR_API_ENDPOINT=https://client", "CURSOR_BOTH=same", "CURSOR_API_KEY="+envSecret, "PATH="+os.Getenv("PATH")+":/else")
	require.Contains(t, out, "the daemon has other values than you: CURSOR_API_ENDPOINT, PATH\n")
	require.Contains(t, out, "only the daemon has: CURSOR_ONE\n")
	require.Contains(t, out, "only you have, not the daemon: CURSOR_API_KEY\n")
	require.NotContains(t, out, "CURSOR_BOTH")
	out = doctor("CURSOR_API_ENDPOINT=https://daemon", "CURSOR_BOTH=same", "CURSOR_ONE="+envSecret)
	require.NotContains(t, out, "environ")

	e := w.joins()
	many := map[string]string{}
	for i := range 2000 {
		many[strings.Repeat("C", i)] = ""
	}
	require.Equal(t, -32602, e.fails("agent/status", obj{"compare": obj{"key": "", "values": many}}).Code)
	var a api.AgentStatus
	e.must("agent/status", obj{"compare": obj{"key": "k", "values": obj{"HOME": "x", "CURSOR_ONE": "not hexadecimal"}}}, &a)
	require.Equal(t, []string{"CURSOR_ONE"}, a.Environment.Differ)
	require.Empty(t, a.Environment.ClientOnly, "HOME is not compared")
}

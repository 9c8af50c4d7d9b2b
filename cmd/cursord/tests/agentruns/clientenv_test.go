//go:build unix

package agentruns

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

const envSecret = "sesame-4711"

// printsEnv is an agent that writes its environment into the workspace when it runs a turn.
func printsEnv(w *world.World) string {
	return w.Program("printing", `test "$1" = -p && env >`+w.Path("../env")+"\n"+w.Fake())
}

// keepsNoSecret requires that no file of the daemon contains the secret.
func keepsNoSecret(w *world.World) {
	w.T.Helper()
	require.NotContains(w.T, w.Log.String(), envSecret)
	require.NoError(w.T, filepath.WalkDir(filepath.Join(w.Dir, "state"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(path)
			require.NotContains(w.T, string(data), envSecret, path)
		}
		if errors.Is(err, fs.ErrNotExist) { // the test of whether overlays work takes its folder away
			return nil
		}
		return err
	}))
}

// TestEnvironmentOfTheClient: an agent gets the environment of the client that starts the turn, and no other client sees it.
func TestEnvironmentOfTheClient(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "agent_env = \"client\"\nlog_level = \"debug\"\n")
	trace := filepath.Join(w.Dir, "trace")
	w.Args = []string{"--trace", trace}
	w.Start("CURSORD_AGENT=" + printsEnv(w))
	e := w.Opens()

	// A client that sends no environment.
	turn := e.Turn(nil)
	require.Contains(t, e.Notices(turn.ID), "gave no environment")
	require.NotContains(t, w.Get("../env"), "WHO=")

	// Commands send theirs, and so do editors through cursord stdio.
	run := w.Command("run", "hello")
	run.Env = append(run.Env, "WHO=command", "CURSOR_API_KEY="+envSecret)
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, w.Get("../env"), "WHO=command\n")
	require.Contains(t, w.Get("../env"), "CURSOR_API_KEY="+envSecret+"\n")
	require.NotContains(t, string(out), "has not told")

	_, conn := w.Spawns(w.Program("of-editor", "WHO=editor CURSOR_API_KEY="+envSecret+` exec cursord "$@"`))
	through := w.EditorOn(conn)
	through.Must("initialize", world.Obj{}, nil)
	through.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, sessions.TurnCompleted, through.Turn(nil).Status)
	require.Contains(t, w.Get("../env"), "WHO=editor\n")

	// A client that speaks the protocol itself; here the daemon logs its messages.
	var hello struct{ AgentEnv string }
	other := w.Joins()
	other.Must("initialize", world.Obj{"trace": "verbose"}, &hello)
	require.Equal(t, "client", hello.AgentEnv)
	other.Must("agent/environment", world.Obj{"variables": []string{"WHO=other", "CURSOR_API_KEY=" + envSecret}}, nil)
	other.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	turn = other.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	require.Contains(t, w.Get("../env"), "WHO=other\n")
	require.Contains(t, w.Get("../env"), "CURSORD_TURN_ID="+turn.ID+"\n")
	require.NotContains(t, w.Get("../env"), "CURSORD_SOCKET=", "nothing of the daemon's own")
	other.Until("what the daemon heard", func(n world.Notification) bool {
		require.NotContains(t, n.Verbose, envSecret)
		return strings.Contains(n.Verbose, "CURSOR_API_KEY=…")
	})

	for _, wrong := range [][]string{{"no value"}, {"=x"}, {"A=\x00"}, {"A=" + strings.Repeat("x", 200<<10)}, make([]string, 20_000)} {
		require.Equal(t, -32602, other.Fails("agent/environment", world.Obj{"variables": wrong}).Code)
	}

	w.Stop()
	recorded, err := os.ReadFile(trace)
	require.NoError(t, err)
	require.Contains(t, string(recorded), `"CURSOR_API_KEY=…"`)
	require.NotContains(t, string(recorded), envSecret)
	keepsNoSecret(w)
}

// TestEnvironmentOfTheDaemon: with the setting for it, an agent gets the daemon's environment.
func TestEnvironmentOfTheDaemon(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start("CURSORD_AGENT="+printsEnv(w), "WHO=daemon")
	other := w.Joins()
	var hello struct{ AgentEnv string }
	other.Must("initialize", world.Obj{}, &hello)
	require.Empty(t, hello.AgentEnv)
	other.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
	other.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	other.Must("agent/environment", world.Obj{"variables": []string{"WHO=other", "X=" + envSecret}}, nil)
	turn := other.Turn(nil)
	require.Empty(t, other.Notices(turn.ID))
	require.Contains(t, w.Get("../env"), "WHO=daemon\n")
	require.NotContains(t, w.Get("../env"), envSecret)
	w.Stop()
	keepsNoSecret(w)
}

// TestDoctorKnowsWhoseEnvironmentAgentsGet: doctor says whether it is the client's or the daemon's.
func TestDoctorKnowsWhoseEnvironmentAgentsGet(t *testing.T) {
	w := world.New(t)
	w.Put("../config.toml", "agent_env = \"client\"\n")
	w.Start("CURSOR_ONE=x")
	out, _, _ := w.Cursord("doctor")
	require.Contains(t, out, "only the daemon has: CURSOR_ONE\n")
	require.Contains(t, out, "agents run in that of who starts the turn")
	require.NotContains(t, out, "agents run in the daemon's")
}

// TestDoctorComparesEnvironments: doctor names the variables that differ, and no values.
func TestDoctorComparesEnvironments(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start("CURSOR_API_ENDPOINT=https://daemon", "CURSOR_BOTH=same", "CURSOR_ONE="+envSecret)
	doctor := func(env ...string) string {
		c := w.Command("doctor")
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

	e := w.Joins()
	many := map[string]string{}
	for i := range 2000 {
		many[strings.Repeat("C", i)] = ""
	}
	require.Equal(t, -32602, e.Fails("agent/status", world.Obj{"compare": world.Obj{"key": "", "values": many}}).Code)
	var a api.AgentStatus
	e.Must("agent/status", world.Obj{"compare": world.Obj{"key": "k", "values": world.Obj{"HOME": "x", "CURSOR_ONE": "not hexadecimal"}}}, &a)
	require.Equal(t, []string{"CURSOR_ONE"}, a.Environment.Differ)
	require.Empty(t, a.Environment.ClientOnly, "HOME is not compared")
}

//go:build unix

package agentruns

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestOptionsThatABuildLacks has an old build that refuses an option. The daemon starts it again without the option, and
// later daemons remember that.
func TestOptionsThatABuildLacks(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	starts := filepath.Join(w.Dir, "starts")
	bin := w.Program("counting", `test "$1" = -p && echo start >>`+starts+"\n"+w.Fake())
	env := []string{"CURSORD_AGENT=" + bin, "CURSORD_FAKE_BUILD=2026.08.25"}
	w.Plays(world.InitLine, world.Succeeds("done"))
	w.Start(env...)
	count := func() int {
		b, err := os.ReadFile(starts)
		require.NoError(t, err)
		return bytes.Count(b, []byte("start"))
	}
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	require.Equal(t, "2026.08.25-3e8eec8", turn.AgentVersion)
	first := count()
	require.Greater(t, first, 1, "it was refused")
	require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	require.Equal(t, first+1, count())

	w.Kill() // the next daemon remembers it
	w.Start(env...)
	require.Equal(t, sessions.TurnCompleted, w.Opens().Turn(nil).Status)
	require.Equal(t, first+2, count())
	for _, run := range w.Runs() {
		require.NotContains(t, run.Args, "--disable-auto-update")
	}

	// One of the first builds lacks more options.
	w.Kill()
	w.Start("CURSORD_AGENT="+bin, "CURSORD_FAKE_BUILD=2025.09")
	turn = w.Opens().Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	require.Equal(t, []string{"-p", "--output-format", "stream-json", "--model", "auto", "--workspace", w.Root}, w.Runs()[3].Args)
	before := count()

	// The file that remembers it may be damaged.
	w.Kill()
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "state", "builds.json"), []byte(`{"lacks": 5`), 0o600))
	w.Start(env...)
	require.Equal(t, sessions.TurnCompleted, w.Opens().Turn(nil).Status)
	require.Equal(t, before+first, count())
}

// TestBuildChanges replaces the agent's build between two turns of a session.
func TestBuildChanges(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	build := filepath.Join(w.Dir, "build")
	say := func(name string) { require.NoError(t, os.WriteFile(build, []byte(name+"\n"), 0o600)) }
	say("2026.09.28")
	w.Plays(world.InitLine, world.Succeeds("done"))
	w.Start("CURSORD_FAKE_BUILD=" + build)
	e := w.Opens()
	first := e.Turn(nil)
	require.Equal(t, "2026.09.28-64d2043", first.AgentVersion)
	in := world.Obj{"sessionId": first.SessionID}
	require.Equal(t, "2026.09.28-64d2043", e.Turn(in).AgentVersion)
	say("2026.10.01")
	second := e.Turn(in)
	require.Equal(t, "2026.10.01-e373342", second.AgentVersion)
	e.Message("debug", "2026.10.01-e373342, before 2026.09.28-64d2043")
	w.Stop()
	w.Start("CURSORD_FAKE_BUILD=" + build)
	out, _, _ := w.Cursord("doctor")
	require.Contains(t, out, "changed from 2026.09.28-64d2043 to 2026.10.01-e373342")
	require.Equal(t, "2026.10.01-e373342", w.Opens().Turn(in).AgentVersion)
	var read struct{ Turns []*sessions.Turn }
	w.Joins().Must("session/read", world.Obj{"sessionId": first.SessionID}, &read)
	require.Equal(t, "2026.09.28-64d2043", read.Turns[0].AgentVersion, "it is stored")
}

// TestAScriptStartsWhileItIsAsked has a script as the agent, which may start another build each time, so it is asked at each turn.
// Its answer comes only when the turn's agent has started.
func TestAScriptStartsWhileItIsAsked(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	slow, started := filepath.Join(w.Dir, "slow"), filepath.Join(w.Dir, "started")
	bin := w.Program("asked", "test \"$1\" != -p || touch "+started+`
while test "$1" = --version -a -e `+slow+" -a ! -e "+started+"; do sleep 0.01; done\n"+w.Fake())
	w.Plays(world.InitLine, world.Succeeds("done"))
	w.Start("CURSORD_AGENT="+bin, "CURSORD_FAKE_BUILD=2026.09.28")
	e := w.Opens()
	require.Equal(t, "2026.09.28-64d2043", e.Turn(nil).AgentVersion)
	require.NoError(t, os.Remove(started))
	require.NoError(t, os.WriteFile(slow, nil, 0o600))
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	require.Equal(t, "2026.09.28-64d2043", turn.AgentVersion)
}

// TestARefusalIsOfTheBuildThatRan has a script that starts an older build than in the turn before. What that one lacks is not taken
// for a lack of the newer one.
func TestARefusalIsOfTheBuildThatRan(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	build := filepath.Join(w.Dir, "build")
	say := func(name string) { require.NoError(t, os.WriteFile(build, []byte(name+"\n"), 0o600)) }
	w.Plays(world.InitLine, world.Succeeds("done"))
	say("2026.09.28")
	w.Start("CURSORD_FAKE_BUILD=" + build)
	e := w.Opens()
	for i, each := range []string{"2026.09.28", "2026.08.25", "2026.09.28", "2026.09.28"} {
		say(each)
		turn := e.Turn(nil)
		require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
		require.Contains(t, turn.AgentVersion, each)
		require.Equal(t, each == "2026.09.28", slices.Contains(w.Runs()[i].Args, "--disable-auto-update"), "turn %d", i)
	}
}

// TestLoginIsWhatTheServerSays has a token that the server refuses.
func TestLoginIsWhatTheServerSays(t *testing.T) {
	t.Parallel()
	status := func(t *testing.T, env ...string) api.AgentStatus {
		w := world.New(t)
		asked := filepath.Join(w.Dir, "asked")
		bin := w.Program("counting", `echo "$1" >>`+asked+"\n"+w.Fake())
		w.Start(append(env, "CURSORD_AGENT="+bin)...)
		e := w.Joins()
		var a api.AgentStatus
		for range 3 {
			e.Must("agent/status", world.Obj{}, &a)
		}
		b, err := os.ReadFile(asked)
		require.NoError(t, err)
		if a.State == "ready" {
			require.Equal(t, 1, bytes.Count(b, []byte("models")), "the answer is good for minutes")
		}
		return a
	}
	a := status(t)
	require.Equal(t, "ready", a.State)
	require.Equal(t, "fake@example.com", a.Account)
	require.Equal(t, []string{"print", "acp"}, a.Drivers)
	require.Equal(t, []string{"sandbox", "autoReview", "addDirs"}, a.Options)

	a = status(t, "CURSORD_FAKE_STATUS=expired")
	require.Equal(t, "notLoggedIn", a.State)
	for _, hint := range []string{"there is a token", "cursor-agent login", "CURSOR_API_KEY"} {
		require.Contains(t, a.Message, hint)
	}
	a = status(t, "CURSORD_FAKE_STATUS=expired", "CURSOR_API_KEY=k")
	require.Equal(t, "unknown", a.State, "turns go by the key")
	a = status(t, "CURSORD_FAKE_STATUS=logged-out", "CURSORD_FAKE_BUILD=2026.10.01", "CURSOR_API_KEY=k")
	require.Equal(t, "unknown", a.State)
	require.Contains(t, a.Message, "CURSOR_API_KEY is set, and no answer of Cursor's server confirms it")
}

// TestOptionsThatDecide: a turn fails if it asks for an option that the build does not know and that decides what the agent
// may do.
func TestOptionsThatDecide(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start("CURSORD_FAKE_BUILD=2026.08.25")
	e := w.Opens()
	var a api.AgentStatus
	e.Must("agent/status", world.Obj{}, &a)
	require.Contains(t, a.Options, "autoReview", "nobody has tried yet")
	turn := e.Turn(world.Obj{"autoReview": true})
	require.Equal(t, sessions.TurnFailed, turn.Status)
	require.Equal(t, "agentFailed", turn.Error.Kind)
	require.Contains(t, turn.Error.Message, "2026.08.25-3e8eec8 does not know the option --auto-review")
	require.Contains(t, turn.Error.Hint, "cursor-agent update")
	require.Empty(t, w.Runs())
	e.Must("agent/status", world.Obj{}, &a)
	require.Equal(t, []string{"sandbox", "addDirs"}, a.Options)
	require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
}

// TestAgentThatDoesNotAnswer has a program called agent that waits for input. It does not delay the daemon's start, and the
// daemon says neither that it is Cursor's agent nor that it is another vendor's.
func TestAgentThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	asks := w.Program("asks/agent", "echo $$ >>"+filepath.Join(w.Dir, "asking")+"; exec sleep 1000")
	w.Start("PATH="+filepath.Dir(asks)+":"+systemPath, "CURSORD_AGENT=")
	e := w.Opens()
	require.Equal(t, "agentHung", turnOrFailure(e))
	var a api.AgentStatus
	e.Must("agent/status", world.Obj{}, &a)
	require.Equal(t, "unknown", a.State)
	require.Contains(t, a.Message, asks+" does not say in time what it is; try again in a moment")
	require.Contains(t, a.NotTaken[0].Reason, "did not answer")
	pids, err := os.ReadFile(filepath.Join(w.Dir, "asking"))
	require.NoError(t, err)
	for pid := range strings.FieldsSeq(string(pids)) {
		require.NoDirExists(t, filepath.Join("/proc", pid), "it was ended")
	}
}

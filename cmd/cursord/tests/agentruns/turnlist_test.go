//go:build unix

package agentruns

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// idsOf returns the ids of turns, in order.
func idsOf(turns []*sessions.Turn) (ids []string) {
	for _, t := range turns {
		ids = append(ids, t.ID)
	}
	return ids
}

// TestTurnList lists the turns of a session, and the state of sessions.
func TestTurnList(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	list := func(params world.Obj) rpc.TurnList {
		t.Helper()
		var l rpc.TurnList
		e.Must("turn/list", params, &l)
		return l
	}
	require.Empty(t, list(world.Obj{}).Turns)
	one := e.Turn(world.Obj{"turnId": "a1"})
	e.Turn(world.Obj{"turnId": "a2", "sessionId": one.SessionID})
	e.Turn(world.Obj{"turnId": "a3", "sessionId": one.SessionID})
	w.Plays(world.InitLine, `{"fake":"hang"}`)
	two := e.Asks(world.Obj{"turnId": "b1"})
	e.Must("turn/start", world.Obj{"workspace": w.Root, "prompt": "x", "turnId": "b2", "sessionId": two.SessionID}, nil)
	e.Must("turn/start", world.Obj{"workspace": w.Root, "prompt": "x", "turnId": "b3", "sessionId": two.SessionID}, nil)
	e.Must("turn/cancel", world.Obj{"turnId": "b2"}, nil)
	e.Ends("b2")

	require.Equal(t, []string{"a3", "a2", "a1"}, idsOf(list(world.Obj{"sessionId": one.SessionID}).Turns))
	require.Equal(t, []string{"b3", "b2", "b1"}, idsOf(list(world.Obj{"sessionId": two.SessionID}).Turns))
	require.Equal(t, []string{"b3", "b1"}, idsOf(list(world.Obj{"sessionId": two.SessionID, "active": true}).Turns))
	require.Empty(t, list(world.Obj{"sessionId": one.SessionID, "active": true}).Turns)
	for _, params := range []world.Obj{{}, {"workspace": w.Root}} {
		require.ElementsMatch(t, []string{"b3", "b1", "a3"}, idsOf(list(params).Turns))
	}
	require.Equal(t, []string{"b3", "b1"}, idsOf(list(world.Obj{"workspace": w.Root, "active": true}).Turns))
	require.Empty(t, list(world.Obj{"workspace": w.Dir}).Turns)

	page := list(world.Obj{"sessionId": one.SessionID, "limit": 2})
	require.Equal(t, []string{"a3", "a2"}, idsOf(page.Turns))
	page = list(world.Obj{"sessionId": one.SessionID, "limit": 2, "cursor": page.NextCursor})
	require.Equal(t, []string{"a1"}, idsOf(page.Turns))
	require.Empty(t, page.NextCursor)
	page = list(world.Obj{"limit": 1})
	rest := list(world.Obj{"limit": 1, "cursor": page.NextCursor})
	require.ElementsMatch(t, []string{"b3", "b1", "a3"}, append(idsOf(page.Turns), idsOf(rest.Turns)...))
	for field, params := range map[string]world.Obj{
		"cursor": {"sessionId": one.SessionID, "cursor": "b1"}, "limit": {"limit": -1},
	} {
		require.Equal(t, field, e.Fails("turn/list", params).Data.Field)
	}
	require.Equal(t, api.KindNotFound, e.Fails("turn/list", world.Obj{"sessionId": "none"}).Data.Kind)
	require.Equal(t, api.KindNotFound, e.Fails("turn/list", world.Obj{"sessionId": one.SessionID, "workspace": w.Dir}).Data.Kind)

	// The status shows the ids of running turns, and how others ended.
	status, _, code := w.Cursord("status")
	require.Zero(t, code)
	require.Regexp(t, `(?m) queued .* `+two.SessionID+` +b3$`, status)
	require.Regexp(t, `(?m) running .* `+two.SessionID+` +b1$`, status)
	shown, _, _ := w.Cursord("sessions")
	require.Regexp(t, `(?m) completed +3 .* `+one.SessionID+`$`, shown)
	require.Regexp(t, `(?m) running +3 .* `+two.SessionID+`$`, shown)
	for _, id := range []string{"b3", "b1"} {
		e.Must("turn/cancel", world.Obj{"turnId": id}, nil)
		e.Ends(id)
	}
}

// TestWhatBecameOfATurn shows a failure of an unknown kind with its own message.
func TestWhatBecameOfATurn(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Plays(world.InitLine, `{"fake":"stderr","text":"first\nError: the flux has no capacitor\n"}`, `{"fake":"exit","code":1}`)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnFailed, turn.Status)
	require.Equal(t, "the flux has no capacitor", turn.Error.Message)
	require.Contains(t, turn.Error.Hint, `"cursord show `+turn.SessionID+`" has all that the agent said`)
	require.Contains(t, turn.Error.Hint, `"cursord logs"`)
	shown, _, status := w.Cursord("show", turn.SessionID)
	require.Zero(t, status)
	require.Contains(t, shown, "\nturn "+turn.ID+"\n> ")
	require.Contains(t, shown, "  | first\n  | Error: the flux has no capacitor\n")
	shown, _, _ = w.Cursord("sessions")
	require.Regexp(t, "failed +1 .* "+turn.SessionID, shown)
}

// TestStatusTellsTroubles: the status names unknown keys of the configuration, and the agent.
func TestStatusTellsTroubles(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "sandboks = \"enabled\"\n")
	w.Start()
	e := w.Opens()
	status := func() string {
		text, _, code := w.Cursord("status")
		require.Zero(t, code)
		return text
	}
	text := status()
	require.Contains(t, text, `config.toml:1: unknown key "sandboks"`)
	require.Contains(t, text, "warning ")
	e.Must("agent/status", world.Obj{}, nil)
	require.Contains(t, status(), "agent       ready, 2026.10.01-fa4e000, fake@example.com, "+filepath.Join(w.Dir, "agent"))
	for _, n := range e.All() {
		require.NotContains(t, n.Message, "sandboks", "clients are not told each time that they come")
	}

	w.Put("../config.toml", "")
	require.NoError(t, syscall.Kill(w.Cmd.Process.Pid, syscall.SIGHUP))
	require.Eventually(t, func() bool { return !strings.Contains(status(), "sandboks") }, world.Patience, 50*time.Millisecond)
}

// TestDoctorKnowsWhatABuildLacks: doctor names options that the configuration sets for all turns and that the agent does not
// know.
func TestDoctorKnowsWhatABuildLacks(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "sandbox = \"enabled\"\nauto_review = true\n")
	w.Start("CURSORD_FAKE_BUILD=2025.10")
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnFailed, turn.Status)
	require.Contains(t, turn.Error.Message, "does not know the option --sandbox")
	out, _, status := w.Cursord("doctor")
	require.Equal(t, 1, status)
	require.Contains(t, out, "problem: the configuration has sandbox, and cursor-agent 2025.10.01-fa4e000 does not know the option --sandbox")
	require.NotContains(t, out, "all is well")
}

// TestLoginOfAnotherProgram: what another program than cursor-agent says of a login is ignored.
func TestLoginOfAnotherProgram(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	grok := w.Program("grok", `case "$1" in --version) echo "grok 1.2.3";; status) echo "Not logged in";; *) exit 1;; esac`)
	w.Start("CURSORD_AGENT=" + grok)
	c := w.Command("doctor")
	c.Env = append(c.Env, "CURSORD_AGENT="+grok)
	out, err := c.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "CURSORD_AGENT in the daemon's environment names "+grok+", which may not be cursor-agent")
	require.Contains(t, string(out), "make it name cursor-agent")
	require.NotContains(t, string(out), "logged in")
	var a api.AgentStatus
	w.Opens().Must("agent/status", world.Obj{}, &a)
	require.Equal(t, "unknown", a.State)
}

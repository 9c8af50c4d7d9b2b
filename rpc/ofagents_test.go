package rpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// ofAnybody are the methods that an agent's process may call; turn/start without wider permissions.
var ofAnybody = []string{
	"agent/chats", "agent/models", "agent/status", "approval/list", "approval/rules", "attempt/list",
	"daemon/join", "daemon/status",
	"commit/why", "diff/list", "diff/merge", "diff/place", "diff/unified", "file/why", "initialize", "item/read", "search", "session/commits", "session/create",
	"session/export", "session/fork", "session/list", "session/read", "shutdown", "turn/cancel", "turn/list", "turn/start",
	"turn/wait", "workspace/list", "workspace/subscribe", "workspace/unsubscribe",
}

// TestEachMethodIsForAgentsOrNot: whoever adds a method decides whether an agent's process may call it.
func TestEachMethodIsForAgentsOrNot(t *testing.T) {
	for _, name := range methodNames() {
		if slices.Contains(personal, name) == slices.Contains(ofAnybody, name) {
			t.Errorf("%s: put it either into personal (ofagents.go), if agents must not call it, or into ofAnybody (ofagents_test.go)", name)
		}
	}
}

// TestForAgent: agents' processes are refused every personal method and every wider permission of a turn, and nothing else.
func TestForAgent(t *testing.T) {
	served := ""
	tb := table{methods: map[string]method{}}
	for _, name := range methodNames() {
		tb.methods[name] = method{serve: func(_ context.Context, _ json.RawMessage, reply func(any, error)) {
			served = name
			reply(nil, nil)
		}}
	}
	tb.notified = func(name string, _ json.RawMessage) { served = name }
	n := len(tb.methods)
	tb = tb.forAgent(api.Caller{PID: 7}, func() bool { return true }, slog.New(slog.DiscardHandler))
	require.Len(t, tb.methods, n, "each of them is a method")
	ask := func(name, params string) (err error) {
		served = ""
		tb.methods[name].serve(t.Context(), json.RawMessage(params), func(_ any, e error) { err = e })
		return err
	}
	for _, name := range personal {
		var e *api.Error
		require.ErrorAs(t, ask(name, "{}"), &e, name)
		require.Equal(t, api.KindInvalid, e.Kind)
		require.Empty(t, served, name)
	}
	for _, params := range []string{`{"prompt": "p", "force": true}`, `{"sandbox": "disabled"}`, `{"autoReview": true}`, `{"addDirs": ["/"]}`} {
		require.ErrorContains(t, ask("turn/start", params), personalMessage)
		require.Empty(t, served)
	}
	tb.notified("document/didChange", nil)
	require.Empty(t, served)
	tb.notified("$/cancelRequest", nil)
	require.Equal(t, "$/cancelRequest", served)
	for name, params := range map[string]string{"daemon/join": "{}", "initialize": "{}", "turn/start": `{"prompt": "p", "force": false}`, "diff/list": "{}", "session/read": "{}"} {
		require.NoError(t, ask(name, params))
		require.Equal(t, name, served)
	}
}

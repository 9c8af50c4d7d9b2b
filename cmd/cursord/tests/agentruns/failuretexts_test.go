//go:build unix

package agentruns

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestFailuresOfBuilds has builds of the agent fail in ways whose exit status or stream would mislead. No turn leaves a
// process behind.
func TestFailuresOfBuilds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		build string
		env   string // of the agent
		lines []string
		kind  string
		says  string
		hint  string
	}{
		{name: "no models, with success and on stdout", build: "2026.09.28", env: "CURSORD_FAKE_MODELS=none", kind: "modelUnavailable", says: "No models available", hint: "plan"},
		{name: "a login that has run out", build: "2026.09.28", env: "CURSORD_FAKE_STATUS=expired", kind: "agentNotLoggedIn", says: "not logged in", hint: "CURSOR_API_KEY"},
		{name: "terminated by somebody", build: "2026.09.28", lines: []string{`{"fake":"begin"}`, `{"fake":"exec","argv":["sh","-c","kill -TERM $PPID"]}`, `{"fake":"hang"}`},
			kind: "agentCrashed", says: "exit code 143, SIGTERM", hint: "other than cursord"},
		{name: "interrupted by somebody", build: "2026.09.28", lines: []string{`{"fake":"begin"}`, `{"fake":"exec","argv":["sh","-c","kill -INT $PPID"]}`, `{"fake":"hang"}`},
			kind: "agentCrashed", says: "exit code 130, SIGINT", hint: "other than cursord"},
		{name: "killed with a command in the background", build: "2026.09.28", lines: []string{`{"fake":"begin"}`, `{"fake":"background","command":"exec sleep 60"}`,
			`{"fake":"exec","argv":["sh","-c","kill -KILL $PPID"]}`, `{"fake":"hang"}`}, kind: "agentCrashed", says: "SIGKILL", hint: "memory"},
		{name: "an administrator's switch", build: "2026.09.28", lines: dies(`"Error: Your team administrator has disabled headless Cursor CLI usage"`, "1"),
			kind: "agentFailed", says: "disabled headless", hint: "administrator"},
		{name: "a limit as a code, in the stream", build: "2026.09.28", lines: []string{`{"fake":"begin"}`, `{"type":"error","error":{"code":"resource_exhausted","message":"PRO_USER_USAGE_LIMIT"}}`, `{"fake":"exit","code":1}`},
			kind: "usageLimit", says: "PRO_USER_USAGE_LIMIT", hint: "resets"},
		{name: "a limit as a code, with success", build: "2026.09.28", lines: []string{`{"fake":"begin"}`, `{"fake":"raw","text":"ConnectError: [resource_exhausted] FREE_USER_RATE_LIMIT_EXCEEDED\n"}`},
			kind: "usageLimit", says: "FREE_USER_RATE_LIMIT_EXCEEDED", hint: "wait"},
		{name: "too old, in the midst of other words", build: "2026.09.28", lines: append([]string{`{"fake":"begin"}`, `{"fake":"stderr","text":"[mcp] error: unknown option '--stdio'"}`},
			dies(`"\u001b[31mConnectError: [failed_precondition] \u001b[1mERROR_OUTDATED_CLIENT\u001b[0m\n    at Object.run (index.js:1)"`, "1")...),
			kind: "agentFailed", says: "too old", hint: "cursor-agent update"},
		{name: "the end of a loop of reconnects", build: "2026.09.28", lines: append([]string{`{"fake":"begin"}`, `{"fake":"say","text":"Half "}`, `{"type":"connection","subtype":"reconnecting","attempt":1}`},
			dies(`"Failed to run step, exceeded max retries"`, "1")...), kind: "agentFailed", says: "max retries", hint: "network"},
		{name: "such words in a run that succeeds", build: "2026.09.28", lines: []string{`{"fake":"begin"}`, `{"fake":"stderr","text":"FREE_USER_USAGE_LIMIT soon"}`, `{"fake":"say","text":"Done."}`, `{"fake":"finish"}`}},
	}
	w := world.New(t)
	w.Start()
	e := w.Opens()
	fake := w.Get("../agent")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer w.In(t, e)()
			w.Plays(tt.lines...)
			if tt.lines == nil {
				w.Plays(`{"fake":"begin"}`, `{"fake":"finish"}`)
			}
			w.Put("../agent", "#!/bin/sh\nexport CURSORD_FAKE_BUILD="+tt.build+" "+tt.env+"\n"+fake[len("#!/bin/sh\n"):])
			turn := e.Turn(nil)
			require.Empty(t, world.Processes(t, "CURSORD_TURN_ID="+turn.ID))
			if tt.kind == "" {
				require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
				require.Nil(t, turn.Error)
				return
			}
			require.Equal(t, sessions.TurnFailed, turn.Status)
			require.Equal(t, tt.kind, turn.Error.Kind, "%+v", turn.Error)
			require.Contains(t, turn.Error.Message, tt.says)
			require.Contains(t, turn.Error.Hint, tt.hint)
			require.NotContains(t, e.Notices(turn.ID), turn.Error.Message, "it is said once")
		})
	}
	world.Audit(t, e.All())
}

// TestModelsThatCannotBeListed has an agent that lists no models and reports success, and one whose login has expired.
func TestModelsThatCannotBeListed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env, kind, says, hint string
		state                 string
	}{
		{"CURSORD_FAKE_MODELS=none", "agentFailed", "No models available", "plan", "unknown"},
		{"CURSORD_FAKE_STATUS=expired", "agentNotLoggedIn", "not logged in", "cursor-agent login", "notLoggedIn"},
	} {
		t.Run(tt.env, func(t *testing.T) {
			w := world.New(t)
			w.Start(tt.env, "CURSORD_FAKE_BUILD=2026.09.28")
			e := w.Opens()
			failed := e.Fails("agent/models", nil)
			require.Equal(t, tt.kind, string(failed.Data.Kind))
			require.Contains(t, failed.Message, tt.says)
			require.Contains(t, failed.Data.Hint, tt.hint)
			var status struct{ State, Message string }
			e.Must("agent/status", nil, &status)
			require.Equal(t, tt.state, status.State)
			require.Contains(t, status.Message, tt.hint)
		})
	}
}

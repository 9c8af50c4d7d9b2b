//go:build unix

package agentruns

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// dies is the script of an agent that says something on stderr and exits.
func dies(text string, code string) []string {
	return []string{`{"fake":"stderr","text":` + text + `}`, `{"fake":"exit","code":` + code + `}`}
}

// TestFailures plays one way to fail a row. Each must end in bounded time with an error that helps, and leave no
// process behind.
func TestFailures(t *testing.T) {
	t.Parallel()
	const shellLine = `{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"x"}}}}`
	tests := []struct {
		name   string
		lines  []string
		agent  string // the agent as a shell script
		status sessions.TurnStatus
		kind   string
		says   string // in the error's message
		hint   string // in the error's hint
	}{
		{name: "not logged in", lines: dies(`"Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable."`, "1"),
			kind: "agentNotLoggedIn", says: "not logged in", hint: "login"},
		{name: "bad key", lines: dies(`"\u26a0 Warning: The provided API key is invalid."`, "1"), kind: "agentNotLoggedIn", says: "key", hint: "CURSOR_API_KEY"},
		{name: "unknown model", lines: dies(`"Cannot use this model: gpt-0. Available models: auto, sonnet-9"`, "1"), kind: "modelUnavailable", says: "gpt-0", hint: "model"},
		{name: "named models", lines: append([]string{world.InitLine, world.UserLine}, dies(`"ActionRequiredError: Named models unavailable Free plans can only use Auto. Switch to Auto or upgrade plans to continue."`, "1")...),
			kind: "modelUnavailable", says: "Free plans can only use Auto", hint: "auto"},
		{name: "usage limit", lines: append([]string{world.InitLine, world.UserLine}, dies(`"ActionRequiredError: You've hit your usage limit. Set a spend limit; usage will reset on 1 May."`, "1")...),
			kind: "usageLimit", says: "1 May", hint: "limit"},
		{name: "untrusted, on stdout", lines: []string{`{"fake":"raw","text":"\u26a0 Workspace Trust Required\n\n  {{cwd}}\n\nPass --trust, --yolo, or -f\n"}`, `{"fake":"exit","code":1}`},
			kind: "workspaceUntrusted", says: "trust", hint: "trust"},
		{name: "untrusted, on stderr", lines: dies(`"\u26a0 Workspace Trust Required\n\n  {{cwd}}\n\nPass --trust, --yolo, or -f"`, "1"), kind: "workspaceUntrusted", says: "trust", hint: "trust"},
		{name: "stderr only", lines: dies(`"node:internal/loader:1\nError: Cannot find module 'x'\n    at main (index.js:1)"`, "1"), kind: "agentFailed", says: "Cannot find module 'x'"},
		{name: "no word", lines: []string{world.InitLine, `{"fake":"exit","code":7}`}, kind: "agentCrashed", says: "7"},
		{name: "killed", lines: []string{world.InitLine, world.Piece("Half"), `{"fake":"exec","argv":["sh","-c","kill -9 $PPID"]}`}, kind: "agentCrashed", says: "SIGKILL"},
		{name: "terminated, as the shell says it", lines: []string{world.InitLine, `{"fake":"exit","code":143}`}, kind: "agentCrashed", says: "143"},
		{name: "not JSON", agent: "cat >/dev/null; echo 'usage: agent [--help]'", kind: "protocol", says: "without a result"},
		{name: "not JSON, exit 2", agent: "cat >/dev/null; echo 'usage: agent [--help]'; exit 2", kind: "protocol", says: "usage: agent", hint: "CURSORD_AGENT"},
		{name: "nothing, exit 0", lines: []string{`{"fake":"exit","code":0}`}, kind: "protocol", says: "without a result"},
		{name: "no result, exit 0", lines: []string{world.InitLine, world.Piece("Half"), shellLine}, kind: "protocol", says: "without a result"},
		{name: "is_error", lines: []string{world.InitLine, `{"type":"result","subtype":"success","is_error":true,"result":"The server is on fire","session_id":"{{session}}"}`},
			kind: "agentFailed", says: "The server is on fire"},
		{name: "subtype error", lines: []string{world.InitLine, `{"type":"result","subtype":"error","is_error":false,"error":{"message":"Deadline passed"},"session_id":"{{session}}"}`},
			kind: "agentFailed", says: "Deadline passed"},
		{name: "unknown subtype", lines: []string{world.InitLine, `{"type":"result","subtype":"error_max_turns","session_id":"{{session}}"}`}, kind: "agentFailed", says: "max"},
		{name: "is_error with a cause on stderr", lines: []string{world.InitLine, `{"fake":"stderr","text":"Cannot use this model: z. Available models: auto"}`, `{"fake":"sleep","ms":20}`,
			`{"type":"result","subtype":"error","is_error":true,"session_id":"{{session}}"}`}, kind: "modelUnavailable", says: "model: z"},
		{name: "model loop", lines: append([]string{world.InitLine, world.Piece("again "), world.Piece("again ")}, dies(`"NonRetriableError: Agent Looping Detected"`, "1")...), kind: "agentFailed", says: "circles", hint: "differently"},
		{name: "server error after retries", lines: append([]string{world.InitLine, `{"type":"connection","subtype":"reconnecting","attempt":1}`, `{"type":"retry","subtype":"starting","attempt":1,"is_resume":false}`,
			`{"type":"connection","subtype":"reconnecting","attempt":3}`}, dies(`"RetriableError: [invalid_argument] Error"`, "1")...), kind: "agentFailed", says: "[invalid_argument]", hint: "again"},
		{name: "an error in the stream", lines: []string{world.InitLine, `{"type":"error","message":"backend gone"}`, `{"fake":"exit","code":1}`}, kind: "agentFailed", says: "backend gone"},
		{name: "workspace refused", lines: dies(`"Error: Workspace directory does not exist: /x"`, "1"), kind: "agentFailed", says: "/x"},

		{name: "hang after the result", lines: []string{world.InitLine, world.Succeeds("Done."), `{"fake":"ignore-signals"}`, `{"fake":"hang"}`}, status: sessions.TurnCompleted},
		{name: "exit 1 after the result", lines: []string{world.InitLine, world.Succeeds("Done."), `{"fake":"exit","code":1}`}, status: sessions.TurnCompleted},
		{name: "noise after the result", lines: []string{world.InitLine, world.Succeeds("Done."), world.Piece("too late"), world.Succeeds("Again.")}, status: sessions.TurnCompleted},
		{name: "background process with stdout", lines: []string{world.InitLine, `{"fake":"exec","stdout":true,"argv":["sh","-c","sleep 50 & sleep 50 & exit 0"]}`, world.Succeeds("Done.")},
			status: sessions.TurnCompleted},
		{name: "background process and no result", lines: []string{world.InitLine, `{"fake":"exec","stdout":true,"argv":["sh","-c","sleep 50 &"]}`, `{"fake":"exit","code":1}`},
			kind: "agentCrashed"},
		{name: "stdout closed, then a hang", agent: "cat >/dev/null; exec 1>&-; sleep 50; :", kind: "protocol"},
		{name: "stdin never read", agent: `echo '{"type":"result","subtype":"success","result":"Done."}'`, status: sessions.TurnCompleted},
		{name: "a last line without its end", agent: `cat >/dev/null; printf '{"type":"result","subtype":"success","result":"Done."}'`, status: sessions.TurnCompleted},
		{name: "the race for the configuration", agent: `test "$1" != -p || test -e ../raced || { touch ../raced; echo "ENOENT: no such file or directory, rename 'cli-config.json.tmp' -> 'cli-config.json'" >&2; exit 1; }
cat >/dev/null; echo '{"type":"result","subtype":"success","result":"Done."}'`, status: sessions.TurnCompleted},
		{name: "a flood on stderr", agent: `cat >/dev/null; i=0; while [ $i -lt 3000 ]; do echo "line $i ....................................................................." >&2; i=$((i+1)); done
echo "Error: the last words" >&2; exit 1`, kind: "agentFailed", says: "the last words"},
	}
	w := world.New(t)
	w.Start()
	e := w.Opens()
	fake := w.Get("../agent")
	prompt := strings.Repeat("a long prompt ", 1<<14) // far more than a pipe holds
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer w.In(t, e)()
			w.Plays(tt.lines...)
			w.Put("../agent", fake)
			if tt.agent != "" {
				w.Put("../agent", "#!/bin/sh\n"+tt.agent+"\n")
			}
			if tt.status == "" {
				tt.status = sessions.TurnFailed
			}
			turn := e.Turn(world.Obj{"prompt": prompt}) // processes that the agent left behind live longer than Patience
			require.Empty(t, world.Processes(t, "CURSORD_TURN_ID="+turn.ID))
			require.Equal(t, tt.status, turn.Status, "%+v", turn.Error)
			if tt.kind == "" {
				require.Nil(t, turn.Error)
				require.Equal(t, "Done.", *turn.Result)
				return
			}
			require.Equal(t, tt.kind, turn.Error.Kind, "%+v", turn.Error)
			require.Contains(t, turn.Error.Message, tt.says)
			require.Contains(t, turn.Error.Hint, tt.hint)
		})
	}
	world.Audit(t, e.All())
}

// TestHungAgents is about agents that say nothing, and about agents that do not end.
func TestHungAgents(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "agent_idle_timeout = \"1s\"\nagent_tool_timeout = \"3s\"\n")
	w.Start()
	e := w.Opens()
	const open = `{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"x"}}}}`
	tests := []struct {
		name  string
		lines []string
		least time.Duration
		items []string
	}{
		{"at once", []string{`{"fake":"ignore-signals"}`, `{"fake":"hang"}`}, time.Second, nil},
		{"after some text", []string{world.InitLine, world.Piece("Hm"), `{"fake":"hang"}`}, time.Second, []string{`assistant cancelled "Hm"`}},
		{"in a tool", []string{world.InitLine, open, `{"fake":"hang"}`}, 3 * time.Second, []string{`tool cancelled shell/shell "c"`}},
		{"with a child that holds stdout", []string{world.InitLine, `{"fake":"exec","stdout":true,"argv":["sleep","50"]}`}, time.Second, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer w.In(t, e)()
			w.Plays(tt.lines...)
			begin := time.Now()
			turn := e.Turn(nil)
			require.Empty(t, world.Processes(t, "CURSORD_TURN_ID="+turn.ID))
			require.Greater(t, time.Since(begin), tt.least)
			require.Equal(t, sessions.TurnFailed, turn.Status)
			require.Equal(t, "agentHung", turn.Error.Kind)
			require.NotEmpty(t, turn.Error.Hint)
			require.Equal(t, tt.items, e.Describe(turn.ID))
		})
	}
	t.Run("slow but alive", func(t *testing.T) {
		defer w.In(t, e)()
		lines := []string{world.InitLine}
		for range 5 {
			lines = append(lines, world.Piece("."), `{"fake":"sleep","ms":150}`)
		}
		w.Plays(append(lines, world.Succeeds("....."))...)
		require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	})
	world.Audit(t, e.All())
}

// TestEscapedGrandchild has a process that leaves the agent's group and keeps its pipes open: it may live, but the turn does
// not wait for it.
func TestEscapedGrandchild(t *testing.T) {
	t.Parallel()
	world.Program(t, "setsid")
	w := world.New(t)
	w.Start()
	e := w.Opens()
	for _, last := range []string{world.Succeeds("Done."), `{"fake":"exit","code":1}`} {
		w.Plays(world.InitLine, `{"fake":"exec","stdout":true,"argv":["sh","-c","setsid sleep 50 & exit 0"]}`, last)
		turn := e.Turn(nil)
		require.True(t, turn.Status.Final())
		for _, pid := range world.Processes(t, "CURSORD_TURN_ID="+turn.ID) {
			p, err := os.FindProcess(pid)
			require.NoError(t, err)
			require.NoError(t, p.Kill())
		}
	}
}

// TestAgentThatIsNotThere asks for turns where there is no agent to run.
func TestAgentThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	ask := world.Obj{"workspace": w.Root, "prompt": "x"}
	require.NoError(t, os.Remove(w.Path("../agent")))
	failed := e.Fails("turn/start", ask)
	require.Equal(t, -32010, failed.Code)
	require.Equal(t, "agentNotInstalled", string(failed.Data.Kind))
	require.Contains(t, failed.Data.Hint, "install")
	require.NoError(t, os.Mkdir(w.Path("../agent"), 0o755))
	require.Equal(t, -32010, e.Fails("turn/start", ask).Code)
	require.NoError(t, os.Remove(w.Path("../agent")))
	w.Put("../agent", "#!/bin/sh\n")
	require.Equal(t, -32010, e.Fails("turn/start", ask).Code, "not executable")
	require.NoError(t, os.Chmod(w.Path("../agent"), 0o755))
	w.Put("../agent", "#!/no/such/interpreter\n")
	if turn := e.Turn(nil); turn.Status != sessions.TurnFailed || turn.Error.Kind != "agentNotInstalled" {
		t.Errorf("%s %+v", turn.Status, turn.Error)
	}
	var status struct{ State string }
	e.Must("agent/status", nil, &status)

	e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": false}, nil)
	failed = e.Fails("turn/start", ask)
	require.Equal(t, -32005, failed.Code)
	require.Contains(t, failed.Data.Hint, "workspace/trust")
}

// TestLoggedOut is an agent without an account.
func TestLoggedOut(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start("CURSORD_FAKE_STATUS=logged-out")
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, "agentNotLoggedIn", turn.Error.Kind)
	var status struct{ State, Version, Path, Message string }
	e.Must("agent/status", world.Obj{}, &status)
	require.Equal(t, "notLoggedIn", status.State)
	require.NotEmpty(t, status.Version)
	require.Contains(t, status.Message, "login")
	var hello struct{ Agent struct{ State string } }
	w.Joins().Must("initialize", world.Obj{}, &hello)
	require.Equal(t, "notLoggedIn", hello.Agent.State)
}

// TestTurnsTellOfTheLogin: a turn's end updates what the daemon reports of the login, without asking the agent.
func TestTurnsTellOfTheLogin(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	state := func() string {
		var status struct{ Agent struct{ State string } }
		e.Must("daemon/status", world.Obj{}, &status)
		return status.Agent.State
	}
	require.Equal(t, "unknown", state())
	require.Contains(t, w.CursordOK("status"), "not asked yet")
	require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	require.Equal(t, "ready", state())
	w.Plays(dies(`"Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable."`, "1")...)
	require.Equal(t, "agentNotLoggedIn", e.Turn(nil).Error.Kind)
	require.Equal(t, "notLoggedIn", state())
	w.Plays(world.InitLine, world.Piece("Half "), world.Waits("go"), world.Succeeds("Half done."))
	turn := e.Asks(nil)
	e.Until("a word", func(n world.Notification) bool {
		return n.Item != nil && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemAssistant
	})
	require.Equal(t, "ready", state(), "while the turn runs")
	w.Put("../go", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
}

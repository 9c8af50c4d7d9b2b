//go:build unix

package agentruns

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// server leaves a server behind that has a session of its own, and a process that has a session but no mark, and what is said
// of them.
func server() []string {
	const command = "setsid sleep 1000 >/dev/null 2>&1 & env -i setsid /bin/sh -c 'echo $$ >../stray; /bin/sleep 1000; :' >/dev/null 2>&1 & " +
		"while [ ! -s ../stray ]; do sleep 0.01; done; exec sleep 1000"
	return []string{
		`{"type":"tool_call","subtype":"started","call_id":"s","timestamp_ms":{{now_ms}},"tool_call":{"shellToolCall":{"args":{"command":"npm run dev"}}}}`,
		`{"fake":"exec","argv":["sh","-c",` + fmt.Sprintf("%q", `sh -c "$0" >/dev/null 2>&1 & while [ ! -s ../stray ]; do sleep 0.01; done`) + "," + fmt.Sprintf("%q", command) + `]}`,
		`{"type":"tool_call","subtype":"completed","call_id":"s","timestamp_ms":{{now_ms}},"tool_call":{"shellToolCall":{"args":{"command":"npm run dev"},"result":{"isBackground":true,"success":{"command":"npm run dev","pid":1}}}}}`,
	}
}

// requireNothingRuns sees that nothing of a turn runs any more, with its mark or without.
func requireNothingRuns(w *world.World, turn string) {
	w.T.Helper()
	require.Empty(w.T, world.Processes(w.T, "CURSORD_TURN_ID="+turn))
	if pid := strings.TrimSpace(w.Get("../stray")); pid != "(absent)" {
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		require.True(w.T, stat == nil || strings.Contains(string(stat), ") Z "), "%s", stat)
	}
}

// wakes is a notification, and what the agent says to it.
func wakes(text string) []string {
	return []string{`{"type":"system","subtype":"task_notification","session_id":"{{session}}","message":"ready"}`, world.Piece(text), world.Says(text, "")}
}

func pidIn(t *testing.T, text string) int {
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	require.NoError(t, err)
	return pid
}

// backgroundWorld is a world with a short grace.
func backgroundWorld(t *testing.T, config string, env ...string) (*world.World, *world.Editor) {
	world.Program(t, "setsid")
	w := world.New(t)
	t.Cleanup(func() { // if the test has failed, or the daemon was killed
		if text := w.Get("../stray"); text != "(absent)" {
			_ = syscall.Kill(-pidIn(t, text), syscall.SIGKILL)
		}
	})
	w.Put("../config.toml", config)
	w.Start(env...)
	return w, w.Opens()
}

// backgrounds lists the commands for which a turn said that it waits; "" for none. Repetitions are left out.
func backgrounds(e *world.Editor, turn string) (all []string) {
	for _, n := range e.All() {
		if n.Method != "turn/changed" || n.Turn.ID != turn {
			continue
		}
		if now := strings.Join(n.Turn.Background, "; "); len(all) == 0 || all[len(all)-1] != now {
			all = append(all, now)
		}
	}
	return all
}

// TestTurnsThatLeaveCommands has agents of all kinds finish their answer while a server runs in the background. The turn is
// completed, a notice names the command, and nothing runs any more.
func TestTurnsThatLeaveCommands(t *testing.T) {
	t.Parallel()
	const kept = `The setting background = "wait" has turns wait for such commands.`
	hang := []string{`{"fake":"hang"}`}
	fake := []string{`{"fake":"begin"}`, `{"fake":"background","command":"sleep 1000","group":true}`, `{"fake":"say","text":"Up."}`, `{"fake":"finish"}`}
	for _, tt := range []struct {
		name, build string
		lines       []string
		notice      string
	}{
		{"partial output", "", world.Playing(server(), []string{world.Piece("Up."), world.Says("Up.", "")}, hang), "Its background commands were ended: npm run dev."},
		{"no partial output", "", world.Playing(server(), []string{world.Says("Up.", "")}, hang), "Its background commands were ended: npm run dev."},
		{"that ignores signals", "", world.Playing([]string{`{"fake":"ignore-signals"}`}, server(), []string{world.Says("Up.", "")}, hang), "were ended: npm run dev."},
		{"a build that does not end them", "2026.08.25", fake, "Its background commands were ended: sleep 1000."},
		{"a build that ends them", "2026.09.28", fake, "The agent has ended 1 background command that still ran 1s after it had finished: sleep 1000."},
		{"that says so in a line of its own", "", world.Playing(server(), []string{world.Waits("seen"), world.Says("Up.", ""),
			`{"type":"system","subtype":"background_shell_timeout","timeout_ms":1000,"aborted_count":1}`, world.Succeeds("Up.")}), "The agent has ended 1 background command"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, e := backgroundWorld(t, "background_grace = \"400ms\"\n", "CURSORD_FAKE_BUILD="+tt.build)
			w.Plays(tt.lines...)
			turn := e.Asks(nil)
			e.Until("the call's end", func(n world.Notification) bool {
				return n.Item != nil && n.Item.Tool != nil && n.Item.Status == sessions.ItemCompleted
			})
			w.Put("../seen", "")
			turn = e.Ends(turn.ID)
			require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
			require.Nil(t, turn.Error)
			require.Equal(t, "Up.", *turn.Result)
			requireNothingRuns(w, turn.ID)
			notices := e.Notices(turn.ID)
			require.Contains(t, notices, tt.notice)
			require.Contains(t, notices, kept)
			require.NotContains(t, notices, "left processes running")
			told := backgrounds(e, turn.ID)
			require.Len(t, told, 3)
			require.NotEmpty(t, told[1])
			require.Equal(t, []string{"Up."}, e.Said(turn.ID, sessions.ItemAssistant))
			world.Audit(t, e.All())

			w.Plays(world.InitLine, world.Succeeds("next"))
			require.Equal(t, "next", *e.Turn(nil).Result, "the workspace is free")
		})
	}
}

// TestTurnsThatGoOn has an agent go on after a silence: its text is complete, and the turn is the same.
func TestTurnsThatGoOn(t *testing.T) {
	t.Parallel()
	for name, first := range map[string][]string{"partial output": {world.Piece("One."), world.Says("One.", "")}, "no partial output": {world.Says("One.", "")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := backgroundWorld(t, "background_grace = \"15s\"\n")
			pause := []string{world.Waits("go")}
			w.Plays(world.Playing(server(), first, pause, wakes("Two."), world.Shells("x", "echo x >f"), []string{world.Piece("Three."), world.Says("Three.", ""), world.Succeeds("One.Two.Three.")})...)
			turn := e.Asks(nil)
			e.Until("the wait", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Background != nil })
			w.Put("../go", "")
			turn = e.Ends(turn.ID)
			require.Equal(t, sessions.TurnCompleted, turn.Status)
			require.Equal(t, "One.Two.Three.", *turn.Result)
			require.Equal(t, "req", turn.RequestID)
			require.Equal(t, []string{"One.", "Two.", "Three."}, e.Said(turn.ID, sessions.ItemAssistant))
			require.Equal(t, []string{"", "npm run dev", "", "npm run dev", "", "npm run dev", ""}, backgrounds(e, turn.ID))
			var order []string
			for _, item := range e.Items(turn.ID) {
				order = append(order, string(item.Kind))
			}
			require.Equal(t, []string{"tool", "assistant", "notice", "assistant", "tool", "assistant"}, order[:6])
			require.Contains(t, e.Notices(turn.ID), "From the background: ready")
			require.Equal(t, "x\n", w.Get("f"))
			requireNothingRuns(w, turn.ID)
			require.Contains(t, e.Notices(turn.ID), "The agent's background commands were ended: npm run dev.")
			world.Audit(t, e.All())
		})
	}
}

// TestTurnsThatWaitForTheBackground has a turn wait for a server without limit. All clients see that it waits, and a cancel
// ends the server.
func TestTurnsThatWaitForTheBackground(t *testing.T) {
	t.Parallel()
	w, e := backgroundWorld(t, "background = \"wait\"\nbackground_grace = \"1ms\"\nagent_idle_timeout = \"1s\"\n")
	w.Plays(world.Playing(server(), []string{world.Piece("Up."), world.Says("Up.", ""), `{"fake":"hang"}`})...)
	turn := e.Asks(nil)
	e.Until("the wait", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Background != nil })
	require.Never(t, func() bool { return e.All()[len(e.All())-1].Turn.Status.Final() }, 2*time.Second, 100*time.Millisecond)
	var status struct {
		Turns struct{ Running, Background int }
	}
	e.Must("daemon/status", nil, &status)
	require.Equal(t, 1, status.Turns.Running)
	require.Equal(t, 1, status.Turns.Background)
	out, _, code := w.Cursord("status")
	require.Zero(t, code)
	require.Contains(t, out, "1 running, 0 queued; waiting for 1 background command\n")
	late := w.Opens()
	late.Until("the wait", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Background != nil })

	e.Must("turn/cancel", world.Obj{"turnId": turn.ID}, nil)
	require.Equal(t, sessions.TurnCancelled, e.Ends(turn.ID).Status)
	requireNothingRuns(w, turn.ID)
	status.Turns.Background = 0 // it is left out
	e.Must("daemon/status", nil, &status)
	require.Zero(t, status.Turns.Background)
	for _, run := range w.Runs() {
		require.NotContains(t, run.Args, "--background-shell-timeout")
	}
	world.Audit(t, e.All())
}

// TestCrashInTheWait kills the daemon while a turn waits. The next daemon waits for nothing, and nothing runs.
func TestCrashInTheWait(t *testing.T) {
	t.Parallel()
	w, e := backgroundWorld(t, "background = \"wait\"\n")
	w.Plays(world.Playing(server(), []string{world.Says("Up.", ""), `{"fake":"hang"}`})...)
	turn := e.Asks(nil)
	e.Until("the wait", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Background != nil })
	w.Kill()
	w.Start()
	e = w.Opens()
	after := e.Ends(turn.ID)
	require.Equal(t, sessions.TurnInterrupted, after.Status)
	require.Empty(t, after.Background)
	require.Eventually(t, func() bool { return len(world.Processes(t, "CURSORD_TURN_ID="+turn.ID)) == 0 }, world.Patience, world.Patience/1000)
}

// TestTwoDaemonsWithOneTurnID: clients choose the ids of turns. When a turn is cancelled in one daemon, the agent of the turn that
// has the same id in another daemon goes on.
func TestTwoDaemonsWithOneTurnID(t *testing.T) {
	t.Parallel()
	first, second := world.New(t), world.New(t)
	first.Start()
	second.Start()
	goes, ends := first.Opens(), second.Opens()
	first.Plays(world.InitLine, world.Piece("One."), `{"fake":"wait","path":"`+first.Path("../go")+`"}`, world.Says("One.", ""), world.Succeeds("One."))
	goes.Asks(world.Obj{"turnId": "chosen"})
	goes.Until("the first word", func(n world.Notification) bool { return n.Method == "item/delta" })
	second.Plays(world.InitLine, world.Piece("Two."), `{"fake":"hang"}`)
	ends.Asks(world.Obj{"turnId": "chosen"})
	ends.Until("the first word", func(n world.Notification) bool { return n.Method == "item/delta" })
	ends.Must("turn/cancel", world.Obj{"turnId": "chosen"}, nil)
	require.Equal(t, sessions.TurnCancelled, ends.Ends("chosen").Status)
	first.Put("../go", "")
	turn := goes.Ends("chosen")
	require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
}

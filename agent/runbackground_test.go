//go:build unix

package agent

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cursord/agent/process"
)

const (
	sayLeft = `echo '{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"shellToolCall":{"args":{"command":"npm run dev"},"result":{"isBackground":true,"success":{}}}}}'` + "\n"
	// sayTwo leaves two commands in the background.
	sayTwo = `echo '{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"shellToolCall":{"args":{"command":"sleep 101"},"result":{"isBackground":true,"success":{}}}}}'` + "\n" +
		`echo '{"type":"tool_call","subtype":"completed","call_id":"b","tool_call":{"shellToolCall":{"args":{"command":"sleep 0"},"result":{"isBackground":true,"success":{}}}}}'` + "\n"
	sayLast = `echo '{"type":"assistant","message":{"content":[{"type":"text","text":"Hello"}]}}'` + "\n"
	// awaitSeen waits until the test has seen that the command is in the background: by then its groups are known.
	awaitSeen = "while [ ! -e seen ]; do sleep 0.01; done\n"
	// sayTold is a notification and the agent's text about it.
	sayTold = `echo '{"type":"system","subtype":"task_notification","summary":"ready"}'` + "\n" + `echo '{"type":"assistant","message":{"content":[{"type":"text","text":" again"}]}}'` + "\n"
	// ownGroups leaves three processes behind: a server in its own session, one in its own process group, and one in its own
	// session without its parent and without the mark.
	ownGroups = `setsid sh -c 'echo $$ >server; exec sleep 100' >/dev/null 2>&1 &
sh -c 'set -m; sleep 100 >/dev/null 2>&1 & echo $! >group'
env -i setsid /bin/sh -c '/bin/sleep 100 >/dev/null 2>&1 & echo $! >stray; while [ ! -e seen ]; do /bin/sleep 0.01; done' >/dev/null 2>&1 &
while [ ! -s server ] || [ ! -s group ] || [ ! -s stray ]; do sleep 0.01; done
`
)

// leaves returns a fake with a mark, and a short grace for commands in the background.
func leaves(t *testing.T, script string) *fake {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid here")
	}
	f := newFake(t, script)
	f.req.Mark = "AGENT_TEST_DIR_MARK=" + f.dir
	f.req.Env = []string{f.req.Mark}
	f.req.BackgroundGrace = 300 * time.Millisecond
	return f
}

// sees ends an agent's wait in awaitSeen.
func (f *fake) sees(ev Event) {
	if end, ok := ev.(ToolEnd); ok && end.Call.Background {
		f.touch("seen")
	}
}

func (f *fake) requireGone() {
	f.t.Helper()
	for _, name := range []string{"server", "group", "stray"} {
		f.gone(name)
	}
	require.Empty(f.t, process.Survivors(f.req.Mark))
}

// TestRunIsOverWithCommandsInTheBackground: agents say their last word and then wait for a server in the background.
func TestRunIsOverWithCommandsInTheBackground(t *testing.T) {
	t.Parallel()
	note := "notice " + quote(`The agent had finished. Its background commands were ended: npm run dev. The setting background = "wait" has turns wait for such commands.`)
	for name, last := range map[string]string{"partial output": sayDelta + sayLast, "no partial output": sayLast} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := leaves(t, sayInit+ownGroups+sayLeft+awaitSeen+last+"sleep 100\n")
			out, lines := f.run(t.Context(), f.sees)
			require.Equal(t, Completed, out.Status)
			require.Nil(t, out.Failure)
			require.Equal(t, "Hello", *out.Result)
			require.Contains(t, lines, "waiting npm run dev")
			require.Equal(t, note, lines[len(lines)-1])
			f.requireGone()
		})
	}
	t.Run("that ignores signals", func(t *testing.T) {
		t.Parallel()
		f := leaves(t, "trap '' INT TERM\n"+sayInit+ownGroups+sayLeft+awaitSeen+sayLast+"while :; do sleep 1; done\n")
		out, lines := f.run(t.Context(), f.sees)
		require.Equal(t, Completed, out.Status)
		require.Equal(t, note, lines[len(lines)-1])
		f.requireGone()
	})
	t.Run("that ended it itself", func(t *testing.T) {
		t.Parallel()
		f := leaves(t, sayInit+ownGroups+sayLeft+awaitSeen+sayLast+`echo '{"type":"system","subtype":"background_shell_timeout","timeout_ms":1000,"aborted_count":1}'`+"\n"+sayResult)
		f.req.BackgroundGrace = time.Hour
		out, lines := f.run(t.Context(), f.sees)
		require.Equal(t, Completed, out.Status)
		require.NotNil(t, out.Usage)
		require.NotContains(t, lines, note)
		f.requireGone()
	})
	t.Run("that ended it itself and hangs", func(t *testing.T) {
		t.Parallel()
		f := leaves(t, sayInit+ownGroups+sayLeft+awaitSeen+sayLast+`echo '{"type":"system","subtype":"background_shell_timeout"}'`+"\nsleep 100\n")
		out, lines := f.run(t.Context(), f.sees)
		require.Equal(t, Completed, out.Status)
		require.NotContains(t, lines, note, "people know of it")
		f.requireGone()
	})
}

// TestRunEndsWhatAnAgentLeft: agents end by themselves in several ways, and leave commands in process groups of their own.
func TestRunEndsWhatAnAgentLeft(t *testing.T) {
	note := "notice " + quote(`The agent's background commands were ended: npm run dev. The setting background = "wait" has turns wait for such commands.`)
	for name, tt := range map[string]struct {
		last   string
		status RunStatus
	}{
		"with a result":    {sayLast + sayResult, Completed},
		"without a result": {sayLast, Failed},
		"killed":           {sayLast + "kill -KILL $$\n", Failed},
		"in mid-work":      {"exit 143\n", Failed},
	} {
		t.Run(name, func(t *testing.T) {
			f := leaves(t, sayInit+ownGroups+sayLeft+awaitSeen+tt.last)
			f.req.BackgroundGrace = time.Hour
			out, lines := f.run(t.Context(), f.sees)
			require.Equal(t, tt.status, out.Status)
			require.Equal(t, note, lines[len(lines)-1])
			f.requireGone()
		})
	}
	t.Run("nothing", func(t *testing.T) {
		f := leaves(t, sayInit+sayLeft+awaitSeen+sayLast+sayResult)
		out, lines := f.run(t.Context(), f.sees)
		require.Equal(t, Completed, out.Status)
		require.NotContains(t, strings.Join(lines, "\n"), "were ended")
	})
	t.Run("that is to stay", func(t *testing.T) {
		f := leaves(t, sayInit+"setsid sh -c 'echo $$ >stray; exec sleep 100' >/dev/null 2>&1 &\nwhile [ ! -s stray ]; do sleep 0.01; done\n"+sayLeft+awaitSeen+sayLast+sayResult)
		f.req.AwaitBackground = true
		out, lines := f.run(t.Context(), f.sees)
		require.Equal(t, Completed, out.Status)
		require.NotContains(t, strings.Join(lines, "\n"), "were ended")
		pid, err := strconv.Atoi(strings.TrimSpace(f.read("stray")))
		require.NoError(t, err)
		require.False(t, dead(pid))
		require.NoError(t, unix.Kill(-pid, unix.SIGKILL))
		f.gone("stray")
	})
}

// TestRunGoesOnAfterTheBackground: an agent goes on several times after a pause that is shorter than the grace.
func TestRunGoesOnAfterTheBackground(t *testing.T) {
	t.Parallel()
	pause := "sleep 0.6\n"
	f := leaves(t, sayInit+sayLeft+sayDelta+sayLast+pause+sayTold+pause+sayTold+pause+"echo busy >&2\n"+pause+sayTold+sayResult)
	f.req.BackgroundGrace = 20 * time.Second
	out, lines := f.run(t.Context(), nil)
	require.Equal(t, Completed, out.Status)
	require.Equal(t, "r-1", out.RequestID)
	said := strings.Join(lines, "\n")
	require.Equal(t, 3, strings.Count(said, `notice "From the background: ready"`))
	require.Equal(t, 3, strings.Count(said, `text " again"`))
	require.Equal(t, 4, strings.Count(said, "waiting npm run dev"))
	require.NotContains(t, said, "were ended")
}

// TestRunAwaitsTheBackground: the run waits for commands in the background beyond every limit, until they end or the run is
// cancelled.
func TestRunAwaitsTheBackground(t *testing.T) {
	t.Parallel()
	await := func(script string) *fake {
		f := leaves(t, script)
		f.req.AwaitBackground = true
		f.req.BackgroundGrace, f.req.IdleTimeout, f.req.ToolTimeout = 10*time.Millisecond, 2*time.Second, 2*time.Second
		return f
	}
	t.Run("to its end", func(t *testing.T) {
		t.Parallel()
		f := await(sayInit + sayLeft + sayLast + "sleep 3\n" + sayTold + sayResult)
		out, lines := f.run(t.Context(), nil)
		require.Equal(t, Completed, out.Status)
		require.Contains(t, lines, `text " again"`)
	})
	t.Run("to its cancelling", func(t *testing.T) {
		t.Parallel()
		f := await(sayInit + ownGroups + sayLeft + awaitSeen + sayLast + "sleep 100\n")
		f.req.IdleTimeout = 20 * time.Second // leaves time for the way to the last word
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out, _ := f.run(ctx, func(ev Event) {
			f.sees(ev)
			if wait, ok := ev.(Waiting); ok && wait.Commands != nil {
				time.AfterFunc(500*time.Millisecond, cancel)
			}
		})
		require.Equal(t, Cancelled, out.Status)
		f.requireGone()
	})
}

// TestRunNamesWhatStillRan: the notice names only the commands that still ran, although the agent did not report the end of
// another (builds before 2026.09.02 do not).
func TestRunNamesWhatStillRan(t *testing.T) {
	t.Parallel()
	const two = `sh -c 'exec sleep 101' & echo $! >kept
sh -c 'exec sleep 0' & wait $!
` + sayTwo
	t.Run("left alone", func(t *testing.T) {
		t.Parallel()
		f := leaves(t, sayInit+two+sayLast+"wait\n")
		out, lines := f.run(t.Context(), nil)
		require.Equal(t, Completed, out.Status)
		require.Contains(t, lines[len(lines)-1], "Its background commands were ended: sleep 101. ")
		f.gone("kept")
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		f := leaves(t, sayInit+two+"while [ ! -e seen ]; do sleep 0.01; done\n"+sayLast+"wait\n")
		f.req.BackgroundGrace = time.Hour
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out, lines := f.run(ctx, func(ev Event) {
			f.sees(ev)
			if wait, ok := ev.(Waiting); ok && wait.Commands != nil {
				cancel()
			}
		})
		require.Equal(t, Cancelled, out.Status)
		require.Equal(t, "notice "+quote("Background commands were ended with the turn: sleep 101."), lines[len(lines)-1])
		f.gone("kept")
	})
}

// TestRunHungWithASubAgent: an agent says its last word while a sub-agent does not end. The run completes.
func TestRunHungWithASubAgent(t *testing.T) {
	t.Parallel()
	f := leaves(t, sayInit+sayLeft+`echo '{"type":"tool_call","subtype":"completed","call_id":"t","tool_call":{"taskToolCall":{"args":{"description":"Tidy"},"result":{"success":{"isBackground":true}}}}}'`+"\n"+sayLast+"sleep 100\n")
	f.req.ToolTimeout = time.Second
	out, lines := f.run(t.Context(), nil)
	require.Equal(t, Completed, out.Status)
	require.Contains(t, lines[len(lines)-1], "were ended: npm run dev; Task Tidy.")
}

// TestRunHungAfterANotification: an agent is silent after its last word and a notification. The run completes, unless the
// agent has begun to go on.
func TestRunHungAfterANotification(t *testing.T) {
	const notification = `echo '{"type":"system","subtype":"task_notification","task_id":"7","status":"completed"}'` + "\n"
	ended := strings.Replace(sayLeft, `"success":{}`, `"success":{"shellId":"7"}`, 1)
	for name, tt := range map[string]struct {
		left, after string
		status      RunStatus
	}{
		"nothing":             {sayLeft, "", Completed},
		"nothing, all ended":  {ended, "", Completed},
		"another":             {sayLeft, notification, Completed},
		"a piece":             {sayLeft, sayDelta, Failed},
		"another and a piece": {ended, notification + sayDelta, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each run waits; the limit leaves a busy machine time for the agent's start
			f := leaves(t, sayInit+tt.left+sayDelta+sayLast+notification+tt.after+"sleep 100\n")
			f.req.IdleTimeout = 3 * time.Second
			out, lines := f.run(t.Context(), nil)
			require.Equal(t, tt.status, out.Status)
			if tt.status == Completed {
				require.Contains(t, lines[len(lines)-1], "silent for 3s after a background command had ended")
			}
		})
	}
}

// TestRunHungSays checks the message of a run that was ended for its silence.
func TestRunHungSays(t *testing.T) {
	t.Parallel()
	f := newFake(t, sayInit+sayLeft+sayStart+"sleep 100\n")
	f.req.ToolTimeout, f.req.BackgroundGrace = 100*time.Millisecond, time.Second // so that the agent is checked often
	began := time.Now()
	out, _ := f.run(t.Context(), nil)
	require.Equal(t, "agentHung", out.Failure.Kind)
	require.Regexp(t, `^the agent was silent for 100ms, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(while a tool ran: make; in the background: npm run dev\), and was ended$`,
		out.Failure.Message)
	_, at, _ := strings.Cut(out.Failure.Message, "since ")
	since, err := time.ParseInLocation(time.DateTime, at[:len(time.DateTime)], time.Local)
	require.NoError(t, err)
	require.WithinRange(t, since, began.Truncate(time.Second), time.Now())
	require.Contains(t, out.Failure.Hint, "agent_tool_timeout")

	f = newFake(t, sayInit+"sleep 100\n")
	f.req.IdleTimeout = 100 * time.Millisecond
	out, _ = f.run(t.Context(), nil)
	require.Contains(t, out.Failure.Message, "(no tool call was open)")
	require.Contains(t, out.Failure.Hint, "agent_idle_timeout")
}

// TestRunJoinsCutLines: an agent writes a raw newline, also in its result, and dies in the middle of a line.
func TestRunJoinsCutLines(t *testing.T) {
	t.Parallel()
	f := newFake(t, sayInit+`printf '{"type":"result","subtype":"success","result":"one\ntwo"}\n'`+"\n")
	out, _ := f.run(t.Context(), nil)
	require.Equal(t, Completed, out.Status)
	require.Equal(t, "one\ntwo", *out.Result)

	f = newFake(t, sayInit+`printf '{"type":"assistant","message":"one\n'; head -c 300000 /dev/zero | tr '\0' x; echo; printf '{"type":"assistant","message":"two'`+"\n")
	f.req.MaxLine = 200_000
	out, lines := f.run(t.Context(), nil)
	require.Equal(t, Failed, out.Status)
	require.Equal(t, []string{`unreadable "{\"type\":\"assistant\",\"message\":\"one"`,
		`notice "a line of 300001 bytes from the agent was skipped: the limit is 200000 bytes"`,
		`unreadable "{\"type\":\"assistant\",\"message\":\"two"`}, lines[1:])
}

//go:build unix

package agent

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cursord/agent/program"
)

const (
	sayInit   = `echo '{"type":"system","subtype":"init","cwd":"/w","session_id":"s-1","model":"Auto"}'` + "\n"
	sayDelta  = `echo '{"type":"assistant","message":{"content":[{"type":"text","text":"Hello"}]},"timestamp_ms":1}'` + "\n"
	sayStart  = `echo '{"type":"tool_call","subtype":"started","call_id":"a","tool_call":{"shellToolCall":{"args":{"command":"make"}}}}'` + "\n"
	sayResult = `echo '{"type":"result","subtype":"success","is_error":false,"result":"Hello","session_id":"s-1","request_id":"r-1","usage":{"inputTokens":7}}'` + "\n"
	// waitGo waits for a file that the test makes.
	waitGo = "while [ ! -e go ]; do sleep 0.01; done\n"
)

// A fake is an agent written as a shell script, in a workspace of its own.
type fake struct {
	t   *testing.T
	dir string
	req Request
}

func newFake(t *testing.T, script string) *fake {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	bin := filepath.Join(t.TempDir(), "agent.sh")
	syscall.ForkLock.RLock() // a child that another test starts meanwhile would hold the file open: "text file busy"
	err = os.WriteFile(bin, []byte("#!/bin/sh\n"+script), 0o700)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	return &fake{t: t, dir: dir, req: Request{Bin: bin, Dir: dir, Prompt: "hi"}}
}

// run runs the fake to its end.
func (f *fake) run(ctx context.Context, seen func(Event)) (Outcome, []string) {
	var lines []string
	out := NewLauncher(program.LoadBuilds(nil, nil)).Run(ctx, f.req, func(events []Event) {
		for _, ev := range events {
			lines = append(lines, transcribe(ev))
			if seen != nil {
				seen(ev)
			}
		}
	})
	return out, lines
}

func (f *fake) read(name string) string {
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	require.NoError(f.t, err)
	return string(data)
}

func (f *fake) touch(name string) {
	require.NoError(f.t, os.WriteFile(filepath.Join(f.dir, name), nil, 0o600))
}

func (f *fake) await(name string) {
	require.Eventually(f.t, func() bool {
		_, err := os.Stat(filepath.Join(f.dir, name))
		return err == nil
	}, 10*time.Second, 5*time.Millisecond, name)
}

// gone waits for the end of the process whose id is in a file.
func (f *fake) gone(name string) {
	require.Eventually(f.t, func() bool {
		data, _ := os.ReadFile(filepath.Join(f.dir, name))
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil && dead(pid)
	}, 10*time.Second, 5*time.Millisecond)
}

// dead reports whether a process has ended; it may still wait for its parent.
func dead(pid int) bool {
	if unix.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestRunGivesTheAgentWhatItNeeds(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "/run/x")
	t.Setenv("CURSOR_API_KEY", "")
	f := newFake(t, `for a in "$@"; do echo "$a"; done >args; cat >prompt; pwd >cwd; env >env`+"\n"+sayInit+sayDelta+sayResult)
	f.req.Prompt = strings.Repeat("0123456789abcdef", 5<<16)
	f.req.Mode, f.req.Force, f.req.Resume = "plan", true, "s-0"
	f.req.Env = []string{"CURSORD_TURN_ID=t1"}
	out, lines := f.run(t.Context(), nil)

	require.Equal(t, "-p\n--output-format\nstream-json\n--stream-partial-output\n--trust\n--model\nauto\n--workspace\n"+f.dir+
		"\n--disable-auto-update\n--background-shell-timeout\n30\n--mode\nplan\n--force\n--resume\ns-0\n", f.read("args"))
	require.Equal(t, f.req.Prompt, f.read("prompt"))
	require.Equal(t, f.dir+"\n", f.read("cwd"))
	require.Contains(t, f.read("env"), "CURSORD_TURN_ID=t1\n")
	require.NotContains(t, f.read("env"), "NOTIFY_SOCKET")
	require.NotContains(t, f.read("env"), "CURSOR_API_KEY")
	require.Equal(t, []string{"init s-1 /w Auto", `text "Hello"`, `result ok text="Hello" s-1 r-1 usage=7/0/0/0`}, lines)
	text := "Hello"
	require.Equal(t, Outcome{Status: Completed, SessionID: "s-1", RequestID: "r-1", Result: &text, Usage: &Usage{Input: 7}, Unknown: map[string]int{}}, out)
}

// TestFakeAgentKnowsEachOption: the fake agent's history of builds has the first build of each option.
func TestFakeAgentKnowsEachOption(t *testing.T) {
	t.Parallel()
	history, err := os.ReadFile(filepath.Join("fake", "builds.go"))
	require.NoError(t, err)
	r := Request{Mode: "plan", Force: true, Sandbox: "enabled", AutoReview: true, AddDirs: []string{"/d"}, Resume: "s"}
	for _, a := range r.arguments() {
		require.Contains(t, string(history), `"`+a.name()+`"`)
	}
}

func TestRunHoldsThePromptBack(t *testing.T) {
	t.Parallel()
	f := newFake(t, sayInit+"cat >prompt\n"+sayResult)
	ready := make(chan struct{})
	f.req.Ready = ready
	out, _ := f.run(t.Context(), func(ev Event) {
		if _, ok := ev.(Init); ok {
			text, _ := os.ReadFile(filepath.Join(f.dir, "prompt"))
			require.Empty(t, text)
			close(ready)
		}
	})
	require.Equal(t, Completed, out.Status)
	require.Equal(t, "hi", f.read("prompt"))

	f = newFake(t, sayInit+"exit 3\n")
	f.req.Ready = make(chan struct{})
	out, _ = f.run(t.Context(), nil)
	require.Equal(t, Failed, out.Status, "an agent that ends is not waited for")
}

func TestRunTellsTextAtOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t, sayInit+sayDelta+waitGo+sayResult)
	out, lines := f.run(t.Context(), func(ev Event) {
		if _, ok := ev.(Text); ok {
			f.touch("go") // the agent goes on only after its text was received
		}
	})
	require.Equal(t, Completed, out.Status)
	require.Len(t, lines, 3)
}

func TestRunTellsAFloodInBatches(t *testing.T) {
	f := newFake(t, sayInit+`awk 'BEGIN{for(i=0;i<20000;i++) printf "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"%d \"}]},\"timestamp_ms\":%d}\n",i,i}'`+"\n"+sayResult)
	var said strings.Builder
	batches := 0
	out := NewLauncher(program.LoadBuilds(nil, nil)).Run(t.Context(), f.req, func(events []Event) {
		batches++
		require.LessOrEqual(t, len(events), maxBatch+1)
		for _, ev := range events {
			if text, ok := ev.(Text); ok {
				said.WriteString(text.Text)
			}
		}
	})
	require.Equal(t, Completed, out.Status)
	require.True(t, strings.HasSuffix(said.String(), "19998 19999 "))
	require.Equal(t, 20000, strings.Count(said.String(), " "))
	require.Less(t, batches, 5000)
}

// TestRunHasWhatWasSaidForItsResult ends runs in all ways: the result is the agent's own, or else its text.
func TestRunHasWhatWasSaidForItsResult(t *testing.T) {
	t.Parallel()
	result := func(fields string) string {
		return `echo '{"type":"result",` + fields + `,"session_id":"s-1"}'` + "\n"
	}
	for name, tt := range map[string]struct {
		script string
		status RunStatus
		want   string // "": none
	}{
		"its own":                  {sayDelta + result(`"subtype":"success","is_error":false,"result":"All is done"`), Completed, "All is done"},
		"an empty one":             {sayDelta + result(`"subtype":"success","is_error":false,"result":""`), Completed, "Hello"},
		"none":                     {sayDelta + result(`"subtype":"success","is_error":false`), Completed, "Hello"},
		"failed":                   {sayDelta + result(`"subtype":"error","is_error":true,"error":"no luck"`), Failed, "Hello"},
		"died":                     {sayDelta + "exit 3\n", Failed, "Hello"},
		"died in a later word":     {sayDelta + sayStart + strings.ReplaceAll(sayDelta, "Hello", " you") + "exit 3\n", Failed, "Hello you"},
		"died without a word":      {"exit 3\n", Failed, ""},
		"succeeded without a word": {result(`"subtype":"success","is_error":false`), Completed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, _ := newFake(t, sayInit+tt.script).run(t.Context(), nil)
			require.Equal(t, tt.status, out.Status, "%+v", out.Failure)
			if tt.want == "" {
				require.Nil(t, out.Result)
				return
			}
			require.Equal(t, tt.want, *out.Result)
		})
	}
}

func TestRunEndsAtTheResult(t *testing.T) {
	t.Parallel()
	f := newFake(t, sayInit+"sleep 100 &\necho $! >child\necho $$ >leader\n"+sayResult+sayDelta+"sleep 100\n")
	out, lines := f.run(t.Context(), nil)
	require.Equal(t, Completed, out.Status)
	require.Len(t, lines, 3, "init, the result's text, the result")
	f.gone("leader")
	f.gone("child")
}

func TestRunIsNotHeldByAProcessThatLeftTheGroup(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid here")
	}
	f := newFake(t, sayInit+"setsid sh -c 'echo $$ >stray; exec sleep 1000' &\n"+"while [ ! -s stray ]; do sleep 0.01; done\n"+sayResult)
	f.req.Prompt = strings.Repeat("x", 1<<20) // longer than a pipe; the agent does not read it
	out, _ := f.run(t.Context(), nil)
	pid, err := strconv.Atoi(strings.TrimSpace(f.read("stray")))
	require.NoError(t, err)
	require.False(t, dead(pid), "the run waited for it")
	unix.Kill(pid, unix.SIGKILL)
	require.Equal(t, Completed, out.Status)
}

func TestRunReadsAllForASlowConsumer(t *testing.T) {
	t.Parallel()
	f := newFake(t, sayInit+"i=0; while [ $i -lt 200 ]; do "+sayDelta+"i=$((i+1)); done\n"+sayResult+"echo $$ >leader\n")
	slow := true
	out, lines := f.run(t.Context(), func(Event) {
		if slow {
			slow = false
			f.gone("leader")
			<-time.After(drainTime + 100*time.Millisecond) // beyond the deadline for the pipes of an ended agent
		}
	})
	require.Equal(t, Completed, out.Status)
	require.Len(t, lines, 202)
}

// TestMomentsDoNotJump: an agent's silence is measured by the monotonic clock, which neither a set time nor a suspended
// machine moves. The string of a Time shows a reading of that clock.
func TestMomentsDoNotJump(t *testing.T) {
	require.Contains(t, firstMoment.String(), " m=")
	before := moment()
	require.Positive(t, before, "0 is no moment")
	require.GreaterOrEqual(t, moment(), before)
}

func TestRunSkipsALineOverTheLimit(t *testing.T) {
	t.Parallel()
	f := newFake(t, sayInit+"head -c 300000 /dev/zero | tr '\\0' x; echo\n"+sayDelta+sayResult)
	f.req.MaxLine = 200_000
	out, lines := f.run(t.Context(), nil)
	require.Equal(t, Completed, out.Status)
	require.Equal(t, `notice "a line of 300001 bytes from the agent was skipped: the limit is 200000 bytes"`, lines[1])
	require.Equal(t, `text "Hello"`, lines[2])
}

func TestRunRepeatsAStartThatLostTheRace(t *testing.T) {
	t.Parallel()
	lost := "echo \"Error: ENOENT: no such file or directory, rename '/h/cli-config.json.tmp' -> '/h/cli-config.json'\"\nexit 1\n"
	f := newFake(t, "if [ ! -e once ]; then touch once\n"+lost+"fi\n"+sayInit+sayResult)
	out, lines := f.run(t.Context(), nil)
	require.Equal(t, Completed, out.Status)
	require.Equal(t, "init s-1 /w Auto", lines[0])

	f = newFake(t, "echo x >>starts\n"+lost)
	out, _ = f.run(t.Context(), nil)
	require.Equal(t, Failed, out.Status)
	require.Equal(t, "x\nx\n", f.read("starts"))
}

func TestRunStartsOneAtATime(t *testing.T) {
	t.Parallel()
	a := newFake(t, "touch started\n"+waitGo+sayInit+sayResult)
	b := newFake(t, "touch started\n"+sayInit+sayResult)
	l, done := NewLauncher(program.LoadBuilds(nil, nil)), make(chan Outcome, 2)
	run := func(f *fake) { done <- l.Run(t.Context(), f.req, func([]Event) {}) }
	go run(a)
	a.await("started")
	go run(b)
	require.NoFileExists(t, filepath.Join(b.dir, "started"))
	a.touch("go")
	b.await("started")
	require.Equal(t, Completed, (<-done).Status)
	require.Equal(t, Completed, (<-done).Status)

	// An agent that does not reach its init delays others for a bounded time.
	a = newFake(t, "touch started\n"+waitGo+sayInit+sayResult)
	b = newFake(t, sayInit+sayResult)
	go run(a)
	a.await("started")
	require.Equal(t, Completed, l.Run(t.Context(), b.req, func([]Event) {}).Status)
	a.touch("go")
	require.Equal(t, Completed, (<-done).Status)
}

func TestRunFailures(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, script, kind, message string }{
		{"stderr", "echo 'Error: Authentication required. Please run agent login' >&2; exit 1", "agentNotLoggedIn", "cursor-agent is not logged in"},
		{"bare line", "echo 'Cannot use this model: x. Available models: a, b'; exit 1", "modelUnavailable", "Cannot use this model: x."},
		{"killed", sayInit + "kill -9 $$", "agentCrashed", "another program ended the agent (signal SIGKILL)"},
		{"without a word", sayInit + "exit 3", "agentCrashed", "the agent crashed without output (exit code 3)"},
		{"no result", sayInit + sayDelta, "protocol", "the agent ended without a result"},
		{"failed result", sayInit + `echo '{"type":"result","subtype":"error","is_error":true,"result":"no luck"}'`, "agentFailed", "no luck"},
		{"closed stdout and stayed", sayInit + "exec >&-; sleep 100", "protocol", "the agent ended without a result"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, _ := newFake(t, tt.script+"\n").run(t.Context(), nil)
			require.Equal(t, Failed, out.Status)
			require.Equal(t, tt.kind, out.Failure.Kind)
			require.Equal(t, tt.message, out.Failure.Message)
		})
	}
	t.Run("no such program", func(t *testing.T) {
		f := newFake(t, "")
		f.req.Bin = filepath.Join(f.dir, "nothing")
		out, _ := f.run(t.Context(), nil)
		require.Equal(t, "agentNotInstalled", out.Failure.Kind)
	})
	t.Run("no such workspace", func(t *testing.T) {
		f := newFake(t, "")
		require.NoError(t, os.Remove(f.dir))
		out, _ := f.run(t.Context(), nil)
		require.Equal(t, "agentFailed", out.Failure.Kind)
		require.Contains(t, out.Failure.Message, "workspace")
	})
}

// TestRunLeavesNobodyAtWork: an agent ends and leaves processes behind. After the run they write no more; a killed process
// could otherwise finish its system call.
func TestRunLeavesNobodyAtWork(t *testing.T) {
	f := newFake(t, sayInit+`i=0; while [ $i -lt 60 ]; do (while :; do :>a.$i; mv a.$i b.$i; done) & echo $! >>kids; i=$((i+1)); done
`+sayDelta+sayResult)
	f.run(t.Context(), nil)
	kids := strings.Fields(f.read("kids"))
	require.Len(t, kids, 60)
	for _, kid := range kids {
		pid, err := strconv.Atoi(kid)
		require.NoError(t, err)
		require.True(t, dead(pid), "%d still runs", pid)
	}
}

func TestRunEndsWithTheDaemon(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("only Linux ends a child with its parent")
	}
	f := newFake(t, "echo $$ >leader\n"+sayInit+"exec sleep 100\n")
	daemon := exec.Command(os.Args[0])
	daemon.Env = append(os.Environ(), "AGENT_TEST_RUNS="+f.req.Bin, "AGENT_TEST_DIR="+f.dir)
	require.NoError(t, daemon.Start())
	require.Eventually(t, func() bool { // the file has the id
		leader, _ := os.ReadFile(filepath.Join(f.dir, "leader"))
		return bytes.HasSuffix(leader, []byte("\n"))
	}, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, daemon.Process.Kill())
	daemon.Wait()
	f.gone("leader")
}

// TestRunCancelledAtTheGate cancels a turn while another start holds the gate: the gate stays held.
func TestRunCancelledAtTheGate(t *testing.T) {
	l := NewLauncher(program.LoadBuilds(nil, nil))
	l.gate <- struct{}{}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 50 { // the choice between two ready channels is random
		require.Equal(t, Cancelled, l.Run(ctx, Request{}, func([]Event) {}).Status)
		require.Len(t, l.gate, 1)
	}
}

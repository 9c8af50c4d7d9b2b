//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/sessions"
)

// A piped process is a client's end of one that speaks on stdin and stdout.
type piped struct {
	io.ReadCloser
	io.WriteCloser
}

func (p piped) Close() error { return p.WriteCloser.Close() }

// spawns starts "cursord stdio" of a program, whose end the test waits for at its own, and the daemon's with it.
func (w *world) spawns(program string, args ...string) (*exec.Cmd, io.ReadWriteCloser) {
	w.t.Helper()
	cmd, conn := w.stdio(program, args...)
	w.t.Cleanup(func() {
		conn.Close()
		w.cursord("stop", "--force")
		_ = cmd.Wait()
	})
	return cmd, conn
}

// stdio starts "cursord stdio" of a program.
func (w *world) stdio(program string, args ...string) (*exec.Cmd, io.ReadWriteCloser) {
	w.t.Helper()
	cmd := exec.Command(program, append([]string{"stdio"}, args...)...)
	cmd.Env, cmd.Dir = w.env(), w.dir
	in, err := cmd.StdinPipe()
	require.NoError(w.t, err)
	out, outEnd, err := os.Pipe()
	require.NoError(w.t, err)
	cmd.Stdout = outEnd
	require.NoError(w.t, cmd.Start())
	require.NoError(w.t, outEnd.Close())
	return cmd, piped{ReadCloser: out, WriteCloser: in}
}

// throughStdio connects an editor by "cursord stdio", as editors do.
func (w *world) throughStdio(args ...string) *editor {
	w.t.Helper()
	_, conn := w.spawns("cursord", args...)
	e := w.editorOn(conn)
	e.must("initialize", obj{"clientInfo": obj{"name": "test"}}, nil)
	return e
}

func (e *editor) status() (s api.Status) {
	e.t.Helper()
	e.must("daemon/status", nil, &s)
	return s
}

// reconnected waits until the editor has been told so for the nth time.
func (e *editor) reconnected(n int) {
	e.t.Helper()
	e.until("another daemon", func(t told) bool {
		if t.Method == "log/message" && strings.Contains(t.Message, "connected to the cursord daemon again") {
			n--
		}
		return n == 0
	})
}

// TestReconnectAfterKill kills the daemon again and again under an editor, which sees every change once, in order, and
// a log/message.
func TestReconnectAfterKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.throughStdio()
	e.must("workspace/trust", obj{"workspace": w.ws, "trusted": true}, nil)
	e.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	seen := map[int]bool{}
	for i := range 3 {
		w.plays(
			`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`,
			`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"some words"}]},"session_id":"{{session}}","timestamp_ms":1}`,
			`{"fake":"write","path":"{{cwd}}/f","text":"x"}`,
			`{"fake":"hang"}`)
		turn := e.asks(nil)
		e.until("text", func(n told) bool { return n.Method == "item/delta" && n.TurnID == turn.ID })
		s := e.status()
		require.False(t, seen[s.PID], "a daemon of its own each time")
		seen[s.PID] = true
		waited := make(chan error, 1)
		go func() {
			var ended struct{ Turn *sessions.Turn }
			err := e.call("turn/wait", obj{"turnId": turn.ID}, &ended)
			if err == nil && ended.Turn.Status != sessions.TurnInterrupted {
				err = fmt.Errorf("the turn is %s", ended.Turn.Status)
			}
			waited <- err
		}()
		require.NoError(t, syscall.Kill(s.PID, syscall.SIGKILL))
		require.Equal(t, sessions.TurnInterrupted, e.ends(turn.ID).Status)
		require.NoError(t, <-waited, "it is asked again of the next daemon")
		e.reconnected(i + 1)
	}
	// All goes on as if nothing had happened.
	w.plays(`{"type":"result","subtype":"success","result":"done","session_id":"{{session}}"}`)
	require.Equal(t, sessions.TurnCompleted, e.turn(nil).Status)
	audit(t, e.withoutLostText())
}

// withoutLostText returns what the editor was told, each item's text being cut to what a daemon had on disk when it was
// killed.
func (e *editor) withoutLostText() []told {
	kept := map[string]int{}
	for _, n := range e.all() {
		if n.Method == "item/changed" && n.Item.Status != sessions.ItemRunning {
			kept[n.Item.ID] = len(n.Item.Text)
		}
	}
	var list []told
	for _, n := range e.all() {
		if n.Method == "item/delta" {
			if kept[n.ItemID] <= n.Offset {
				continue
			}
			n.Text = n.Text[:min(len(n.Text), kept[n.ItemID]-n.Offset)]
		}
		list = append(list, n)
	}
	return list
}

// TestReconnectKeepsDocuments has an editor whose unsaved text the next daemon knows.
func TestReconnectKeepsDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "one\n")
	e := w.throughStdio()
	e.must("workspace/trust", obj{"workspace": w.ws, "trusted": true}, nil)
	e.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	w.plays(lines(edits("c", "f", "one\n", "two\n"))...)
	require.Equal(t, sessions.TurnCompleted, e.turn(nil).Status)
	uri := "file://" + w.path("f")
	require.NoError(t, e.c.Notify("document/didOpen", obj{"uri": uri, "version": 1, "text": "two\n"}))
	require.NoError(t, e.c.Notify("document/didChange", obj{"uri": uri, "version": 2, "text": "two\nmine\n"}))
	require.NoError(t, syscall.Kill(e.status().PID, syscall.SIGKILL))
	// The reject is answered with edits of the text, which is nobody's but the editor's.
	var out api.Decided
	require.Eventually(t, func() bool { return e.call("diff/reject", obj{"workspace": w.ws, "all": true}, &out) == nil }, patience, 10*time.Millisecond)
	require.Len(t, out.Edits, 1)
	require.Equal(t, 2, out.Edits[0].Version)
	require.Equal(t, "two\n", w.get("f"))
}

// TestStoppedDaemonStaysStopped stops the daemon under an editor that asks nothing, which joins the next one, and starts
// one when it does ask.
func TestStoppedDaemonStaysStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.throughStdio()
	e.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	stops := func(n int) {
		_, stderr, status := w.cursord("stop")
		require.Zero(t, status, stderr)
		e.until("a word on it", func(t told) bool {
			if strings.Contains(t.Message, "the cursord daemon was stopped") {
				n--
			}
			return n == 0
		})
		stdout, _, _ := w.cursord("stop")
		require.Equal(t, "no daemon is running\n", stdout)
	}
	stops(1)
	_, stderr, status := w.cursord("call", "session/create", `{"workspace":"`+w.ws+`","title":"by another"}`)
	require.Zero(t, status, stderr)
	e.until("what others do", func(t told) bool { return t.Session != nil && t.Session.Title == "by another" })
	stops(2)
	e.must("session/create", obj{"workspace": w.ws, "title": "own"}, nil)
	e.until("what is done oneself", func(t told) bool { return t.Session != nil && t.Session.Title == "own" })
	audit(t, e.all())
}

// TestReconnectAfterStop has requests under way while daemons stop as they should: what can be asked again is, and of
// the rest nothing is lost that was answered, nor done that was said to be not.
func TestReconnectAfterStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.throughStdio()
	e.must("workspace/trust", obj{"workspace": w.ws, "trusted": true}, nil)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for range 5 {
			if out, err := w.command("stop").CombinedOutput(); err != nil {
				t.Errorf("stop: %v %s", err, out)
			}
		}
	}()
	made, perhaps := map[string]bool{}, map[string]bool{}
	for n, going := 0, true; going; n++ {
		select {
		case <-stopped:
			going = false
		default:
		}
		unanswered := func(err error, mayHaveHappened bool) {
			var failed *rpc.Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, rpc.CodeUnavailable, failed.Code, failed.Message)
			require.Equal(t, mayHaveHappened, *failed.Data.MayHaveHappened)
		}
		if err := e.call("daemon/status", nil, nil); err != nil {
			unanswered(err, false) // several daemons in a row have ended before they answered
		}
		title := fmt.Sprint(n)
		err := e.call("session/create", obj{"workspace": w.ws, "title": title}, nil)
		if err == nil {
			made[title] = true
			continue
		}
		unanswered(err, true)
		perhaps[title] = true
	}
	require.NotEmpty(t, made)
	for cursor := ""; ; {
		var page rpc.SessionList
		e.must("session/list", obj{"limit": 100, "cursor": cursor}, &page)
		for _, s := range page.Sessions {
			require.True(t, made[s.Title] || perhaps[s.Title], "%s is there once at most, and was asked for", s.Title)
			delete(made, s.Title)
			delete(perhaps, s.Title)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	require.Empty(t, made, "sessions that were lost")
}

// TestManyEditorsStartOneDaemon starts many editors at once; all are served, by one daemon.
func TestManyEditorsStartOneDaemon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 20
	var all sync.WaitGroup
	pids := make([]int, n)
	for i := range n {
		_, conn := w.spawns("cursord")
		e := w.editorOn(conn)
		all.Go(func() {
			var s api.Status
			if err := e.call("daemon/status", nil, &s); err != nil {
				t.Errorf("editor %d: %v", i, err)
			}
			pids[i] = s.PID
		})
	}
	all.Wait()
	for _, pid := range pids {
		require.Equal(t, pids[0], pid)
	}
	// A daemon that comes second ends by itself, and a daemon may ask its agent for the version just now.
	require.Eventually(t, func() bool { return len(processes(t, "CURSORD_SOCKET="+w.socket())) == n+1 }, patience,
		5*time.Millisecond, "the editors' ends and one daemon")
}

// newerProgram returns a copy of the program that was written later.
func (w *world) newerProgram() string {
	w.t.Helper()
	program, err := exec.LookPath("cursord")
	require.NoError(w.t, err)
	newer := filepath.Join(w.dir, "newer", "cursord")
	require.NoError(w.t, os.Mkdir(filepath.Dir(newer), 0o755))
	b, err := os.ReadFile(program)
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(newer, b, 0o755))
	later := time.Now().Add(time.Hour)
	require.NoError(w.t, os.Chtimes(newer, later, later))
	return newer
}

// programOf returns which program a process runs.
func programOf(t *testing.T, pid int) string {
	t.Helper()
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	require.NoError(t, err)
	return name
}

// TestNewerBuildReplacesOlder has a client of a newer build meet an idle daemon, and then one that runs a turn; clients
// of the older build are served by the newer daemon.
func TestNewerBuildReplacesOlder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	newer := w.newerProgram()
	w.start()
	old := w.throughStdio()
	old.must("workspace/trust", obj{"workspace": w.ws, "trusted": true}, nil)
	old.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	pid := old.status().PID
	require.NotEqual(t, newer, programOf(t, pid))

	// Turns are not interrupted.
	w.plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`,
		`{"fake":"exec","argv":["sh","-c","until test -e `+w.dir+`/go; do sleep 0.01; done"]}`,
		`{"type":"result","subtype":"success","result":"done","session_id":"{{session}}"}`)
	turn := old.asks(nil)
	_, conn := w.spawns(newer)
	e := w.editorOn(conn)
	require.Equal(t, 1, e.status().Turns.Running+e.status().Turns.Queued)
	require.NotEqual(t, newer, programOf(t, pid))
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))
	require.Equal(t, sessions.TurnCompleted, old.ends(turn.ID).Status)
	old.reconnected(1)
	require.Equal(t, pid, old.status().PID, "a process stays what a service manager has started")
	require.Equal(t, newer, programOf(t, pid))
	require.Equal(t, pid, e.status().PID)
	audit(t, old.all())

	// The sessions are there, and nobody takes the place back.
	var list rpc.SessionList
	old.must("session/list", nil, &list)
	require.Len(t, list.Sessions, 1)
	_, stderr, status := w.cursord("status")
	require.Zero(t, status, stderr)
	require.Equal(t, newer, programOf(t, pid))
}

// TestNewerCommandReplacesIdleDaemon is the same for a command.
func TestNewerCommandReplacesIdleDaemon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	newer := w.newerProgram()
	w.start()
	cmd := exec.Command(newer, "status", "--json")
	cmd.Env = w.env()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var s api.Status
	require.NoError(t, json.Unmarshal(out, &s), "%s", out)
	require.Equal(t, w.cmd.Process.Pid, s.PID)
	require.Equal(t, newer, programOf(t, s.PID))
	info, err := os.Stat(w.socket())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	w.stop()
	require.NoFileExists(t, w.socket())
}

// freeze stops a process until the test's end. The signal is not enough: on a busy machine its threads may go on for a
// while.
func freeze(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	require.Eventually(t, func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, name := range threads {
			stat, readErr := os.ReadFile(name)
			if readErr != nil || !strings.Contains(string(stat), ") T ") {
				return false
			}
		}
		return err == nil
	}, patience, time.Millisecond)
}

// TestHungDaemon has a daemon that is there and does not answer: clients say so, and how to end it.
func TestHungDaemon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e := w.throughStdio()
	pid := e.status().PID
	freeze(t, pid)

	fresh := w.throughStdio()
	given := make(chan error, 1)
	go func() { given <- fresh.call("session/list", nil, nil) }()
	answered, asked := make(chan error, 1), time.Now()
	go func() { answered <- e.call("session/list", nil, nil) }()
	refused := make(chan string, 1)
	go func() {
		out, _ := w.command("stop").CombinedOutput()
		refused <- string(out)
	}()
	e.until("a word on it", func(n told) bool {
		return n.Method == "log/message" && strings.Contains(n.Message, fmt.Sprintf(`the daemon (process %d) does not answer: "cursord stop --force"`, pid))
	})
	require.Less(t, time.Since(asked), 2*dial.SilentLimit, "who has been served before waits no longer")
	require.Contains(t, <-refused, `"cursord stop --force" ends it`)
	_, told, status := w.cursord("sessions")
	require.Equal(t, 1, status)
	require.Contains(t, told, "cursord: waiting: the daemon (process")
	require.Equal(t, 2, strings.Count(told, `"cursord stop --force" ends it`), "%s", told)
	require.ErrorContains(t, <-given, `"cursord stop --force" ends it`)
	stdout, stderr, status := w.cursord("stop", "--force")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, fmt.Sprintf("the daemon (process %d) did not answer and was killed", pid))
	fresh.must("session/list", nil, nil) // the daemon that was in the way is gone
	require.NoError(t, <-answered, "the next daemon is asked")
	require.NotEqual(t, pid, e.status().PID)
}

//go:build unix

package life

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/sessions"
)

// throughStdio connects an editor by "cursord stdio", as editors do.
func throughStdio(w *world.World, args ...string) *world.Editor {
	w.T.Helper()
	_, conn := w.Spawns("cursord", args...)
	e := w.EditorOn(conn)
	e.Must("initialize", world.Obj{"clientInfo": world.Obj{"name": "test"}}, nil)
	return e
}

// TestReconnectAfterKill kills the daemon again and again under an editor. The editor sees every change once, in order, and
// a log/message about each kill.
func TestReconnectAfterKill(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	e := throughStdio(w)
	e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	seen := map[int]bool{}
	for i := range 3 {
		w.Plays(
			`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`,
			`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"some words"}]},"session_id":"{{session}}","timestamp_ms":1}`,
			`{"fake":"write","path":"{{cwd}}/f","text":"x"}`,
			`{"fake":"hang"}`)
		turn := e.Asks(nil)
		e.Until("text", func(n world.Notification) bool { return n.Method == "item/delta" && n.TurnID == turn.ID })
		s := e.Status()
		require.False(t, seen[s.PID], "a daemon of its own each time")
		seen[s.PID] = true
		waited := make(chan error, 1)
		go func() {
			var ended struct{ Turn *sessions.Turn }
			err := e.Call("turn/wait", world.Obj{"turnId": turn.ID}, &ended)
			if err == nil && ended.Turn.Status != sessions.TurnInterrupted {
				err = fmt.Errorf("the turn is %s", ended.Turn.Status)
			}
			waited <- err
		}()
		require.NoError(t, syscall.Kill(s.PID, syscall.SIGKILL))
		require.Equal(t, sessions.TurnInterrupted, e.Ends(turn.ID).Status)
		require.NoError(t, <-waited, "it is asked again of the next daemon")
		e.Reconnected(i + 1)
	}
	// The next turn works as if nothing had happened.
	w.Plays(`{"type":"result","subtype":"success","result":"done","session_id":"{{session}}"}`)
	require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	world.Audit(t, e.WithoutLostText())
}

// TestReconnectKeepsDocuments: the next daemon knows the unsaved text of an editor.
func TestReconnectKeepsDocuments(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "one\n")
	e := throughStdio(w)
	e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	w.Plays(world.Lines(world.Edits("c", "f", "one\n", "two\n"))...)
	require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
	uri := "file://" + w.Path("f")
	require.NoError(t, e.Client.Notify("document/didOpen", world.Obj{"uri": uri, "version": 1, "text": "two\n"}))
	require.NoError(t, e.Client.Notify("document/didChange", world.Obj{"uri": uri, "version": 2, "text": "two\nmine\n"}))
	require.NoError(t, syscall.Kill(e.Status().PID, syscall.SIGKILL))
	// The reject is answered with edits of the editor's text, and writes nothing.
	var out api.Decided
	require.Eventually(t, func() bool { return e.Call("diff/reject", world.Obj{"workspace": w.Root, "all": true}, &out) == nil }, world.Patience, 10*time.Millisecond)
	require.Len(t, out.Edits, 1)
	require.Equal(t, 2, out.Edits[0].Version)
	require.Equal(t, "two\n", w.Get("f"))
}

// TestStoppedDaemonStaysStopped stops the daemon under an idle editor. The editor joins a daemon that another client starts,
// and its own next request starts one.
func TestStoppedDaemonStaysStopped(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	e := throughStdio(w)
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	stops := func(n int) {
		_, stderr, status := w.Cursord("stop")
		require.Zero(t, status, stderr)
		e.Until("a word on it", func(t world.Notification) bool {
			if strings.Contains(t.Message, "the cursord daemon was stopped") {
				n--
			}
			return n == 0
		})
		stdout, _, _ := w.Cursord("stop")
		require.Equal(t, "no daemon is running\n", stdout)
	}
	stops(1)
	_, stderr, status := w.Cursord("call", "session/create", `{"workspace":"`+w.Root+`","title":"by another"}`)
	require.Zero(t, status, stderr)
	e.Until("what others do", func(t world.Notification) bool { return t.Session != nil && t.Session.Title == "by another" })
	stops(2)
	e.Must("session/create", world.Obj{"workspace": w.Root, "title": "own"}, nil)
	e.Until("what is done oneself", func(t world.Notification) bool { return t.Session != nil && t.Session.Title == "own" })
	world.Audit(t, e.All())
}

// TestReconnectAfterStop makes requests while daemons stop normally. Repeatable requests are repeated. Each other request is
// answered and stored, or fails with a note whether it may have happened.
func TestReconnectAfterStop(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	e := throughStdio(w)
	e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for range 5 {
			if out, err := w.Command("stop").CombinedOutput(); err != nil {
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
		if err := e.Call("daemon/status", nil, nil); err != nil {
			unanswered(err, false) // several daemons in a row have ended before an answer
		}
		title := fmt.Sprint(n)
		err := e.Call("session/create", world.Obj{"workspace": w.Root, "title": title}, nil)
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
		e.Must("session/list", world.Obj{"limit": 100, "cursor": cursor}, &page)
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

// TestManyEditorsStartOneDaemon starts many editors at once: one daemon serves them all.
func TestManyEditorsStartOneDaemon(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	const n = 20
	var all sync.WaitGroup
	pids := make([]int, n)
	for i := range n {
		_, conn := w.Spawns("cursord")
		e := w.EditorOn(conn)
		all.Go(func() {
			var s api.Status
			if err := e.Call("daemon/status", nil, &s); err != nil {
				t.Errorf("editor %d: %v", i, err)
			}
			pids[i] = s.PID
		})
	}
	all.Wait()
	for _, pid := range pids {
		require.Equal(t, pids[0], pid)
	}
	// A second daemon may be about to end, and a daemon may be asking its agent for the version.
	require.Eventually(t, func() bool { return len(world.Processes(t, "CURSORD_SOCKET="+w.Socket())) == n+1 }, world.Patience,
		5*time.Millisecond, "the editors' ends and one daemon")
}

// newerProgram returns a copy of the program with a later modification time.
func newerProgram(w *world.World) string {
	w.T.Helper()
	program, err := exec.LookPath("cursord")
	require.NoError(w.T, err)
	newer := filepath.Join(w.Dir, "newer", "cursord")
	b, err := os.ReadFile(program)
	require.NoError(w.T, err)
	w.Put("../newer/cursord", string(b))
	require.NoError(w.T, os.Chmod(newer, 0o755))
	later := time.Now().Add(time.Hour)
	require.NoError(w.T, os.Chtimes(newer, later, later))
	return newer
}

// programOf returns the path of the program that a process runs.
func programOf(t *testing.T, pid int) string {
	t.Helper()
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	require.NoError(t, err)
	return name
}

// TestNewerBuildReplacesOlder: a client of a newer build meets a daemon that runs a turn. After the turn the newer build
// replaces the daemon, and serves clients of the older build too.
func TestNewerBuildReplacesOlder(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	newer := newerProgram(w)
	w.Start()
	old := throughStdio(w)
	old.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
	old.Must("workspace/subscribe", world.Obj{"workspace": w.Root}, nil)
	pid := old.Status().PID
	require.NotEqual(t, newer, programOf(t, pid))

	// The replacement waits for the turn's end.
	w.Plays(`{"type":"system","subtype":"init","session_id":"{{session}}","model":"m"}`,
		`{"fake":"exec","argv":["sh","-c","until test -e `+w.Dir+`/go; do sleep 0.01; done"]}`,
		`{"type":"result","subtype":"success","result":"done","session_id":"{{session}}"}`)
	turn := old.Asks(nil)
	_, conn := w.Spawns(newer)
	e := w.EditorOn(conn)
	require.Equal(t, 1, e.Status().Turns.Running+e.Status().Turns.Queued)
	require.NotEqual(t, newer, programOf(t, pid))
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "go"), nil, 0o600))
	require.Equal(t, sessions.TurnCompleted, old.Ends(turn.ID).Status)
	old.Reconnected(1)
	require.Equal(t, pid, old.Status().PID, "a process stays what a service manager has started")
	require.Equal(t, newer, programOf(t, pid))
	require.Equal(t, pid, e.Status().PID)
	world.Audit(t, old.All())

	// The sessions are there, and no older client puts its own build back.
	var list rpc.SessionList
	old.Must("session/list", nil, &list)
	require.Len(t, list.Sessions, 1)
	_, stderr, status := w.Cursord("status")
	require.Zero(t, status, stderr)
	require.Equal(t, newer, programOf(t, pid))
}

// TestNewerCommandReplacesIdleDaemon: a command of a newer build replaces an idle daemon.
func TestNewerCommandReplacesIdleDaemon(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	newer := newerProgram(w)
	w.Start()
	cmd := exec.Command(newer, "status", "--json")
	cmd.Env = w.Env()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var s api.Status
	require.NoError(t, json.Unmarshal(out, &s), "%s", out)
	require.Equal(t, w.Cmd.Process.Pid, s.PID)
	require.Equal(t, newer, programOf(t, s.PID))
	info, err := os.Stat(w.Socket())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	w.Stop()
	require.NoFileExists(t, w.Socket())
}

// freeze stops a process until the test's end. It waits until all threads have stopped: on a busy machine some may go on for
// a while after the signal.
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
	}, world.Patience, time.Millisecond)
}

// TestHungDaemon: if the daemon does not answer, clients say so and name the command that ends it.
func TestHungDaemon(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := throughStdio(w)
	pid := e.Status().PID
	freeze(t, pid)

	fresh := throughStdio(w)
	given := make(chan error, 1)
	go func() { given <- fresh.Call("session/list", nil, nil) }()
	answered, asked := make(chan error, 1), time.Now()
	go func() { answered <- e.Call("session/list", nil, nil) }()
	refused := make(chan string, 1)
	go func() {
		out, _ := w.Command("stop").CombinedOutput()
		refused <- string(out)
	}()
	e.Until("a word on it", func(n world.Notification) bool {
		return n.Method == "log/message" && strings.Contains(n.Message, fmt.Sprintf(`the daemon (process %d) does not answer: "cursord stop --force"`, pid))
	})
	require.Less(t, time.Since(asked), 2*dial.SilentLimit, "who has been served before waits no longer")
	require.Contains(t, <-refused, `"cursord stop --force" ends it`)
	_, told, status := w.Cursord("sessions")
	require.Equal(t, 1, status)
	require.Contains(t, told, "cursord: waiting: the daemon (process")
	require.Equal(t, 2, strings.Count(told, `"cursord stop --force" ends it`), "%s", told)
	require.ErrorContains(t, <-given, `"cursord stop --force" ends it`)
	stdout, stderr, status := w.Cursord("stop", "--force")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, fmt.Sprintf("the daemon (process %d) did not answer and was killed", pid))
	fresh.Must("session/list", nil, nil) // the hung daemon is gone
	require.NoError(t, <-answered, "the next daemon is asked")
	require.NotEqual(t, pid, e.Status().PID)
}

// TestEditorsLeaveAKilledDaemonAlone: "cursord stop --force" kills a daemon that hangs. An editor that waits for nothing starts the next daemon
// with its next request, as after any stop. Before, it started one at once.
func TestEditorsLeaveAKilledDaemonAlone(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := throughStdio(w)
	pid := e.Status().PID
	freeze(t, pid)
	stdout, stderr, status := w.Cursord("stop", "--force")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, fmt.Sprintf("the daemon (process %d) did not answer and was killed", pid))
	e.Until("the rest", func(n world.Notification) bool {
		require.NotContains(t, n.Message, "connected to the cursord daemon again")
		return n.Method == "log/message" && strings.Contains(n.Message, "the cursord daemon was stopped; the next request starts it again")
	})
	require.True(t, endpoint.Stopped(w.Socket()), "editors look at this again and again")
	stdout, _, _ = w.Cursord("stop")
	require.Equal(t, "no daemon is running\n", stdout)
	require.NotEqual(t, pid, e.Status().PID)
}

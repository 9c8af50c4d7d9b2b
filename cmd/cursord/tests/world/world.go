//go:build unix

// Package world is the harness of the tests that run cursord as processes. A World is a machine in small: a home, a
// workspace, an agent that plays a script, a daemon. An Editor is a client of that daemon which keeps all it is told. Only
// the agent is faked; the program is cursord as it is built, with what package undertest has.
package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// Patience bounds every wait of these tests; nothing waits for it to pass.
const Patience = 30 * time.Second

// Comes waits until something holds, for a time at most, and reports whether it does. It looks often at first and then less,
// because to look takes the processor from those who are waited for.
func Comes(limit time.Duration, holds func() bool) bool {
	const longest = 50 * time.Millisecond
	end := time.Now().Add(limit)
	for pause := 2 * time.Millisecond; !holds(); pause = min(pause+pause/2, longest) {
		if time.Now().After(end) {
			return false
		}
		<-time.After(pause)
	}
	return true
}

// End is the end of a log: a test that fails should not print a flood.
func End(log string) string {
	const most = 8 << 10
	if len(log) <= most {
		return log
	}
	return fmt.Sprintf("(%d bytes before)…%s", len(log)-most, log[len(log)-most:])
}

// noRaceDelay keeps processes with the race detector from sleeping for a second at their end.
const noRaceDelay = "GORACE=atexit_sleep_ms=0"

// A World is a machine in small: a home, a workspace, an agent that plays a script, and a daemon as a process.
type World struct {
	T       testing.TB
	Dir     string        // all the rest is below it; short, because a socket's path is limited
	Root    string        // of the workspace
	Script  string        // what the agent plays
	runLog  string        // what the agent was started with
	Args    []string      // of cursord serve
	Within  []string      // a command that runs "cursord serve" in its place; nil: none
	Hostile bool          // clients, or a daemon, say what is wrong on purpose
	Log     *bytes.Buffer // what the daemon prints
	Cmd     *exec.Cmd     // the daemon; nil: none
	Ended   chan struct{} // closed when the daemon has ended
}

// New makes a world that ends, with all its processes, with the test.
func New(t testing.TB) *World {
	t.Helper()
	require.NoError(t, ReadSources())
	dir, err := os.MkdirTemp("", "c")
	require.NoError(t, err)
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	w := &World{
		T: t, Dir: dir, Root: filepath.Join(dir, "ws"), Script: filepath.Join(dir, "script"), runLog: filepath.Join(dir, "runs"),
		Log: new(bytes.Buffer),
	}
	require.NoError(t, os.Mkdir(w.Root, 0o755))
	if wires := w.wires(); wires != "" {
		require.NoError(t, os.Mkdir(wires, 0o700))
	}
	cursord, err := exec.LookPath("cursord")
	require.NoError(t, err)
	w.Put("../agent", "#!/bin/sh\nexec "+cursord+" fake-agent \"$@\"\n")
	require.NoError(t, os.Chmod(w.Path("../agent"), 0o755))
	w.Plays(`{"type":"result","subtype":"success","result":"done"}`)
	t.Cleanup(func() {
		w.Kill()
		if wires := w.wires(); wires != "" {
			CheckWires(t, wires, w.Hostile)
		}
		if t.Failed() {
			t.Logf("the daemon's log:\n%s", End(w.Log.String()))
		}
		os.RemoveAll(dir)
	})
	return w
}

// Path is where a file of the workspace is.
func (w *World) Path(name string) string { return filepath.Join(w.Root, filepath.FromSlash(name)) }

// Socket is where the daemon listens.
func (w *World) Socket() string { return filepath.Join(w.Dir, "d.sock") }

// Put writes a file of the workspace, with its folders.
func (w *World) Put(name, text string) {
	w.T.Helper()
	require.NoError(w.T, os.MkdirAll(filepath.Dir(w.Path(name)), 0o755))
	require.NoError(w.T, os.WriteFile(w.Path(name), []byte(text), 0o644))
}

// Get reads a file of the workspace; "(absent)" if it is not there.
func (w *World) Get(name string) string {
	w.T.Helper()
	b, err := os.ReadFile(w.Path(name))
	if errors.Is(err, os.ErrNotExist) {
		return "(absent)"
	}
	require.NoError(w.T, err)
	return string(b)
}

// Plays makes the agent's next turns play these lines.
func (w *World) Plays(lines ...string) {
	w.T.Helper()
	require.NoError(w.T, os.WriteFile(w.Script, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}

// Joins connects an editor to the daemon.
func (w *World) Joins() *Editor {
	w.T.Helper()
	conn, err := net.Dial("unix", w.Socket())
	require.NoError(w.T, err)
	return w.EditorOn(conn)
}

// EditorOn makes an editor of a connection.
func (w *World) EditorOn(conn io.ReadWriteCloser) *Editor {
	e := &Editor{T: w.T, World: w, More: make(chan struct{})}
	e.Client = rpc.NewClient(w.Checked(conn), func(method string, params json.RawMessage) {
		n := Notification{Method: method, At: time.Now()}
		if err := json.Unmarshal(params, &n); err != nil {
			w.T.Errorf("%s: %v", method, err)
		}
		e.Mu.Lock()
		defer e.Mu.Unlock()
		e.Told = append(e.Told, n)
		close(e.More)
		e.More = make(chan struct{})
	})
	w.T.Cleanup(func() { e.Client.Close() })
	return e
}

// Opens connects an editor that has trusted the workspace and subscribed to it.
func (w *World) Opens() *Editor {
	w.T.Helper()
	e := w.Joins()
	e.Must("workspace/trust", Obj{"workspace": w.Root, "trusted": true}, nil)
	e.Must("workspace/subscribe", Obj{"workspace": w.Root}, nil)
	return e
}

// In lets w and e report to a subtest, until the function that it returns is called.
func (w *World) In(t *testing.T, e *Editor) func() {
	parent := w.T
	w.T, e.T = t, t
	return func() { w.T, e.T = parent, parent }
}

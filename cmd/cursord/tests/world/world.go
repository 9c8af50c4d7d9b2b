//go:build unix

// Package world is the harness of the tests that run cursord as processes. A World is a small machine: a home, a workspace,
// an agent that plays a script, a daemon. An Editor is a client of that daemon that keeps all its notifications. Only the
// agent is faked; the program is cursord with package undertest built in.
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
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent/fake"
	"cursord/rpc"
)

// Patience bounds every wait of these tests. No test waits for it to pass.
const Patience = time.Minute

// Comes waits until holds returns true, for limit at most, and reports whether it did. It looks often at first and then less
// often, because looking takes processor time from the processes under test.
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

// End returns the end of a log. Only the end, so that a failed test does not print a flood.
func End(log string) string {
	const most = 8 << 10
	if len(log) <= most {
		return log
	}
	return fmt.Sprintf("(%d bytes before)…%s", len(log)-most, log[len(log)-most:])
}

// noRaceDelay: without it a process with the race detector sleeps for a second at its end.
const noRaceDelay = "GORACE=atexit_sleep_ms=0"

// A World is a small machine: a home, a workspace, an agent that plays a script, and a daemon as a process.
type World struct {
	T        testing.TB
	Dir      string        // the parent of everything else; short, because a socket's path is limited
	Root     string        // the workspace
	Script   string        // the agent's script
	runLog   string        // the agent's runs
	hold     string        // a file that holds back what the daemon answers; "" if no editor looks at it
	Args     []string      // arguments of cursord serve
	Within   []string      // a command that runs "cursord serve" in its place; nil: none
	Hostile  bool          // clients or a daemon send wrong messages on purpose
	Overlays bool          // isolated sessions get overlays where the system has them; set it before the daemon starts
	Huge     bool          // messages are so large, or so many, that they are not checked against the schema; set it before clients connect
	Log      *bytes.Buffer // the daemon's output
	Cmd      *exec.Cmd     // the daemon; nil if there is none
	Ended    chan struct{} // closed when the daemon has ended
}

// Installed puts agents where Cursor's installer puts them: their folder's name is their build. The daemon asks a script that lies
// elsewhere for its build in each turn, which takes as long as a short turn of the fake agent. A package whose tests are not about the
// agent sets it in TestMain.
var Installed bool

// New makes a world. It ends with the test, with all its processes.
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
	agent := "../agent"
	if Installed {
		agent = "../versions/" + fake.Version + "/agent"
		require.NoError(t, os.Symlink(w.Path(agent), w.Path("../agent")))
	}
	w.Put(agent, "#!/bin/sh\nexec "+FakeAgent()+" \"$@\"\n")
	require.NoError(t, os.Chmod(w.Path(agent), 0o755))
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

// Path returns the path of a file of the workspace.
func (w *World) Path(name string) string { return filepath.Join(w.Root, filepath.FromSlash(name)) }

// Socket returns the path of the daemon's socket.
func (w *World) Socket() string { return filepath.Join(w.Dir, "d.sock") }

// Put writes a file of the workspace and makes its folders. The file may be a program: no process that another test starts
// holds it open for writing, for then it could not run ("text file busy").
func (w *World) Put(name, text string) {
	w.T.Helper()
	require.NoError(w.T, os.MkdirAll(filepath.Dir(w.Path(name)), 0o755))
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(w.T, os.WriteFile(w.Path(name), []byte(text), 0o644))
}

// Get reads a file of the workspace; "(absent)" if there is none.
func (w *World) Get(name string) string {
	w.T.Helper()
	b, err := os.ReadFile(w.Path(name))
	if errors.Is(err, os.ErrNotExist) {
		return "(absent)"
	}
	require.NoError(w.T, err)
	return string(b)
}

// Plays makes these lines the script of the agent's next turns.
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

// EditorOn makes an editor that uses a connection.
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

// Opens connects an editor that trusts the workspace and subscribes to it.
func (w *World) Opens() *Editor {
	w.T.Helper()
	e := w.Joins()
	e.Follows()
	return e
}

// Elsewhere makes a new, empty folder the workspace, in a folder of its own beside the others. Cases that need no daemon of
// their own share one in this way.
func (w *World) Elsewhere() {
	w.T.Helper()
	dir, err := os.MkdirTemp(w.Dir, "e")
	require.NoError(w.T, err)
	w.Root = filepath.Join(dir, "ws")
	require.NoError(w.T, os.Mkdir(w.Root, 0o755))
}

// Follows trusts the world's workspace and subscribes to it.
func (e *Editor) Follows() {
	e.T.Helper()
	e.Must("workspace/trust", Obj{"workspace": e.World.Root, "trusted": true}, nil)
	e.Must("workspace/subscribe", Obj{"workspace": e.World.Root}, nil)
}

// In makes w and e report to a subtest until the returned function is called.
func (w *World) In(t *testing.T, e *Editor) func() {
	parent := w.T
	w.T, e.T = t, t
	return func() { w.T, e.T = parent, parent }
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// Patience bounds every wait of these tests; nothing waits for it to pass.
const Patience = 30 * time.Second

// noRaceDelay keeps processes with the race detector from sleeping for a second at their end.
const noRaceDelay = "GORACE=atexit_sleep_ms=0"

// Exit statuses that scripts may rely on.
const (
	StatusOK        = 0
	StatusFailed    = 1
	StatusCancelled = 130 // of a run whose turn was cancelled
)

// A World is a machine in small: a home, a workspace, an agent that plays a script, and a daemon as a process.
type World struct {
	T       testing.TB
	Dir     string // all the rest is below it; short, because a socket's path is limited
	Root    string
	Script  string
	runLog  string   // what the agent was started with
	Args    []string // of cursord serve
	Within  []string // a command that runs "cursord serve" in its place; nil: none
	Hostile bool     // clients, or a daemon, say what is wrong on purpose
	Log     *bytes.Buffer
	Cmd     *exec.Cmd
	Ended   chan struct{}
}

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
			t.Logf("the daemon's log:\n%s", w.Log)
		}
		os.RemoveAll(dir)
	})
	return w
}

func (w *World) Path(name string) string { return filepath.Join(w.Root, filepath.FromSlash(name)) }
func (w *World) Socket() string          { return filepath.Join(w.Dir, "d.sock") }

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

func (w *World) Env(more ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.Dir, "CURSORD_AGENT=" + filepath.Join(w.Dir, "agent"),
		"CURSORD_STATE_DIR=" + filepath.Join(w.Dir, "state"), "CURSORD_SOCKET=" + w.Socket(),
		"CURSORD_CONFIG=" + filepath.Join(w.Dir, "config.toml"), "CURSORD_FAKE_SCRIPT=" + w.Script, "CURSORD_FAKE_LOG=" + w.runLog,
		noRaceDelay, undertest.Meter + "=" + w.Meter(), undertest.Life + "=" + os.Getenv(undertest.Life),
	}
	if wires := w.wires(); wires != "" {
		env = append(env, undertest.Wires+"="+wires, undertest.WiresOf+"=stdio")
	}
	return append(env, more...)
}

// Start starts the daemon and returns when it takes connections.
func (w *World) Start(env ...string) {
	w.T.Helper()
	if !w.ComesUp(env...) {
		w.T.Fatalf("the daemon ended: %s", w.Log)
	}
}

// ComesUp is start for a daemon that may end before it takes connections; then it returns false.
func (w *World) ComesUp(env ...string) bool {
	w.T.Helper()
	w.Cmd = exec.Command("cursord", append([]string{"serve"}, w.Args...)...)
	if w.Within != nil {
		w.Cmd = exec.Command(w.Within[0], append(w.Within[1:len(w.Within):len(w.Within)], w.Cmd.Args...)...)
	}
	w.Cmd.Env = w.Env(env...)
	w.Cmd.Stdout, w.Cmd.Stderr = w.Log, w.Log
	require.NoError(w.T, w.Cmd.Start())
	w.Ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(w.Cmd, w.Ended)
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	for {
		err := w.Answers()
		if err == nil {
			return true
		}
		select {
		case <-w.Ended:
			return false
		case <-ctx.Done():
			w.T.Fatalf("the daemon does not answer: %v", err)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// Answers asks the daemon something. That it can be dialled says little: a child of one that was killed may hold its
// socket for a moment.
func (w *World) Answers() error {
	conn, err := net.Dial("unix", w.Socket())
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`+"\n"); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}

// Kill ends the daemon as a crash would.
func (w *World) Kill() { w.signal(syscall.SIGKILL) }

// Stop ends it as a service manager would.
func (w *World) Stop() { w.signal(syscall.SIGTERM) }

func (w *World) signal(sig syscall.Signal) {
	if w.Cmd == nil {
		return
	}
	_ = w.Cmd.Process.Signal(sig)
	select {
	case <-w.Ended:
	case <-time.After(Patience):
		w.T.Errorf("the daemon did not end after %v", sig)
	}
	w.Cmd = nil
}

// Runs lists what the agent was started with.
func (w *World) Runs() (runs []AgentRun) {
	w.T.Helper()
	b, err := os.ReadFile(w.runLog)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(w.T, err)
	for line := range bytes.Lines(b) {
		var r AgentRun
		require.NoError(w.T, json.Unmarshal(line, &r))
		runs = append(runs, r)
	}
	return runs
}

type AgentRun struct {
	Args    []string `json:"args"`
	Cwd     string   `json:"cwd"`
	Session string   `json:"session"`
	Prompt  string   `json:"prompt"`
}

// Command is the command line with the world's environment.
func (w *World) Command(args ...string) *exec.Cmd {
	cmd := exec.Command("cursord", args...)
	cmd.Env, cmd.Dir = w.Env(), w.Root
	return cmd
}

// Cursord runs the command line and returns what it printed and its exit status.
func (w *World) Cursord(args ...string) (stdout, stderr string, status int) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "cursord", args...)
	cmd.Env, cmd.Dir = w.Env(), w.Root
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(w.T, err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// An Editor is a client that keeps all it was told, in order.
type Editor struct {
	T      testing.TB
	World  *World
	Client *rpc.Client

	Mu   sync.Mutex
	More chan struct{} // closed and replaced at each notification
	Told []Notification
}

// Notification is one notification; the object that it carries is decoded.
type Notification struct {
	Method    string
	Seq       uint64            `json:"seq"`
	Session   *sessions.Session `json:"session"`
	Turn      *sessions.Turn    `json:"turn"`
	Item      *sessions.Item    `json:"item"`
	Diff      *sessions.Diff    `json:"diff"`
	ItemID    string            `json:"itemId"`
	TurnID    string            `json:"turnId"`
	SessionID string            `json:"sessionId"`
	Offset    int               `json:"offset"`
	Text      string            `json:"text"`
	Removed   bool              `json:"removed"`
	Level     string            `json:"level"`
	Message   string            `json:"message"`
	Verbose   string            `json:"verbose"`
	At        time.Time
}

// Joins connects an editor to the daemon.
func (w *World) Joins() *Editor {
	w.T.Helper()
	conn, err := net.Dial("unix", w.Socket())
	require.NoError(w.T, err)
	return w.EditorOn(conn)
}

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

type Obj = map[string]any

func (e *Editor) Call(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	return e.Client.Call(ctx, method, params, result)
}

func (e *Editor) Must(method string, params, result any) {
	e.T.Helper()
	require.NoError(e.T, e.Call(method, params, result), method)
}

// Fails calls and returns the error's code and data.
func (e *Editor) Fails(method string, params any) *rpc.Error {
	e.T.Helper()
	err := e.Call(method, params, nil)
	var failed *rpc.Error
	require.ErrorAs(e.T, err, &failed, method)
	return failed
}

// All returns what was told so far.
func (e *Editor) All() []Notification {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return e.Told[:len(e.Told):len(e.Told)]
}

// Until waits for a notification that fits, told before or after now.
func (e *Editor) Until(what string, fits func(Notification) bool) Notification {
	e.T.Helper()
	deadline := time.After(Patience)
	for seen := 0; ; {
		e.Mu.Lock()
		all, more := e.Told, e.More
		e.Mu.Unlock()
		for ; seen < len(all); seen++ {
			if fits(all[seen]) {
				return all[seen]
			}
		}
		select {
		case <-more:
		case <-e.Client.Done():
			e.T.Fatalf("the connection ended while waiting for %s\n%s", what, e.transcript())
		case <-deadline:
			e.T.Fatalf("waited in vain for %s\n%s", what, e.transcript())
		}
	}
}

func (e *Editor) transcript() string {
	var b strings.Builder
	for _, n := range e.All() {
		line, _ := json.Marshal(n)
		fmt.Fprintf(&b, "%.400s\n", line)
	}
	return b.String()
}

// Asks starts a turn.
func (e *Editor) Asks(params Obj) *sessions.Turn {
	e.T.Helper()
	var started struct {
		Session *sessions.Session
		Turn    *sessions.Turn
	}
	all := Obj{"workspace": e.World.Root, "prompt": "do it"}
	for k, v := range params {
		all[k] = v
	}
	e.Must("turn/start", all, &started)
	return started.Turn
}

// Ends waits for a turn's last notification.
func (e *Editor) Ends(id string) *sessions.Turn {
	e.T.Helper()
	return e.Until("the end of turn "+id, func(n Notification) bool {
		return n.Method == "turn/changed" && n.Turn.ID == id && n.Turn.Status.Final()
	}).Turn
}

// Turn runs one turn to its end.
func (e *Editor) Turn(params Obj) *sessions.Turn {
	e.T.Helper()
	return e.Ends(e.Asks(params).ID)
}

// Diffs lists what is pending, by path.
func (e *Editor) Diffs() map[string]*sessions.Diff {
	e.T.Helper()
	var list struct{ Diffs []*sessions.Diff }
	e.Must("diff/list", Obj{"workspace": e.World.Root}, &list)
	byPath := map[string]*sessions.Diff{}
	for _, d := range list.Diffs {
		byPath[d.Path] = d
	}
	return byPath
}

// Decides accepts or rejects.
func (e *Editor) Decides(method string, params Obj) api.Decided {
	e.T.Helper()
	params["workspace"] = e.World.Root
	var out api.Decided
	e.Must(method, params, &out)
	return out
}

// Items returns the newest form of a turn's items, in order, and checks on the way that the deltas of each item
// are its text.
func (e *Editor) Items(turn string) []*sessions.Item {
	e.T.Helper()
	var items []*sessions.Item
	grown := map[string]string{}
	for _, n := range e.All() {
		switch {
		case n.Method == "item/delta" && n.TurnID == turn:
			require.Equal(e.T, len(grown[n.ItemID]), n.Offset, "offset of a delta of %s", n.ItemID)
			grown[n.ItemID] += n.Text
		case n.Method == "item/changed" && n.Item.TurnID == turn:
			for len(items) <= n.Item.Index {
				items = append(items, nil)
			}
			if old := items[n.Item.Index]; old == nil || n.Item.Text == "" {
				delete(grown, n.Item.ID)
			}
			if n.Item.Kind == sessions.ItemAssistant || n.Item.Kind == sessions.ItemThinking {
				require.Equal(e.T, n.Item.Text, grown[n.Item.ID], "deltas and text of %s", n.Item.ID)
			}
			items[n.Item.Index] = n.Item
		}
	}
	return items
}

// Said returns a turn's items of a kind as texts.
func (e *Editor) Said(turn string, kind sessions.ItemKind) (texts []string) {
	e.T.Helper()
	for _, item := range e.Items(turn) {
		if item.Kind == kind {
			texts = append(texts, item.Text)
		}
	}
	return texts
}

// Message waits for a log/message.
func (e *Editor) Message(level, part string) {
	e.T.Helper()
	e.Until("the message "+part, func(n Notification) bool {
		return n.Method == "log/message" && n.Level == level && strings.Contains(n.Message, part)
	})
}

// Says waits for text of the agent.
func (e *Editor) Says(text string) {
	e.T.Helper()
	e.Until("the agent to say "+text, func(n Notification) bool { return n.Method == "item/delta" && n.Text == text })
}

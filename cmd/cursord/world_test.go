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

// patience bounds every wait of these tests; nothing waits for it to pass.
const patience = 30 * time.Second

// noRaceDelay keeps processes with the race detector from sleeping for a second at their end.
const noRaceDelay = "GORACE=atexit_sleep_ms=0"

// Exit statuses that scripts may rely on.
const (
	statusOK        = 0
	statusFailed    = 1
	statusCancelled = 130 // of a run whose turn was cancelled
)

// A world is a machine in small: a home, a workspace, an agent that plays a script, and a daemon as a process.
type world struct {
	t       testing.TB
	dir     string // all the rest is below it; short, because a socket's path is limited
	ws      string
	script  string
	runLog  string   // what the agent was started with
	args    []string // of cursord serve
	within  []string // a command that runs "cursord serve" in its place; nil: none
	hostile bool     // clients, or a daemon, say what is wrong on purpose
	log     *bytes.Buffer
	cmd     *exec.Cmd
	ended   chan struct{}
}

func newWorld(t testing.TB) *world {
	t.Helper()
	require.NoError(t, readSources())
	dir, err := os.MkdirTemp("", "c")
	require.NoError(t, err)
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	w := &world{
		t: t, dir: dir, ws: filepath.Join(dir, "ws"), script: filepath.Join(dir, "script"), runLog: filepath.Join(dir, "runs"),
		log: new(bytes.Buffer),
	}
	require.NoError(t, os.Mkdir(w.ws, 0o755))
	if wires := w.wires(); wires != "" {
		require.NoError(t, os.Mkdir(wires, 0o700))
	}
	cursord, err := exec.LookPath("cursord")
	require.NoError(t, err)
	w.put("../agent", "#!/bin/sh\nexec "+cursord+" fake-agent \"$@\"\n")
	require.NoError(t, os.Chmod(w.path("../agent"), 0o755))
	w.plays(`{"type":"result","subtype":"success","result":"done"}`)
	t.Cleanup(func() {
		w.kill()
		if wires := w.wires(); wires != "" {
			checkWires(t, wires, w.hostile)
		}
		if t.Failed() {
			t.Logf("the daemon's log:\n%s", w.log)
		}
		os.RemoveAll(dir)
	})
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.ws, filepath.FromSlash(name)) }
func (w *world) socket() string          { return filepath.Join(w.dir, "d.sock") }

// put writes a file of the workspace, with its folders.
func (w *world) put(name, text string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	require.NoError(w.t, os.WriteFile(w.path(name), []byte(text), 0o644))
}

// get reads a file of the workspace; "(absent)" if it is not there.
func (w *world) get(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return "(absent)"
	}
	require.NoError(w.t, err)
	return string(b)
}

// plays makes the agent's next turns play these lines.
func (w *world) plays(lines ...string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(w.script, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}

func (w *world) env(more ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "CURSORD_AGENT=" + filepath.Join(w.dir, "agent"),
		"CURSORD_STATE_DIR=" + filepath.Join(w.dir, "state"), "CURSORD_SOCKET=" + w.socket(),
		"CURSORD_CONFIG=" + filepath.Join(w.dir, "config.toml"), "CURSORD_FAKE_SCRIPT=" + w.script, "CURSORD_FAKE_LOG=" + w.runLog,
		noRaceDelay, undertest.Meter + "=" + w.meter(), undertest.Life + "=" + os.Getenv(undertest.Life),
	}
	if wires := w.wires(); wires != "" {
		env = append(env, undertest.Wires+"="+wires, undertest.WiresOf+"=stdio")
	}
	return append(env, more...)
}

// start starts the daemon and returns when it takes connections.
func (w *world) start(env ...string) {
	w.t.Helper()
	if !w.comesUp(env...) {
		w.t.Fatalf("the daemon ended: %s", w.log)
	}
}

// comesUp is start for a daemon that may end before it takes connections; then it returns false.
func (w *world) comesUp(env ...string) bool {
	w.t.Helper()
	w.cmd = exec.Command("cursord", append([]string{"serve"}, w.args...)...)
	if w.within != nil {
		w.cmd = exec.Command(w.within[0], append(w.within[1:len(w.within):len(w.within)], w.cmd.Args...)...)
	}
	w.cmd.Env = w.env(env...)
	w.cmd.Stdout, w.cmd.Stderr = w.log, w.log
	require.NoError(w.t, w.cmd.Start())
	w.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(w.cmd, w.ended)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := w.answers()
		if err == nil {
			return true
		}
		select {
		case <-w.ended:
			return false
		case <-ctx.Done():
			w.t.Fatalf("the daemon does not answer: %v", err)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// answers asks the daemon something. That it can be dialled says little: a child of one that was killed may hold its
// socket for a moment.
func (w *world) answers() error {
	conn, err := net.Dial("unix", w.socket())
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

// kill ends the daemon as a crash would.
func (w *world) kill() { w.signal(syscall.SIGKILL) }

// stop ends it as a service manager would.
func (w *world) stop() { w.signal(syscall.SIGTERM) }

func (w *world) signal(sig syscall.Signal) {
	if w.cmd == nil {
		return
	}
	_ = w.cmd.Process.Signal(sig)
	select {
	case <-w.ended:
	case <-time.After(patience):
		w.t.Errorf("the daemon did not end after %v", sig)
	}
	w.cmd = nil
}

// runs lists what the agent was started with.
func (w *world) runs() (runs []agentRun) {
	w.t.Helper()
	b, err := os.ReadFile(w.runLog)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(w.t, err)
	for line := range bytes.Lines(b) {
		var r agentRun
		require.NoError(w.t, json.Unmarshal(line, &r))
		runs = append(runs, r)
	}
	return runs
}

type agentRun struct {
	Args    []string `json:"args"`
	Cwd     string   `json:"cwd"`
	Session string   `json:"session"`
	Prompt  string   `json:"prompt"`
}

// command is the command line with the world's environment.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command("cursord", args...)
	cmd.Env, cmd.Dir = w.env(), w.ws
	return cmd
}

// cursord runs the command line and returns what it printed and its exit status.
func (w *world) cursord(args ...string) (stdout, stderr string, status int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "cursord", args...)
	cmd.Env, cmd.Dir = w.env(), w.ws
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(w.t, err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// An editor is a client that keeps all it was told, in order.
type editor struct {
	t testing.TB
	w *world
	c *rpc.Client

	mu   sync.Mutex
	more chan struct{} // closed and replaced at each notification
	told []told
}

// told is one notification; the object that it carries is decoded.
type told struct {
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
	at        time.Time
}

// joins connects an editor to the daemon.
func (w *world) joins() *editor {
	w.t.Helper()
	conn, err := net.Dial("unix", w.socket())
	require.NoError(w.t, err)
	return w.editorOn(conn)
}

func (w *world) editorOn(conn io.ReadWriteCloser) *editor {
	e := &editor{t: w.t, w: w, more: make(chan struct{})}
	e.c = rpc.NewClient(w.checked(conn), func(method string, params json.RawMessage) {
		n := told{Method: method, at: time.Now()}
		if err := json.Unmarshal(params, &n); err != nil {
			w.t.Errorf("%s: %v", method, err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.told = append(e.told, n)
		close(e.more)
		e.more = make(chan struct{})
	})
	w.t.Cleanup(func() { e.c.Close() })
	return e
}

// opens connects an editor that has trusted the workspace and subscribed to it.
func (w *world) opens() *editor {
	w.t.Helper()
	e := w.joins()
	e.must("workspace/trust", obj{"workspace": w.ws, "trusted": true}, nil)
	e.must("workspace/subscribe", obj{"workspace": w.ws}, nil)
	return e
}

// in lets w and e report to a subtest, until the function that it returns is called.
func (w *world) in(t *testing.T, e *editor) func() {
	parent := w.t
	w.t, e.t = t, t
	return func() { w.t, e.t = parent, parent }
}

type obj = map[string]any

func (e *editor) call(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return e.c.Call(ctx, method, params, result)
}

func (e *editor) must(method string, params, result any) {
	e.t.Helper()
	require.NoError(e.t, e.call(method, params, result), method)
}

// fails calls and returns the error's code and data.
func (e *editor) fails(method string, params any) *rpc.Error {
	e.t.Helper()
	err := e.call(method, params, nil)
	var failed *rpc.Error
	require.ErrorAs(e.t, err, &failed, method)
	return failed
}

// all returns what was told so far.
func (e *editor) all() []told {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.told[:len(e.told):len(e.told)]
}

// until waits for a notification that fits, told before or after now.
func (e *editor) until(what string, fits func(told) bool) told {
	e.t.Helper()
	deadline := time.After(patience)
	for seen := 0; ; {
		e.mu.Lock()
		all, more := e.told, e.more
		e.mu.Unlock()
		for ; seen < len(all); seen++ {
			if fits(all[seen]) {
				return all[seen]
			}
		}
		select {
		case <-more:
		case <-e.c.Done():
			e.t.Fatalf("the connection ended while waiting for %s\n%s", what, e.transcript())
		case <-deadline:
			e.t.Fatalf("waited in vain for %s\n%s", what, e.transcript())
		}
	}
}

func (e *editor) transcript() string {
	var b strings.Builder
	for _, n := range e.all() {
		line, _ := json.Marshal(n)
		fmt.Fprintf(&b, "%.400s\n", line)
	}
	return b.String()
}

// asks starts a turn.
func (e *editor) asks(params obj) *sessions.Turn {
	e.t.Helper()
	var started struct {
		Session *sessions.Session
		Turn    *sessions.Turn
	}
	all := obj{"workspace": e.w.ws, "prompt": "do it"}
	for k, v := range params {
		all[k] = v
	}
	e.must("turn/start", all, &started)
	return started.Turn
}

// ends waits for a turn's last notification.
func (e *editor) ends(id string) *sessions.Turn {
	e.t.Helper()
	return e.until("the end of turn "+id, func(n told) bool {
		return n.Method == "turn/changed" && n.Turn.ID == id && n.Turn.Status.Final()
	}).Turn
}

// turn runs one turn to its end.
func (e *editor) turn(params obj) *sessions.Turn {
	e.t.Helper()
	return e.ends(e.asks(params).ID)
}

// diffs lists what is pending, by path.
func (e *editor) diffs() map[string]*sessions.Diff {
	e.t.Helper()
	var list struct{ Diffs []*sessions.Diff }
	e.must("diff/list", obj{"workspace": e.w.ws}, &list)
	byPath := map[string]*sessions.Diff{}
	for _, d := range list.Diffs {
		byPath[d.Path] = d
	}
	return byPath
}

// decides accepts or rejects.
func (e *editor) decides(method string, params obj) api.Decided {
	e.t.Helper()
	params["workspace"] = e.w.ws
	var out api.Decided
	e.must(method, params, &out)
	return out
}

// items returns the newest form of a turn's items, in order, and checks on the way that the deltas of each item
// are its text.
func (e *editor) items(turn string) []*sessions.Item {
	e.t.Helper()
	var items []*sessions.Item
	grown := map[string]string{}
	for _, n := range e.all() {
		switch {
		case n.Method == "item/delta" && n.TurnID == turn:
			require.Equal(e.t, len(grown[n.ItemID]), n.Offset, "offset of a delta of %s", n.ItemID)
			grown[n.ItemID] += n.Text
		case n.Method == "item/changed" && n.Item.TurnID == turn:
			for len(items) <= n.Item.Index {
				items = append(items, nil)
			}
			if old := items[n.Item.Index]; old == nil || n.Item.Text == "" {
				delete(grown, n.Item.ID)
			}
			if n.Item.Kind == sessions.ItemAssistant || n.Item.Kind == sessions.ItemThinking {
				require.Equal(e.t, n.Item.Text, grown[n.Item.ID], "deltas and text of %s", n.Item.ID)
			}
			items[n.Item.Index] = n.Item
		}
	}
	return items
}

// said returns a turn's items of a kind as texts.
func (e *editor) said(turn string, kind sessions.ItemKind) (texts []string) {
	e.t.Helper()
	for _, item := range e.items(turn) {
		if item.Kind == kind {
			texts = append(texts, item.Text)
		}
	}
	return texts
}

// message waits for a log/message.
func (e *editor) message(level, part string) {
	e.t.Helper()
	e.until("the message "+part, func(n told) bool {
		return n.Method == "log/message" && n.Level == level && strings.Contains(n.Message, part)
	})
}

// says waits for text of the agent.
func (e *editor) says(text string) {
	e.t.Helper()
	e.until("the agent to say "+text, func(n told) bool { return n.Method == "item/delta" && n.Text == text })
}

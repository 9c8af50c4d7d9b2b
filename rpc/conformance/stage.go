package conformance

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/dial"
)

// script is what the agent plays: it says where it is in the middle of its turn, and waits there to be let go on.
//
//go:embed agent.ndjson
var script []byte

// stretch is how long nothing comes in the play "slow": shorter than what Go's client takes for a daemon that hangs.
const stretch = 2 * time.Second

// A stage has the folders, the daemon and the proxy of one play.
type stage struct {
	play      play
	program   string
	dir       string
	workspace string
	watch     *watcher
	proxy     *proxy

	daemon *exec.Cmd
	ended  chan struct{} // closed when the daemon has ended; nil: none was started
}

func newStage(program string, p play) (*stage, error) {
	base := os.TempDir()
	if len(base) > 60 && runtime.GOOS != "windows" {
		base = "/tmp" // the path of a socket must be short
	}
	dir, err := os.MkdirTemp(base, "cursord-check-")
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	s := &stage{play: p, program: program, dir: dir, workspace: filepath.Join(dir, "work")}
	s.watch = newWatcher(p, s.file("c.sock"), s.file("d.sock"))
	err = errors.Join(os.Mkdir(s.workspace, 0o700), os.WriteFile(filepath.Join(s.workspace, "greeting.txt"), []byte("hello\n"), 0o600),
		os.WriteFile(s.file("script.ndjson"), script, 0o600), s.writeAgent())
	if err == nil {
		s.proxy, err = newProxy(s.file("c.sock"), s.file("d.sock"), s.watch)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func (s *stage) file(name string) string { return filepath.Join(s.dir, name) }

func (s *stage) agent() string {
	if runtime.GOOS == "windows" {
		return s.file("agent.cmd")
	}
	return s.file("agent")
}

func (s *stage) writeAgent() error {
	wrapper := "#!/bin/sh\nexec '" + strings.ReplaceAll(s.program, "'", `'\''`) + "' fake-agent \"$@\"\n"
	if runtime.GOOS == "windows" {
		wrapper = "@\"" + s.program + "\" fake-agent %*\r\n"
	}
	return os.WriteFile(s.agent(), []byte(wrapper), 0o700)
}

// env is an environment without the user's own cursord, with what is given.
func env(more ...string) []string {
	var list []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CURSORD_") {
			list = append(list, v)
		}
	}
	return append(list, more...)
}

// serve starts a daemon with a database in a folder, trusts the workspace there, and lets the proxy pass.
func (s *stage) serve(ctx context.Context, state string) error {
	cmd := exec.Command(s.program, "serve")
	cmd.Dir = s.dir
	cmd.Env = env("CURSORD_SOCKET="+s.file("d.sock"), "CURSORD_STATE_DIR="+s.file(state), "CURSORD_CONFIG="+s.file("config.toml"),
		"CURSORD_AGENT="+s.agent(), "CURSORD_FAKE_SCRIPT="+s.file("script.ndjson"))
	cmd.SysProcAttr = dial.Detached() // a Ctrl-C is ours
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	s.daemon, s.ended = cmd, ended
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how it ended is what the play is about
	}()
	ctx, cancel := context.WithTimeout(ctx, dial.StartLimit)
	defer cancel()
	for {
		conn, err := endpoint.Dial(ctx, s.file("d.sock"))
		if err == nil {
			own := rpc.NewClient(conn, nil)
			_, err = own.WorkspaceTrust(ctx, rpc.TrustParams{Workspace: s.workspace, Trusted: true})
			s.proxy.pass()
			return errors.Join(err, own.Close())
		}
		select {
		case <-ctx.Done():
			return err
		case <-s.ended:
			return errors.New("the daemon of the check ended at its start")
		case <-time.After(dial.StartPoll):
		}
	}
}

// ask calls the daemon, past the proxy.
func (s *stage) ask(ctx context.Context, method string, params, result any) error {
	conn, err := endpoint.Dial(ctx, s.file("d.sock"))
	if err != nil {
		return err
	}
	own := rpc.NewClient(conn, nil)
	defer own.Close()
	return own.Call(ctx, method, params, result)
}

// open lets the agent go on.
func (s *stage) open() error { return os.WriteFile(s.file("go-on"), nil, 0o600) }

// hold lets nothing come from the daemon for a while, in which the turn ends.
func (s *stage) hold() error {
	s.proxy.hold()
	defer s.proxy.pass()
	if err := s.open(); err != nil {
		return err
	}
	time.Sleep(stretch)
	return nil
}

// crash kills the daemon and starts another one with its database.
func (s *stage) crash() error {
	s.proxy.hold()
	s.watch.lost(false)
	if err := s.daemon.Process.Kill(); err != nil {
		return err
	}
	<-s.ended
	s.proxy.cut()
	return s.serve(context.Background(), "state")
}

// replace ends the daemon and starts another one with an empty database.
func (s *stage) replace() error {
	s.proxy.hold()
	s.watch.lost(true)
	if err := s.stop(); err != nil {
		return err
	}
	s.proxy.cut()
	return s.serve(context.Background(), "other")
}

// stop ends the daemon with its turns.
func (s *stage) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), dial.StartLimit)
	defer cancel()
	if err := s.ask(ctx, "daemon/stop", rpc.StopParams{Force: true}, nil); err != nil && !errors.Is(err, rpc.ErrClosed) {
		return errors.Join(err, s.daemon.Process.Kill())
	}
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return errors.Join(ctx.Err(), s.daemon.Process.Kill())
	}
}

// remove ends everything and removes the folder.
func (s *stage) remove() error {
	var err error
	if s.ended != nil {
		select {
		case <-s.ended:
		default:
			err = s.stop()
			<-s.ended
		}
	}
	s.proxy.close()
	return errors.Join(err, os.RemoveAll(s.dir))
}

// A client is the program that is checked, running.
type client struct {
	ended chan struct{} // closed when it has ended
	err   error         // to be read then

	mu   sync.Mutex
	said bytes.Buffer // on the standard error
}

func (c *client) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.said.Len() < 64<<10 {
		c.said.Write(b)
	}
	return len(b), nil
}

func (c *client) errors() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.String()
}

// start starts the client in the workspace. It is killed when ctx ends.
func (s *stage) start(ctx context.Context, command []string) (*client, error) {
	program, err := exec.LookPath(command[0])
	if err != nil {
		return nil, fmt.Errorf("cannot start the client: %w", err)
	}
	if program, err = filepath.Abs(program); err != nil { // it runs in another folder
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, command[1:]...)
	cmd.Dir = s.workspace
	// A folder of its own for state: it must not find the daemon past the proxy.
	cmd.Env = env("CURSORD_SOCKET="+s.file("c.sock"), "CURSORD_STATE_DIR="+s.file("client"), "CURSORD_CONFIG="+s.file("config.toml"),
		"CURSORD_CHECK="+s.play.name, "CURSORD_CHECK_STATE="+s.file("held.json"), "PWD="+s.workspace)
	c := &client{ended: make(chan struct{})}
	cmd.Stderr = c
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.ended)
		c.err = cmd.Wait()
	}()
	return c, nil
}

// held is what a client says that it holds.
type held struct {
	Turns, Items map[string]string
	Diffs        map[string]uint64
}

// compare holds what the client says that it holds at its end against what the daemon has.
func (s *stage) compare(ctx context.Context) error {
	raw, err := os.ReadFile(s.file("held.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var h held
	if err != nil || json.Unmarshal(raw, &h) != nil {
		s.watch.faultf("what it wrote to CURSORD_CHECK_STATE cannot be read as JSON")
		return nil
	}
	var turns rpc.TurnList
	var diffs rpc.DiffList
	if err := errors.Join(s.ask(ctx, "turn/list", rpc.TurnListParams{Workspace: s.workspace}, &turns),
		s.ask(ctx, "diff/list", rpc.DiffParams{Workspace: s.workspace}, &diffs)); err != nil {
		return err
	}
	has := held{Turns: map[string]string{}, Items: map[string]string{}, Diffs: map[string]uint64{}}
	for _, t := range turns.Turns {
		has.Turns[t.ID] = string(t.Status)
		var page rpc.SessionExportParams
		page.SessionID = t.SessionID
		var read struct {
			Items []struct{ ID, Kind, Text string }
		}
		if err := s.ask(ctx, "session/read", page, &read); err != nil {
			return err
		}
		for _, item := range read.Items {
			if item.Kind != "tool" {
				has.Items[item.ID] = item.Text
			}
		}
	}
	for _, d := range diffs.Diffs {
		has.Diffs[d.Path] = d.Rev
	}
	differ(s.watch, "turn", h.Turns, has.Turns)
	differ(s.watch, "item", h.Items, has.Items)
	if s.play.name != "unsaved" { // where each client has its own
		differ(s.watch, "diff", h.Diffs, has.Diffs)
	}
	return nil
}

// differ returns the first difference between the client's state and the daemon's.
func differ[V comparable](w *watcher, kind string, holds, has map[string]V) {
	if holds == nil {
		return
	}
	for id, value := range has {
		if got, ok := holds[id]; !ok {
			w.faultf("at its end it does not hold %s %s", kind, id)
			return
		} else if got != value {
			w.faultf("at its end it holds %s %s as %v, and it is %v", kind, id, got, value)
			return
		}
	}
	for id := range holds {
		if _, ok := has[id]; !ok && !strings.HasPrefix(id, laterID) {
			w.faultf("at its end it holds %s %s, which does not exist", kind, id)
			return
		}
	}
}

package demo

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/dial"
)

//go:embed script/todo.py
var project []byte

// A world is a folder with a project, an agent and a daemon of its own.
type world struct {
	dir       string
	workspace string
	env       []string
	log       bytes.Buffer // the daemon's log; read it only after the daemon's end

	end   context.CancelFunc // ends the running daemon
	ended chan struct{}      // closed at the daemon's end; nil if none was started
}

// newWorld creates the folder. The caller must call remove.
func newWorld() (*world, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	base := os.TempDir()
	if len(base) > 60 && runtime.GOOS != "windows" {
		base = "/tmp" // because a socket's path must be short
	}
	dir, err := os.MkdirTemp(base, "cursord-demo-")
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	w := &world{dir: dir, workspace: filepath.Join(dir, "todo")}
	w.setEnv()
	if err := w.furnish(program); err != nil {
		return nil, errors.Join(err, w.remove())
	}
	return w, nil
}

func (w *world) file(name string) string { return filepath.Join(w.dir, name) }

// setEnv makes an environment without the user's settings for cursord and git.
func (w *world) setEnv() {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "CURSORD_") && !strings.HasPrefix(name, "GIT_") {
			w.env = append(w.env, v)
		}
	}
	w.env = append(w.env,
		"CURSORD_AGENT="+w.agent(), "CURSORD_SOCKET="+w.file("d.sock"), "CURSORD_STATE_DIR="+w.file("state"),
		"CURSORD_CONFIG="+w.file("config.toml"), "CURSORD_FAKE_SCRIPT="+w.file("script.ndjson"),
	)
}

func (w *world) agent() string {
	if runtime.GOOS == "windows" {
		return w.file("agent.cmd")
	}
	return w.file("agent")
}

// furnish creates the agent and the project. The project is under git if git is installed.
func (w *world) furnish(program string) error {
	wrapper := "#!/bin/sh\nexec '" + strings.ReplaceAll(program, "'", `'\''`) + "' fake-agent \"$@\"\n"
	if runtime.GOOS == "windows" {
		wrapper = "@\"" + program + "\" fake-agent %*\r\n"
	}
	if err := os.WriteFile(w.agent(), []byte(wrapper), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(w.workspace, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.workspace, "todo.py"), project, 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "A to-do list"}} {
		own := []string{"-c", "user.name=demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false"}
		git := exec.Command("git", append(own, args...)...)
		git.Dir, git.Env = w.workspace, append(w.env, "GIT_CONFIG_GLOBAL="+os.DevNull)
		if git.Run() != nil {
			break
		}
	}
	return nil
}

// serve starts a daemon whose agent plays a script. It returns when the daemon accepts connections.
func (w *world) serve(ctx context.Context, script []byte) error {
	if err := os.WriteFile(w.file("script.ndjson"), script, 0o600); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	// Only remove ends the daemon. Each way out of the demo calls it.
	life, end := context.WithCancel(context.Background())
	cmd := exec.CommandContext(life, program, "serve")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.dir, w.env, &w.log, &w.log
	cmd.SysProcAttr = dial.Detached() // Ctrl-C must reach only us
	cmd.Cancel = func() error {
		if cmd.Process.Signal(syscall.SIGTERM) == nil {
			return nil
		}
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = dial.StartLimit
	if err := cmd.Start(); err != nil {
		end()
		return err
	}
	ended := make(chan struct{})
	w.end, w.ended = end, ended
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the log has the reason
	}()
	client, err := w.client(ctx)
	if err != nil {
		return err
	}
	return client.Close()
}

// client connects to the daemon. It waits if the daemon is still starting.
func (w *world) client(ctx context.Context) (*rpc.Client, error) {
	for {
		conn, err := endpoint.Dial(ctx, w.file("d.sock"))
		if err == nil {
			return rpc.NewClient(net.Conn(conn), nil), nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.ended:
			return nil, fmt.Errorf("the daemon ended: %w", err)
		case <-time.After(dial.StartPoll):
		}
	}
}

// run runs a command of this program in the workspace and prints its output on out.
func (w *world) run(ctx context.Context, out io.Writer, args ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.workspace, w.env, out, out
	cmd.SysProcAttr = dial.Detached() // Ctrl-C must reach only us
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cursord %s: %w", args[0], err)
	}
	return nil
}

// stop stops the daemon as "cursord stop" does.
func (w *world) stop(ctx context.Context) error {
	client, err := w.client(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	err = client.DaemonStop(ctx, rpc.StopParams{})
	if err != nil && !errors.Is(err, rpc.ErrClosed) {
		return err
	}
	select {
	case <-w.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// remove ends the daemon and its agents, and removes the folder.
func (w *world) remove() error {
	if w.ended != nil {
		w.end()
		<-w.ended
	}
	return os.RemoveAll(w.dir)
}

//go:build unix

package world

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
)

// CursordOK runs the command line, requires it to succeed, and returns its output.
func (w *World) CursordOK(args ...string) string {
	w.T.Helper()
	out, errOut, status := w.Cursord(args...)
	require.Zero(w.T, status, "%v: %s", args, errOut)
	return out
}

// Logged waits until a log contains a text.
func (w *World) Logged(log func() string, text string) {
	w.T.Helper()
	require.True(w.T, Comes(Patience, func() bool { return strings.Contains(log(), text) }), "not logged: %s", text)
}

// LogFile returns the log of a daemon that runs in the background.
func (w *World) LogFile() string {
	b, err := os.ReadFile(filepath.Join(w.Dir, "state", "cursord.log"))
	require.NoError(w.T, err)
	return string(b)
}

// Exit statuses on which scripts may rely.
const (
	StatusOK        = 0
	StatusFailed    = 1
	StatusCancelled = 130 // the turn was cancelled
)

// Env is the environment of the world's processes, with more variables at its end.
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
	if w.hold != "" {
		env = append(env, undertest.Hold+"="+w.hold)
	}
	return append(env, more...)
}

// HoldsBack has editors that start from now on get no answers to these methods, and nothing that comes behind such an
// answer, until LetsGo.
func (w *World) HoldsBack(methods ...string) {
	w.T.Helper()
	w.hold = filepath.Join(w.Dir, "hold")
	require.NoError(w.T, os.WriteFile(w.hold+"~", []byte(strings.Join(methods, "\n")), 0o600))
	require.NoError(w.T, os.Rename(w.hold+"~", w.hold))
}

// LetsGo lets what is held back go.
func (w *World) LetsGo() {
	w.T.Helper()
	require.NoError(w.T, os.Remove(w.hold))
}

// Start starts the daemon and returns when it takes connections.
func (w *World) Start(env ...string) {
	w.T.Helper()
	if !w.ComesUp(env...) {
		w.T.Fatalf("the daemon ended: %s", w.Log)
	}
}

// ComesUp is Start for a daemon that may end before it takes connections. It returns false if the daemon ended.
func (w *World) ComesUp(env ...string) bool {
	w.T.Helper()
	if w.Overlays {
		w.allowOverlays()
	}
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

// ComesBack starts the daemon, unless a client has started one already, and returns when it takes connections.
func (w *World) ComesBack() {
	w.T.Helper()
	if w.ComesUp() {
		return
	}
	w.T.Cleanup(func() { w.Cursord("stop", "--force") })
	require.Eventually(w.T, func() bool { return w.Answers() == nil }, Patience, 5*time.Millisecond)
}

// allowOverlays sets this in the configuration.
func (w *World) allowOverlays() {
	const line = "isolation_tree = \"auto\"\n"
	if text := w.Get("../config.toml"); text == "(absent)" {
		w.Put("../config.toml", line)
	} else if !strings.Contains(text, line) {
		w.Put("../config.toml", line+text)
	}
}

// Answers asks the daemon for its status. A successful dial alone proves little: a child of a killed daemon may hold its
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

// Stop ends the daemon as a service manager would.
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

// Command is the command line with the world's environment.
func (w *World) Command(args ...string) *exec.Cmd {
	cmd := exec.Command("cursord", args...)
	cmd.Env, cmd.Dir = w.Env(), w.Root
	return cmd
}

// Cursord runs the command line and returns its output and its exit status.
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

//go:build unix

package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestServiceWithoutItsManager uses a systemctl that reaches no systemd, as in containers and for root: nothing is changed.
// Where systemd has gone since, or fails later, the files that were written can be removed.
func TestServiceWithoutItsManager(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("systemd's")
	}
	w := world.New(t)
	w.Put("../bin/systemctl", "#!/bin/sh\ncase $2 in show) ;; *) echo \"$@\" >>"+w.Dir+"/asked;; esac\ntest -e "+w.Dir+"/up && exit\n"+
		"test $2 = show && test -e "+w.Dir+"/half && exit\necho 'Failed to connect to bus' >&2\nexit 1\n")
	require.NoError(t, os.Chmod(w.Path("../bin/systemctl"), 0o755))
	run := func(args ...string) (string, error) {
		cmd := w.Command(append([]string{"service"}, args...)...)
		cmd.Env = w.Env("PATH=" + filepath.Join(w.Dir, "bin") + ":" + os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	units := filepath.Join(w.Dir, ".config", "systemd", "user")
	out, err := run("install")
	require.Error(t, err)
	require.Contains(t, out, "Failed to connect to bus\nnothing was changed")
	require.NoDirExists(t, units)
	require.NoFileExists(t, filepath.Join(w.Dir, "asked"))

	w.Put("../half", "")
	out, err = run("install")
	require.Error(t, err)
	require.Contains(t, out, "Failed to connect to bus\nthe service files are written, but the service is not running")
	require.FileExists(t, filepath.Join(units, "cursord.socket"))
	out, err = run("uninstall")
	require.NoError(t, err, out)
	require.Contains(t, out, "disable --now cursord.socket: exit status 1: Failed to connect to bus")
	left, err := os.ReadDir(units)
	require.NoError(t, err)
	require.Empty(t, left)

	w.Put("../up", "")
	require.NoError(t, os.Remove(filepath.Join(w.Dir, "asked")))
	for _, command := range []string{"install", "install", "uninstall", "uninstall"} {
		out, err = run(command)
		require.NoError(t, err, out)
	}
	require.Equal(t, "the service is not installed\n", out)
	start := "--user daemon-reload\n--user enable --now cursord.socket\n"
	require.Equal(t, start+start+"--user disable --now cursord.socket\n--user stop cursord.service\n--user daemon-reload\n", w.Get("../asked"))
}

// activated starts a daemon as systemd does: with a socket that is already listening.
func activated(w *world.World, t *testing.T) (*exec.Cmd, *net.UnixListener) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.Socket(), Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	t.Cleanup(func() { l.Close() })
	f, err := l.File()
	require.NoError(t, err)
	defer f.Close()
	cmd := exec.Command("sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=cursord.socket exec cursord serve --detached")
	cmd.Env, cmd.ExtraFiles = w.Env(), []*os.File{f}
	require.NoError(t, cmd.Start())
	return cmd, l
}

// TestSocketActivation passes a socket to the daemon. The daemon serves at it, and neither removes it nor passes it on.
func TestSocketActivation(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	cmd, l := activated(w, t)
	e := w.Opens()
	require.Equal(t, cmd.Process.Pid, e.Status().PID)
	require.Equal(t, w.Socket(), e.Status().Socket)

	// The agent gets neither the socket nor its variables.
	w.Plays(`{"fake":"exec","argv":["sh","-c","env >env; ls -l /proc/$PPID/fd >fds"]}`, world.Done)
	e.Turn(nil)
	require.NotContains(t, w.Get("env"), "LISTEN_")
	require.NotContains(t, w.Get("fds"), "socket:")

	// Only one daemon runs at a time. The next one serves at the same socket.
	out, err := w.Command("serve").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "already running (process "+strconv.Itoa(cmd.Process.Pid)+")")
	_, stderr, status := w.Cursord("stop")
	require.Zero(t, status, stderr)
	require.NoError(t, cmd.Wait())
	require.FileExists(t, w.Socket())
	require.NoError(t, l.Close())
	require.NoError(t, os.Remove(w.Socket()))
	cmd, _ = activated(w, t)
	require.Equal(t, cmd.Process.Pid, w.Joins().Status().PID)
	_, stderr, status = w.Cursord("stop")
	require.Zero(t, status, stderr)
	require.NoError(t, cmd.Wait())
}

// TestSocketActivationElsewhere passes a socket at which no client would look for the daemon.
func TestSocketActivationElsewhere(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	l, err := net.Listen("unix", filepath.Join(w.Dir, "other"))
	require.NoError(t, err)
	defer l.Close()
	f, err := l.(*net.UnixListener).File()
	require.NoError(t, err)
	defer f.Close()
	cmd := exec.Command("sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec cursord serve")
	cmd.Env, cmd.ExtraFiles = w.Env(), []*os.File{f}
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), `other, and clients look for `+w.Socket()+`: run "cursord service install" again`)
}

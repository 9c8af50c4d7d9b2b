//go:build linux

package life

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/daemon/endpoint"
)

// User ids that no account of the machine has.
const (
	somebody = 54321
	attacker = 54322
)

// as makes a command run as a user.
func as(uid uint32, cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	cmd.Dir = "/"
	return cmd
}

// TestAnotherUserMadeTheSocketsFolder: another user makes the folder of this user's socket first, with misleading files in
// it. No command waits for them, believes them or ends a process because of them.
func TestAnotherUserMadeTheSocketsFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run something as another user")
	}
	w := world.New(t)
	program, err := exec.LookPath("cursord")
	require.NoError(t, err)
	b, err := os.ReadFile(program)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(w.Dir, 0o755))
	w.Put("../bin/cursord", string(b))
	require.NoError(t, os.Chmod(w.Path("../bin/cursord"), 0o755))
	// This path is too long for a socket below it.
	state := filepath.Join(w.Dir, "somebody", strings.Repeat("s", 100))
	require.NoError(t, os.MkdirAll(state, 0o700))
	for _, dir := range []string{state, filepath.Dir(state)} {
		require.NoError(t, os.Chown(dir, somebody, somebody))
	}
	for _, name := range []string{"CURSORD_SOCKET", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, "")
	}
	t.Setenv("CURSORD_STATE_DIR", state)
	dirs, err := endpoint.FindDirs()
	require.NoError(t, err)
	socket := strings.Replace(dirs.Socket, "cursord-0", fmt.Sprint("cursord-", somebody), 1)
	folder := filepath.Dir(socket)
	require.Equal(t, fmt.Sprint("/tmp/cursord-", somebody), folder)
	require.NoFileExists(t, folder)
	defer os.RemoveAll(folder)

	victim := as(somebody, exec.Command("sleep", "1000"))
	require.NoError(t, victim.Start())
	defer victim.Wait()
	defer victim.Process.Kill()
	plants := map[string]func(){
		"a lock that names a process": func() {
			lock, err := os.Create(socket + ".lock")
			require.NoError(t, err)
			t.Cleanup(func() { lock.Close() })
			_, err = fmt.Fprintf(lock, "%d\nserving\n", victim.Process.Pid)
			require.NoError(t, err)
			require.NoError(t, lock.Chown(attacker, attacker))
			require.NoError(t, lock.Chmod(0o644))
			require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
		},
		"a pipe": func() {
			require.NoError(t, syscall.Mkfifo(socket+".lock", 0o666))
			require.NoError(t, syscall.Mkfifo(socket, 0o666))
		},
		"endless files": func() {
			require.NoError(t, os.Symlink("/dev/zero", socket+".lock"))
			require.NoError(t, os.Symlink("/dev/zero", socket))
		},
		"a process that listens and answers nothing": func() {
			l, err := net.Listen("unix", socket)
			require.NoError(t, err)
			t.Cleanup(func() { l.Close() })
			require.NoError(t, os.Chmod(socket, 0o777))
		},
		"a link to the user's own folder": func() {
			require.NoError(t, os.Remove(folder))
			require.NoError(t, os.Symlink(state, folder))
		},
	}
	for name, plant := range plants {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(folder))
			require.NoError(t, os.Mkdir(folder, 0o755))
			require.NoError(t, os.Chown(folder, attacker, attacker))
			plant()
			says := fmt.Sprintf("%s belongs to user %d, not to you (%d): set CURSORD_SOCKET to a place in a folder of your own", folder, attacker, somebody)
			if name == "a link to the user's own folder" {
				says = folder + " is a symbolic link; it must be a directory"
			}
			for _, args := range []string{"status", "doctor", "stop", "stop --force", "serve", "sessions", "stdio"} {
				ctx, cancel := context.WithTimeout(context.Background(), world.Patience)
				defer cancel()
				cmd := as(somebody, exec.CommandContext(ctx, filepath.Join(w.Dir, "bin", "cursord"), strings.Fields(args)...))
				cmd.Env = append(w.Env(), "CURSORD_SOCKET=", "XDG_RUNTIME_DIR=", "CURSORD_STATE_DIR="+state, "HOME="+filepath.Dir(state))
				cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"daemon/status"}` + "\n")
				out, err := cmd.CombinedOutput()
				require.NoError(t, ctx.Err(), args)
				require.Error(t, err, args)
				require.Contains(t, string(out), says, args)
			}
			require.NoError(t, victim.Process.Signal(syscall.Signal(0)))
		})
	}
}

// TestStopForceKillsDaemonsAlone: the lock names a process that is not the daemon, for example because the system reused an
// old daemon's id.
func TestStopForceKillsDaemonsAlone(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	other := exec.Command("sleep", "1000")
	require.NoError(t, other.Start())
	defer other.Wait()
	defer other.Process.Kill()
	lock, err := os.Create(w.Socket() + ".lock")
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	for _, pid := range []int{other.Process.Pid, -other.Process.Pid} {
		require.NoError(t, lock.Truncate(0))
		_, err = lock.WriteAt(fmt.Appendf(nil, "%d\nserving\n", pid), 0)
		require.NoError(t, err)
		_, says, status := w.Cursord("stop", "--force")
		require.Equal(t, 1, status)
		if pid > 0 {
			require.Contains(t, says, fmt.Sprintf("process %d, which %s.lock names, was not killed: it is not the daemon that holds the lock", pid, w.Socket()))
		} else {
			require.Contains(t, says, "has not written its process id to "+w.Socket()+".lock")
		}
		require.NoError(t, other.Process.Signal(syscall.Signal(0)))
	}
}

// TestDaemonStaysWhereItListens: a newer build replaces a daemon from an environment with another place for the socket. All
// clients find it.
func TestDaemonStaysWhereItListens(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	runtime := filepath.Join(w.Dir, "run")
	require.NoError(t, os.Mkdir(runtime, 0o700))
	status := func(program string, env ...string) (s api.Status) {
		cmd := exec.Command(program, "status", "--json")
		cmd.Env = w.Env(append([]string{"CURSORD_SOCKET="}, env...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NoError(t, json.Unmarshal(out, &s), "%s", out)
		return s
	}
	there := "XDG_RUNTIME_DIR=" + runtime
	first := status("cursord", there)
	socket := filepath.Join(runtime, "cursord", "d.sock")
	require.Equal(t, socket, first.Socket)
	defer func() { require.NoError(t, syscall.Kill(first.PID, syscall.SIGTERM)) }()
	require.NoError(t, os.Chmod(runtime, 0o755)) // no longer allowed as a place for a socket
	newer := newerProgram(w)
	for _, program := range []string{newer, "cursord"} {
		for _, env := range []string{there, "XDG_RUNTIME_DIR="} {
			next := status(program, env)
			require.Equal(t, first.PID, next.PID)
			require.Equal(t, socket, next.Socket)
			require.Equal(t, newer, programOf(t, next.PID))
		}
	}
}

// TestSocketWithoutARuntimeDirectory: the daemon listens below its state folder.
func TestSocketWithoutARuntimeDirectory(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	run := func(args ...string) string {
		cmd := exec.Command("cursord", args...)
		cmd.Env = w.Env("CURSORD_SOCKET=", "XDG_RUNTIME_DIR=")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Contains(t, run("status"), "socket      "+filepath.Join(w.Dir, "state", "run", "d.sock")+"\n")
	info, err := os.Stat(filepath.Join(w.Dir, "state", "run"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	run("stop")
}

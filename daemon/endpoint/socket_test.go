//go:build unix

package endpoint

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestListenRefuses(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string)
		chosen  bool
		err     string
	}{
		{name: "a folder others can write to", chosen: true, err: "open to other users (mode 0770)",
			prepare: func(t *testing.T, dir string) {
				require.NoError(t, os.Mkdir(dir, 0o700))
				require.NoError(t, os.Chmod(dir, 0o770))
			}},
		{name: "a folder others can enter", err: "open to other users (mode 0755)",
			prepare: func(t *testing.T, dir string) {
				require.NoError(t, os.Mkdir(dir, 0o700))
				require.NoError(t, os.Chmod(dir, 0o755))
			}},
		{name: "a link", err: "is a symbolic link",
			prepare: func(t *testing.T, dir string) {
				require.NoError(t, os.Mkdir(dir+"2", 0o700))
				require.NoError(t, os.Symlink(dir+"2", dir))
			}},
		{name: "a file", err: "not a directory",
			prepare: func(t *testing.T, dir string) { require.NoError(t, os.WriteFile(dir, nil, 0o600)) }},
		{name: "a file in the socket's place", err: "is not a socket: move it away",
			prepare: func(t *testing.T, dir string) {
				require.NoError(t, os.Mkdir(dir, 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "d.sock"), []byte("mine"), 0o600))
			}},
		{name: "a link in the lock's place", err: "d.sock.lock",
			prepare: func(t *testing.T, dir string) {
				require.NoError(t, os.Mkdir(dir, 0o700))
				require.NoError(t, os.Symlink(dir+"/elsewhere", filepath.Join(dir, "d.sock.lock")))
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(shortDir(t), "d")
			test.prepare(t, dir)
			_, err := Dirs{Socket: filepath.Join(dir, "d.sock"), socketChosen: test.chosen}.Listen()
			require.ErrorContains(t, err, test.err)
		})
	}
}

func TestListenAcceptsReadableFolderThatWasChosen(t *testing.T) {
	dir := shortDir(t)
	require.NoError(t, os.Chmod(dir, 0o755))
	e, err := Listen(filepath.Join(dir, "d.sock"))
	require.NoError(t, err)
	info, err := os.Lstat(e.Path())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, e.Release())
}

// TestListenAfterAKill: a daemon was killed while it started a process, and that process holds the lock for a moment. Listen
// waits.
func TestListenAfterAKill(t *testing.T) {
	path := filepath.Join(shortDir(t), "d.sock")
	killed := exec.Command("true")
	require.NoError(t, killed.Run())
	lock, err := os.Create(path + ".lock")
	require.NoError(t, err)
	fmt.Fprintln(lock, killed.ProcessState.Pid())
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	time.AfterFunc(20*time.Millisecond, func() { lock.Close() })
	e, err := Listen(path)
	require.NoError(t, err)
	require.NoError(t, e.Release())
}

// TestListenWhileSomebodyLooks: a client holds the lock for a moment, to see whether there is a daemon. Listen waits.
func TestListenWhileSomebodyLooks(t *testing.T) {
	path := filepath.Join(shortDir(t), "d.sock")
	looked, err := os.Create(path + ".lock")
	require.NoError(t, err)
	fmt.Fprintln(looked, os.Getpid())
	require.NoError(t, syscall.Flock(int(looked.Fd()), syscall.LOCK_SH))
	time.AfterFunc(20*time.Millisecond, func() { looked.Close() })
	e, err := Listen(path)
	require.NoError(t, err)
	require.True(t, Running(path))
	require.NoError(t, e.Release())
	require.False(t, Running(path))
}

func TestListenRace(t *testing.T) {
	path := filepath.Join(shortDir(t), "new", "d.sock")
	const n = 8
	var wg sync.WaitGroup
	endpoints, errs := make([]*Listener, n), make([]error, n)
	for i := range n {
		wg.Go(func() { endpoints[i], errs[i] = Listen(path) })
	}
	wg.Wait()
	var winner *Listener
	for i := range n {
		if errs[i] == nil {
			require.Nil(t, winner)
			winner = endpoints[i]
			continue
		}
		require.ErrorIs(t, errs[i], ErrRunning)
	}
	require.NotNil(t, winner)
	require.Equal(t, os.Getpid(), LockHolder(path))
	requireServed(t, winner)
	require.NoError(t, winner.Release())
}

// requireServed dials e and passes a line through it.
func requireServed(t *testing.T, e *Listener) {
	t.Helper()
	served := make(chan error, 1)
	go func() {
		conn, err := e.Accept()
		if err == nil {
			_, err = io.WriteString(conn, "hello\n")
			conn.Close()
		}
		served <- err
	}()
	conn, err := Dial(context.Background(), e.Path())
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "hello\n", line)
	require.NoError(t, conn.Close())
	require.NoError(t, <-served)
}

func TestCloseAndRelease(t *testing.T) {
	path := filepath.Join(shortDir(t), "d.sock")
	_, err := Dial(context.Background(), path)
	require.True(t, NotListening(err), err)
	require.False(t, Running(path))

	e, err := Listen(path)
	require.NoError(t, err)
	accepted := make(chan error, 1)
	go func() {
		_, err := e.Accept()
		accepted <- err
	}()
	require.NoError(t, e.Close())
	require.ErrorIs(t, <-accepted, net.ErrClosed)

	// It no longer accepts, and is still the daemon.
	require.True(t, Running(path))
	_, err = Dial(context.Background(), path)
	require.True(t, NotListening(err), err)
	_, err = Listen(path)
	require.ErrorIs(t, err, ErrRunning)

	require.NoError(t, e.Release())
	require.NoFileExists(t, path)
	require.FileExists(t, path+".lock")
	require.False(t, Running(path))

	// The old daemon no longer touches the next daemon's socket.
	next, err := Listen(path)
	require.NoError(t, err)
	require.NoError(t, e.Release())
	requireServed(t, next)
	require.NoError(t, next.Release())
}

// listensElsewhere has another process listen at a path until it is killed.
func listensElsewhere(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestListenAfterKill$")
	cmd.Env = append(os.Environ(), listenVariable+"="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "listening\n", line)
	return cmd
}

const listenVariable = "CURSORD_TEST_HOLD"

// TestListenAfterKill: a killed daemon leaves its socket and its lock file; the next daemon replaces them.
func TestListenAfterKill(t *testing.T) {
	if path := os.Getenv(listenVariable); path != "" {
		e, err := Listen(path)
		require.NoError(t, err)
		os.Stdout.WriteString("listening\n")
		for {
			if _, err := e.Accept(); err != nil {
				return
			}
		}
	}
	path := filepath.Join(shortDir(t), "d.sock")
	cmd := listensElsewhere(t, path)
	_, err := Listen(path)
	require.ErrorIs(t, err, ErrRunning)
	require.Equal(t, cmd.Process.Pid, LockHolder(path))

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.FileExists(t, path)
	_, err = Dial(context.Background(), path)
	require.True(t, NotListening(err), err)
	e, err := Listen(path)
	require.NoError(t, err)
	requireServed(t, e)
	require.NoError(t, e.Release())
}

// TestOthersStayOutside puts another user at each end of a socket with wrong modes, which let everybody in.
func TestOthersStayOutside(t *testing.T) {
	const variable, nobody = "CURSORD_TEST_OTHER", 65534
	if path := os.Getenv(variable); path != "" {
		raw, err := net.Dial("unix", path)
		require.NoError(t, err)
		_, err = raw.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, "it is let in")
		_, err = Dial(context.Background(), path)
		require.ErrorIs(t, err, ErrForeign)
		require.ErrorContains(t, err, "the process that listens is user 0's, not yours (65534)")
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can run something as another user")
	}
	e, err := Listen(filepath.Join(shortDir(t), "d.sock"))
	require.NoError(t, err)
	defer e.Release()
	require.NoError(t, os.Chmod(filepath.Dir(e.Path()), 0o755))
	require.NoError(t, os.Chmod(e.Path(), 0o666))
	// The check must not depend on the files' owner alone.
	require.NoError(t, os.Chown(filepath.Dir(e.Path()), nobody, nobody))
	require.NoError(t, os.Chown(e.Path(), nobody, nobody))
	accepted := make(chan error, 1)
	go func() {
		conn, err := e.Accept()
		if err == nil {
			conn.Close()
		}
		accepted <- err
	}()
	program, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	other := filepath.Join(filepath.Dir(e.Path()), "other")
	require.NoError(t, os.WriteFile(other, program, 0o755))
	cmd := exec.Command(other, "-test.run=^TestOthersStayOutside$")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), variable+"="+e.Path())
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, e.Close())
	require.ErrorIs(t, <-accepted, net.ErrClosed, "nobody has come in")
}

// TestFoldersOfOthers: a user's folders belong to another user.
func TestFoldersOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give folders away")
	}
	dir := filepath.Join(shortDir(t), "d")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chown(dir, 65534, 65534))
	_, err := Dirs{Socket: filepath.Join(dir, "d.sock")}.Listen()
	require.ErrorContains(t, err, dir+" belongs to user 65534, not to you (0)")
	require.ErrorContains(t, Dirs{State: dir}.MakeState(), "belongs to user 65534")
	t.Setenv("CURSORD_SOCKET", "")
	t.Setenv("XDG_RUNTIME_DIR", dir)
	path, err := socketPath("/nowhere")
	require.NoError(t, err)
	require.Equal(t, "/nowhere/run/d.sock", path)
}

//go:build unix

package endpoint

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// plants are things that another user may have put in the place of our file. The files among them say "serving" in the
// second line.
func plants(t *testing.T) map[string]func(path string) {
	signed := []byte("4242\nserving\n")
	plants := map[string]func(path string){
		"a pipe":          func(path string) { require.NoError(t, syscall.Mkfifo(path, 0o666)) },
		"a folder":        func(path string) { require.NoError(t, os.Mkdir(path, 0o777)) },
		"an endless file": func(path string) { require.NoError(t, os.Symlink("/dev/zero", path)) },
		"a link to a file": func(path string) {
			require.NoError(t, os.WriteFile(path+".elsewhere", signed, 0o600))
			require.NoError(t, os.Symlink(path+".elsewhere", path))
		},
	}
	if os.Geteuid() == 0 {
		plants["another's file"] = func(path string) {
			require.NoError(t, os.WriteFile(path, signed, 0o644))
			require.NoError(t, os.Chown(path, 65534, 65534))
		}
	}
	return plants
}

func requireUnread(t *testing.T, socket string) {
	t.Helper()
	require.Zero(t, LockHolder(socket))
	require.False(t, Serving(socket))
	require.False(t, Stopped(socket))
	require.False(t, Running(socket))
	require.Error(t, KillDaemon(socket, 4242))
}

// TestForgedLocks puts other things in the place of the lock: no function believes them or waits for them.
func TestForgedLocks(t *testing.T) {
	for name, plant := range plants(t) {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(shortDir(t), "d.sock")
			plant(socket + ".lock")
			requireUnread(t, socket)
			_, err := Listen(socket)
			require.ErrorContains(t, err, socket)
		})
	}
	folders := map[string]func(dir string) string{
		"open": func(dir string) string {
			require.NoError(t, os.Chmod(dir, 0o777))
			return "is open to other users (mode 0777)"
		},
		"a link": func(dir string) string {
			require.NoError(t, os.Rename(dir, dir+"2"))
			require.NoError(t, os.Symlink(dir+"2", dir))
			return "is a symbolic link"
		},
	}
	if os.Geteuid() == 0 {
		folders["another's"] = func(dir string) string {
			require.NoError(t, os.Chown(dir, 65534, 65534))
			return "belongs to user 65534, not to you (0): set CURSORD_SOCKET to a place in a folder of your own"
		}
	}
	for name, give := range folders {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(shortDir(t), "d")
			require.NoError(t, os.Mkdir(dir, 0o700))
			socket := filepath.Join(dir, "d.sock")
			require.NoError(t, os.WriteFile(socket+".lock", []byte("4242\nserving\nstopped\n"), 0o600))
			require.Equal(t, 4242, LockHolder(socket))
			require.True(t, Serving(socket))
			says := give(dir)
			requireUnread(t, socket)
			_, err := Dial(context.Background(), socket)
			require.ErrorContains(t, err, says)
			require.False(t, NotListening(err) || Backlogged(err))
		})
	}
	t.Run("a huge one", func(t *testing.T) {
		socket := filepath.Join(shortDir(t), "d.sock")
		require.NoError(t, os.WriteFile(socket+".lock", []byte(strings.Repeat("1", maxNote+1)+"\nserving\n"), 0o600))
		require.NoError(t, os.Truncate(socket+".lock", 1<<40))
		require.Zero(t, LockHolder(socket))
		require.False(t, Serving(socket))
	})
}

// TestForgedNotes: a note beside the database that another user can have written leads to no daemon.
func TestForgedNotes(t *testing.T) {
	dir := shortDir(t)
	there, err := Listen(filepath.Join(dir, "there", "d.sock"))
	require.NoError(t, err)
	defer there.Release()
	require.NoError(t, there.MarkServing())
	finds := func(state string) string {
		for _, name := range []string{"CURSORD_SOCKET", "CURSORD_CONFIG", "XDG_RUNTIME_DIR"} {
			t.Setenv(name, "")
		}
		t.Setenv("HOME", dir)
		t.Setenv("CURSORD_STATE_DIR", state)
		d, err := FindDaemon()
		require.NoError(t, err)
		return d.Socket
	}
	all := plants(t)
	all["a note that is open to all"] = nil
	for name, plant := range all {
		d := Dirs{State: filepath.Join(dir, name), Socket: there.Path()}
		require.NoError(t, d.MakeState())
		if plant == nil {
			require.NoError(t, d.NoteSocket())
			require.Equal(t, there.Path(), finds(d.State))
			require.NoError(t, os.Chmod(d.State, 0o777))
		} else {
			plant(d.note())
		}
		require.Equal(t, filepath.Join(d.State, "run", "d.sock"), finds(d.State), name)
	}
}

// TestOnlyDaemonsAreKilled: a held lock names a process that is not the daemon. It is not killed.
func TestOnlyDaemonsAreKilled(t *testing.T) {
	socket := filepath.Join(shortDir(t), "d.sock")
	other := exec.Command("sleep", "1000")
	require.NoError(t, other.Start())
	defer other.Wait()
	defer other.Process.Kill()
	lock, err := os.Create(socket + ".lock")
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	for pid, why := range map[int]string{
		other.Process.Pid:  "it is not the daemon that holds the lock",
		-other.Process.Pid: "has not written its process id",
		-1:                 "has not written its process id",
		0:                  "has not written its process id",
		1:                  "was not killed",
		os.Getppid():       "it is not the daemon that holds the lock", // the process of "go test"
		1 << 30:            "was not killed",
	} {
		require.NoError(t, lock.Truncate(0))
		_, err = lock.WriteAt(fmt.Appendln(nil, pid), 0)
		require.NoError(t, err)
		require.ErrorContains(t, KillDaemon(socket, LockHolder(socket)), why, pid)
	}
	require.NoError(t, lock.Truncate(0))
	_, err = lock.WriteAt([]byte("1\n"), 0)
	require.NoError(t, err)
	require.NoError(t, KillDaemon(socket, other.Process.Pid), "another has come in its place")
	require.NoError(t, other.Process.Signal(syscall.Signal(0)))

	// A program that merely has the lock open is no daemon either.
	held := exec.Command("sleep", "1000")
	held.ExtraFiles = []*os.File{lock}
	require.NoError(t, held.Start())
	defer held.Wait()
	defer held.Process.Kill()
	require.NoError(t, lock.Truncate(0))
	_, err = lock.WriteAt(fmt.Appendln(nil, held.Process.Pid), 0)
	require.NoError(t, err)
	require.ErrorContains(t, KillDaemon(socket, held.Process.Pid), "it is not the daemon that holds the lock")
	require.NoError(t, held.Process.Signal(syscall.Signal(0)))
}

// TestDaemonsAreKilled kills a daemon that does nothing.
func TestDaemonsAreKilled(t *testing.T) {
	path := filepath.Join(shortDir(t), "d.sock")
	cmd := listensElsewhere(t, path)
	require.NoError(t, KillDaemon(path, cmd.Process.Pid))
	require.Error(t, cmd.Wait())
	require.False(t, Running(path))
	require.True(t, Stopped(path), "on purpose")
	require.NoError(t, KillDaemon(path, cmd.Process.Pid))
}

// TestConfigurationFiles puts other things in the place of the configuration: each ends in an error, without a wait or an
// endless read.
func TestConfigurationFiles(t *testing.T) {
	for name, plant := range plants(t) {
		path := filepath.Join(t.TempDir(), "config.toml")
		plant(path)
		_, err := ReadConfig(path)
		switch name {
		case "a link to a file": // people may link their configuration
			require.NoError(t, err)
		case "another's file":
			require.ErrorContains(t, err, "belongs to user 65534, not to you (0): copy it, and set CURSORD_CONFIG to the copy")
		default:
			require.ErrorContains(t, err, path+" is not a regular file", name)
		}
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, 1<<40))
	_, err := ReadConfig(path)
	require.ErrorContains(t, err, path+" is larger than 1048576 bytes")
	_, err = ReadConfig(os.DevNull)
	require.NoError(t, err)
}

// TestLogIsARegularFile: a FIFO in the place of the log is an error, and no open waits for its reader.
func TestLogIsARegularFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cursord.log")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := OpenLog(path)
	require.ErrorContains(t, err, path)
	_, err = OpenRegular(path, os.O_RDONLY, 0)
	require.ErrorContains(t, err, path+" is not a regular file: move it away")
}

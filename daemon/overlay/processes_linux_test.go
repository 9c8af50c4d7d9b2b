package overlay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// keep is a process that mounts, has another process in the tree, tells its number, and waits until it is killed.
func keep(base string) {
	runtime.LockOSThread() // the process within ends with the thread that started it
	tree, err := Mount(context.Background(), Layout{Lower: base + "/pond", Upper: base + "/state/upper", Work: base + "/state/work", At: base + "/pond"})
	if err == nil {
		cmd := exec.Command("/bin/sh", "-c", "echo begun > f; sleep 1000; true")
		if err = tree.Enter(cmd); err == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
			err = cmd.Start()
			for err == nil {
				if data, _ := os.ReadFile(tree.Root() + "/f"); string(data) == "begun\n" {
					fmt.Println(cmd.Process.Pid)
					break
				}
			}
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	io.Copy(io.Discard, os.Stdin)
}

// seeing lists the processes that see something mounted at a path.
func seeing(t *testing.T, at string) (list []string) {
	all, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, name := range all {
		if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte(" "+at+" ")) {
			list = append(list, name)
		}
	}
	return list
}

// TestTheMountGoesWithItsProcesses kills the process that has mounted. Its child in the tree dies with it, as every child
// does that is to die with its parent, and nothing is left.
func TestTheMountGoesWithItsProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "one\n")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), keeperVar+"="+filepath.Dir(w.Lower))
	_, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line := make([]byte, 200)
	n, err := out.Read(line)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	require.NoError(t, err, "%s", line[:n])
	group, err := unix.Getpgid(pid)
	require.NoError(t, err)
	require.Equal(t, pid, group, "a process within leads the group that its starter wanted")
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	require.NoError(t, err, "its starter may look at it")
	require.Contains(t, string(environ), keeperVar)
	require.NotEmpty(t, seeing(t, w.At))

	require.NoError(t, cmd.Process.Kill())
	cmd.Wait()
	gone := func() bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) || ended(pid) }
	require.Eventually(t, gone, time.Minute, time.Millisecond)
	unix.Kill(-pid, unix.SIGKILL) // what the shell has started, as the daemon does with a group that it has lost
	require.Eventually(t, func() bool { return len(seeing(t, w.At)) == 0 }, time.Minute, time.Millisecond)
	require.Equal(t, "[{f written}]", w.changes())
	w.mount()
	require.Equal(t, "begun\n", w.sh("cat f"))
	require.NoError(t, w.tree.Close())
	require.Empty(t, seeing(t, w.At))
}

// ended reports whether a process only waits for its parent to hear of its end.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}

func TestProbe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, Probe(t.Context(), w.Upper))
	left, err := os.ReadDir(w.Upper)
	require.NoError(t, err)
	require.Empty(t, left)
	require.ErrorIs(t, Probe(t.Context(), w.Upper+"/none"), fs.ErrNotExist)
	require.ErrorIs(t, Probe(t.Context(), "/proc/self"), fs.ErrNotExist)
}

// TestAsAnOrdinaryUser runs the other tests as a user without privileges, where they were run by root.
func TestAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("the tests run as an ordinary user already")
	}
	const uid = 54321
	dir, err := os.MkdirTemp("", "overlay-user-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	// Another process copies: a program that is open for writing here, and in children that are just starting, does not start.
	require.NoError(t, exec.Command("cp", fmt.Sprintf("/proc/%d/exe", os.Getpid()), dir+"/tests").Run())
	require.NoError(t, os.Mkdir(dir+"/tmp", 0o700))
	for _, name := range []string{dir, dir + "/tests", dir + "/tmp"} {
		require.NoError(t, os.Chown(name, uid, uid))
	}
	cmd := exec.Command(dir+"/tests", "-test.v", "-test.skip=TestAsAnOrdinaryUser|TestFilesOfOthers")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir+"/tmp", "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, fs.ErrPermission) {
		t.Skip("an ordinary user does not reach the folder of temporary files: ", err)
	}
	require.NoError(t, err, "%s", out)
	if strings.Contains(string(out), "--- SKIP") && !strings.Contains(string(out), "--- PASS: TestProbe") {
		t.Skipf("skipped as an ordinary user, too: %s", out)
	}
}

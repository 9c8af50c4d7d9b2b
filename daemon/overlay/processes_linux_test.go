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

	"cursord/agent/process"
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

// TestNothingOutlivesTheCommand has processes that try to live on. The command ends by itself, or is killed.
func TestNothingOutlivesTheCommand(t *testing.T) {
	t.Parallel()
	const live = "echo $$ > $0.at; while :; do echo x >> $0; done"
	for _, tt := range []struct{ name, script string }{
		{"a session of its own", "setsid sh -c '" + live + "' a &"},
		{"two forks", "(setsid sh -c '(" + live + ") & exit' a &)"},
		{"no signal but KILL", "setsid sh -c 'trap \"\" TERM INT HUP QUIT; " + live + "' a &"},
		{"a user namespace of its own", "setsid unshare -Urm sh -c '" + live + "' a &"},
		{"a PID namespace of its own", "setsid unshare -Urmpf sh -c '" + live + "' a &"},
		{"many that fork", "for i in 1 2 3 4 5 6 7 8; do setsid sh -c 'f() { echo x >> $0; echo $$ > $0.at; (f &) ; }; f' a & done"},
	} {
		for _, end := range []string{"ends", "is killed"} {
			t.Run(tt.name+", the command "+end, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.mount()
				last := "exit 3"
				if end == "is killed" {
					last = "trap '' INT TERM; echo > waits; while :; do sleep 1; done"
				}
				cmd := exec.Command("/bin/sh", "-c", tt.script+"\nuntil test -s a -a -s a.at; do sleep 0.01; done; "+last)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				require.NoError(t, w.tree.Enter(cmd))
				require.NoError(t, cmd.Start())
				if end == "is killed" {
					require.Eventually(t, exists(w.Upper+"/waits"), time.Minute, time.Millisecond)
					unix.Kill(-cmd.Process.Pid, unix.SIGTERM) // the command's own to answer
					require.NotEmpty(t, seeing(t, w.At))
					require.NoError(t, cmd.Process.Kill())
				}
				cmd.Wait()
				if end == "ends" {
					require.Equal(t, 3, cmd.ProcessState.ExitCode())
				}
				require.Eventually(t, func() bool { return len(seeing(t, w.At)) == 0 }, time.Minute, time.Millisecond)
				was, err := os.Stat(filepath.Join(w.Upper, "a"))
				require.NoError(t, err)
				require.NoError(t, w.tree.Close())
				w.mount()
				is, err := os.Stat(filepath.Join(w.tree.Root(), "a"))
				require.NoError(t, err)
				require.Equal(t, was.Size(), is.Size(), "nobody writes")
			})
		}
	}
}

// TestHoldersEnd has a process in a tree that no command has started: who has the tree's descriptors may enter it by itself.
func TestHoldersEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Upper += ` "odd\ name`
	require.NoError(t, os.Mkdir(w.Upper, 0o755))
	w.mount()
	cmd := exec.Command("nsenter", "--preserve-credentials", "--user="+handle(w.tree.held[1]), "--mount="+handle(w.tree.held[2]), "--wd="+handle(w.tree.held[0]),
		"sh", "-c", "trap '' TERM; echo > in; exec sleep 1000")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return w.changes() == "[{in written}]" }, time.Minute, time.Millisecond)
	require.NoError(t, w.tree.Close())
	held, err := holders(w.Upper)
	require.NoError(t, err)
	require.Equal(t, []int{cmd.Process.Pid}, held)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	w.mount()
	require.ErrorContains(t, <-ended, "killed")
	held, err = holders(w.Upper)
	require.NoError(t, err)
	require.Empty(t, held)
}

// TestTheEndOfACommand is what its starter hears of it.
func TestTheEndOfACommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mount()
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137, "kill -TERM $$": 143, "sleep 0.01 & (sleep 0.02 &); exit 5": 5,
		"kill -TERM 1; kill -KILL 1; exit 6": 6} {
		cmd := exec.Command("/bin/sh", "-c", script)
		require.NoError(t, w.tree.Enter(cmd))
		cmd.Run()
		require.Equal(t, want, cmd.ProcessState.ExitCode(), script)
	}
	// The group gets signals, and the command what they mean to it.
	cmd := exec.Command("/bin/sh", "-c", "trap 'exit 9' INT; echo > ready; while :; do sleep 0.01; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, w.tree.Enter(cmd))
	require.NoError(t, cmd.Start())
	require.Eventually(t, exists(w.Upper+"/ready"), time.Minute, time.Millisecond)
	require.NoError(t, unix.Kill(-cmd.Process.Pid, unix.SIGINT))
	cmd.Wait()
	require.Equal(t, 9, cmd.ProcessState.ExitCode())
}

// TestTheFamilyOfACommand finds what the command has started, by the numbers by which it knows that.
func TestTheFamilyOfACommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mount()
	cmd := exec.Command("/bin/sh", "-c", "setsid sleep 1001 & echo $! > .pid; (sleep 1002 & sleep 1003) & mv .pid pid; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, w.tree.Enter(cmd))
	require.NoError(t, cmd.Start())
	family := process.NewFamily(cmd.Process.Pid, "")
	want := map[string]bool{"sleep 1001": true, "sleep 1002": true, "sleep 1003": true}
	var inner map[string]int
	require.Eventually(t, func() bool {
		inner = map[string]int{}
		for _, m := range family.Running() {
			inner[m.Line] = m.Inner
		}
		for line := range want {
			if inner[line] == 0 {
				return false
			}
		}
		return exists(w.Upper + "/pid")()
	}, time.Minute, time.Millisecond)
	for line := range inner {
		require.NotContains(t, line, helperArg)
	}
	require.Equal(t, strconv.Itoa(inner["sleep 1001"])+"\n", w.sh("cat pid"))
	require.NoError(t, cmd.Process.Kill())
	cmd.Wait()
	family.End()
	require.Empty(t, family.Left())
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

func TestWhatToDoAboutARefusal(t *testing.T) {
	t.Parallel()
	refused := fmt.Errorf("%w: EPERM", ErrRefused)
	for _, p := range policies {
		read := func(file string) string {
			if file == p.file {
				return p.value
			}
			return "63000"
		}
		err := explained(refused, read)
		require.ErrorIs(t, err, ErrRefused)
		require.ErrorContains(t, err, "sysctl "+strings.ReplaceAll(p.file, "/", "."))
		require.Equal(t, fs.ErrClosed, explained(fs.ErrClosed, read))
	}
	require.Equal(t, refused, explained(refused, func(string) string { return "" }))
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

// exists returns a test for a file.
func exists(name string) func() bool {
	return func() bool { _, err := os.Lstat(name); return err == nil }
}

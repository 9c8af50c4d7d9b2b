//go:build unix

package world

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Processes lists the processes whose environment has all these variables. "NAME=" matches any value.
func Processes(t testing.TB, variables ...string) (pids []int) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || !HasVariables(env, variables) {
			continue
		}
		if stat, err := os.ReadFile(dir + "/stat"); err != nil || bytes.Contains(stat, []byte(") Z ")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	return pids
}

// HasVariables reports whether an environment, in the form of /proc/PID/environ, has all these "NAME=value".
func HasVariables(env []byte, variables []string) bool {
	for _, v := range variables {
		if !strings.HasSuffix(v, "=") {
			v += "\x00"
		}
		if !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+v)) {
			return false
		}
	}
	return true
}

// Resident returns a process's resident memory in MB, either now ("VmRSS") or at its highest ("VmHWM"); 0 where the system
// does not say.
func Resident(pid int, field string) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}

// Memory returns the most memory that the daemon has ever had, in MiB.
func (w *World) Memory() int {
	w.T.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.Cmd.Process.Pid))
	if err != nil {
		w.T.Skip("no /proc")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(w.T, err)
	return kib >> 10
}

// RequireLittleMemory fails if the daemon has used more than mostMemory at any time. It allows more with the race detector.
func (w *World) RequireLittleMemory() {
	w.T.Helper()
	if !RaceDetector {
		require.Less(w.T, w.Memory(), mostMemory)
	}
}

// mostMemory is the limit for the daemon's memory in MiB, whatever an agent does.
const mostMemory = 200

// Meter is the file to which the daemon writes its use of resources on SIGUSR1.
func (w *World) Meter() string { return filepath.Join(w.Dir, "meter") }

// A Piped process is a client's end of a process that speaks on stdin and stdout.
type Piped struct {
	io.ReadCloser
	io.WriteCloser
}

// Close closes the process's stdin.
func (p Piped) Close() error { return p.WriteCloser.Close() }

// Spawns starts "cursord stdio" of a program. At its end the test waits for this process and for the daemon that it started.
func (w *World) Spawns(program string, args ...string) (*exec.Cmd, io.ReadWriteCloser) {
	w.T.Helper()
	cmd, conn := w.Stdio(program, args...)
	w.T.Cleanup(func() {
		conn.Close()
		w.Cursord("stop", "--force")
		_ = cmd.Wait()
	})
	return cmd, conn
}

// Stdio starts "cursord stdio" of a program.
func (w *World) Stdio(program string, args ...string) (*exec.Cmd, io.ReadWriteCloser) {
	w.T.Helper()
	cmd := exec.Command(program, append([]string{"stdio"}, args...)...)
	cmd.Env, cmd.Dir = w.Env(), w.Dir
	in, err := cmd.StdinPipe()
	require.NoError(w.T, err)
	out, outEnd, err := os.Pipe()
	require.NoError(w.T, err)
	cmd.Stdout = outEnd
	require.NoError(w.T, cmd.Start())
	require.NoError(w.T, outEnd.Close())
	return cmd, Piped{ReadCloser: out, WriteCloser: in}
}

// Shell returns a command that runs first in a shell, and then replaces the shell by the command that is appended.
func Shell(first string) []string { return []string{"sh", "-c", first + ` && exec "$@"`, "sh"} }

// Limits has the daemon run where a shell command has set limits of the system, such as that of inotify. It skips t where no user may
// set them, as outside of Linux.
func (w *World) Limits(t *testing.T, set string) {
	t.Helper()
	within := append([]string{"unshare", "-U", "-r"}, Shell(set)...)
	if out, err := exec.Command(within[0], append(within[1:len(within):len(within)], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no limits can be set here: %v %s", err, out)
	}
	w.Within = within
}

// Sleeps waits until the daemon was at rest in many looks in a row: no thread ran, or waited for a disk.
func (w *World) Sleeps() {
	w.T.Helper()
	looks := 0
	require.Eventually(w.T, func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", w.Cmd.Process.Pid))
		require.NoError(w.T, err)
		for _, thread := range threads {
			stat, err := os.ReadFile(thread)
			if _, state, _ := strings.Cut(string(stat), ") "); err == nil && !strings.HasPrefix(state, "S ") {
				looks = 0
				return false
			}
		}
		looks++
		return looks == 40
	}, Patience, time.Millisecond)
}

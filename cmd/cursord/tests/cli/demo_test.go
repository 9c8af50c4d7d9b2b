//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestDemo plays the demo, to its end or until a signal, and checks that it leaves nothing behind.
func TestDemo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		until string // the demo gets sig after it has printed this
		sig   syscall.Signal
		code  int
	}{
		{name: "to its end"},
		{name: "interrupted at its start", until: "A daemon,", sig: syscall.SIGINT, code: world.StatusCancelled},
		{name: "interrupted in the turn", until: "✓ Edit todo.py", sig: syscall.SIGINT, code: world.StatusCancelled},
		{name: "terminated in the review", until: "$ cursord diff", sig: syscall.SIGTERM, code: world.StatusCancelled},
		{name: "hung up on after the restart", until: "$ cursord sessions", sig: syscall.SIGHUP, code: world.StatusCancelled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := startDemo(t)
			for d.lines.Scan() {
				d.said.WriteString(d.lines.Text() + "\n")
				if tt.until != "" && strings.HasPrefix(d.lines.Text(), tt.until) {
					require.NoError(t, d.cmd.Process.Signal(tt.sig))
				}
			}
			_ = d.cmd.Wait()
			require.Equal(t, tt.code, d.cmd.ProcessState.ExitCode(), "%s%s", d.said.String(), d.errs.String())
			d.leftNothing()
			if tt.until != "" {
				return
			}
			require.Empty(t, d.errs.String())
			require.NotContains(t, d.said.String(), "\x1b")
			require.Regexp(t, `(?s)^A daemon, .*
\$ cursord run --trust 'done 1 .*
Let me look at the code\.
✓ Read todo\.py
.*
✓ Edit todo\.py
✓ Edit todo\.py
✓ Edit test_todo\.py
✓ \$ python3 -m unittest
Fixed: .*
\$ cursord diff todo\.py .*
todo\.py \(modified, \+2 -2\)
@@ -2,7 \+2,7 @@ (\S+)
.*
@@ -15,7 \+15,7 @@ (\S+)
.*
\$ cursord accept \d+\.\d+  .*
accepted 1 hunk; 2 hunks left in 2 files
.*
\$ cursord reject \d+\.\d+  .*
rejected 1 hunk; 1 hunk left in 1 file
.*
\$ cursord stop; .*
\$ cursord diff .*
test_todo\.py \(created, \+10 -0\)
.*
\$ cursord sessions .*
done 1 strikes out the second entry: fix it +completed +1 .*

\$ cursord run --session \w+ '.*
Understood: .*
That was all.*
$`, d.said.String())
		})
	}
}

// TestDemoIntoClosedPipe checks that the demo cleans up if its reader goes away.
func TestDemoIntoClosedPipe(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	require.True(t, d.lines.Scan())
	require.NoError(t, d.out.Close())
	_ = d.cmd.Wait()
	d.leftNothing()
}

// TestDemoFails checks that the demo reports an agent that does not work, and cleans up.
func TestDemoFails(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "TMPDIR=/nowhere")
	for d.lines.Scan() {
	}
	_ = d.cmd.Wait()
	require.Equal(t, world.StatusFailed, d.cmd.ProcessState.ExitCode())
	require.Contains(t, d.errs.String(), "/nowhere")
	d.leftNothing()
}

// A runningDemo is a demo that writes to a pipe and has its own home and folder for temporary files.
type runningDemo struct {
	t     *testing.T
	temp  string
	home  string
	cmd   *exec.Cmd
	out   *os.File
	lines *bufio.Scanner
	said  bytes.Buffer
	errs  bytes.Buffer
}

func startDemo(t *testing.T, env ...string) *runningDemo {
	t.Helper()
	temp, err := os.MkdirTemp("", "d") // short, because a socket's path is limited
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(temp) })
	d := &runningDemo{t: t, temp: temp, home: t.TempDir()}
	out, in, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { out.Close() })
	d.out, d.lines = out, bufio.NewScanner(out)
	d.cmd = exec.Command("cursord", "demo")
	d.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "TMPDIR=" + temp}, env...)
	d.cmd.Stdout, d.cmd.Stderr = in, &d.errs
	require.NoError(t, d.cmd.Start())
	require.NoError(t, in.Close())
	return d
}

// leftNothing requires that no files and no processes of the demo are left.
func (d *runningDemo) leftNothing() {
	d.t.Helper()
	for _, dir := range []string{d.temp, d.home} {
		entries, err := os.ReadDir(dir)
		require.NoError(d.t, err)
		require.Empty(d.t, entries)
	}
	environs, err := filepath.Glob("/proc/[0-9]*/environ") // empty without /proc
	require.NoError(d.t, err)
	for _, name := range environs {
		if environ, err := os.ReadFile(name); err == nil {
			require.NotContains(d.t, string(environ), d.temp, name)
		}
	}
}

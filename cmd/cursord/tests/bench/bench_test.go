//go:build unix

package bench

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// The benchmarks run whole processes: the fake agent, the daemon, and this test as its clients, beside a bare relay in the
// same run.

// delays are measured times.
type delays []time.Duration

// quantile returns the q-quantile, in µs.
func (d delays) quantile(q float64) float64 {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return float64(d[min(int(q*float64(len(d))), len(d)-1)].Nanoseconds()) / 1000
}

// cpuTime returns the processor time that a process has used; 0 where the system does not say.
func cpuTime(pid int) time.Duration {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	var sum time.Duration
	for _, name := range threads {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		ns, _, _ := strings.Cut(string(b), " ")
		n, _ := strconv.ParseInt(ns, 10, 64)
		sum += time.Duration(n)
	}
	return sum
}

// usesBuilt makes "cursord" the program as it is built; the tests' own program takes twice as long to start.
func usesBuilt(b *testing.B) {
	world.FakeAgent() // once for all benchmarks: that of the program built here goes with this one
	dir := b.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "cursord"), "cursord/cmd/cursord")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(b, err, "%s", out)
	b.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// BenchmarkInitialize measures the time from the start of "cursord stdio" to its answer to initialize, and to the daemon's
// first answer: with a running daemon, and with one that has to be started.
func BenchmarkInitialize(b *testing.B) {
	usesBuilt(b)
	b.Run("running", func(b *testing.B) {
		w := world.New(b)
		w.Start()
		measureStarts(w, b, func() {})
	})
	b.Run("started", func(b *testing.B) {
		w := world.New(b)
		measureStarts(w, b, func() {
			_, stderr, status := w.Cursord("stop", "--force")
			require.Zero(b, status, stderr)
		})
	})
}

// opensAs starts "cursord ARG" as an editor does, and returns the time of the start.
func opensAs(w *world.World, b *testing.B, arg string) (cmd *exec.Cmd, in io.Closer, l *listener, start time.Time) {
	cmd = exec.Command("cursord", arg)
	cmd.Env = w.Env()
	stdin, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	l = newListener(world.Piped{ReadCloser: out, WriteCloser: stdin})
	start = time.Now()
	require.NoError(b, cmd.Start())
	return cmd, stdin, l, start
}

func measureStarts(w *world.World, b *testing.B, after func()) {
	var first, daemons delays
	for b.Loop() {
		cmd, in, l, start := opensAs(w, b, "stdio")
		l.calls("initialize", world.Obj{})
		first = append(first, time.Since(start))
		l.calls("daemon/status", world.Obj{})
		daemons = append(daemons, time.Since(start))
		in.Close()
		require.NoError(b, cmd.Wait())
		b.StopTimer()
		after()
		b.StartTimer()
	}
	b.ReportMetric(first.quantile(0.5), "µs-initialize-p50")
	b.ReportMetric(first.quantile(0.99), "µs-initialize-p99")
	b.ReportMetric(daemons.quantile(0.5), "µs-daemon-p50")
}

//go:build unix

package snapshot

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func selfCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPlain takes first snapshots of a tree of 40,000 files without git, in turns with "find -newer".
func BenchmarkPlain(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	require.NoError(b, err)
	text := []byte(strings.Repeat("some text of no meaning\n", 40))
	for i := range 40_000 {
		name := filepath.Join(dir, "src", fmt.Sprint(i/2500), fmt.Sprint(i/50%50), fmt.Sprint(i))
		if i%50 == 0 {
			require.NoError(b, os.MkdirAll(filepath.Dir(name), 0o755))
		}
		require.NoError(b, os.WriteFile(name, text, 0o644))
	}
	spools := b.TempDir()
	var find, findCPU, ours, cpu time.Duration
	for b.Loop() {
		cmd := exec.Command("find", ".", "-newer", spools)
		cmd.Dir = dir
		start := time.Now()
		require.NoError(b, cmd.Run())
		find += time.Since(start)
		findCPU += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		was, start := selfCPU(), time.Now()
		var l List
		s, _ := l.Take(dir, spools, "t", guardIn(b, dir), false, nil)
		<-s.ready
		ours += time.Since(start)
		<-s.left
		cpu += selfCPU() - was
		if why := s.Useless(); why != "" {
			b.Log(why)
		}
		s.Close()
		l.Close()
	}
	n := float64(b.N) * 1e6
	b.ReportMetric(float64(find)/n, "ms-find")
	b.ReportMetric(float64(findCPU)/n, "ms-cpu-find")
	b.ReportMetric(float64(ours)/n, "ms-ours")
	b.ReportMetric(float64(cpu)/n, "ms-cpu-ours")
	b.ReportMetric(float64(ours)/float64(find), "x")
	b.ReportMetric(float64(cpu)/float64(findCPU), "x-cpu")
	b.ReportMetric(0, "ns/op")
}

package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// manyFiles makes a repository of n files, 50 in a folder, none of which was written just now.
func manyFiles(b *testing.B, n int) string {
	b.Helper()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	require.NoError(b, err)
	text := []byte(strings.Repeat("some text of no meaning\n", 40))
	for i := range n {
		name := filepath.Join(dir, fmt.Sprint(i/2500), fmt.Sprint(i/50%50), fmt.Sprint(i))
		if i%50 == 0 {
			require.NoError(b, os.MkdirAll(filepath.Dir(name), 0o755))
		}
		require.NoError(b, os.WriteFile(name, text, 0o644))
	}
	commitAll(b, dir)
	status(b, dir) // refreshes the index
	return dir
}

func status(b *testing.B, dir string) time.Duration {
	b.Helper()
	start := time.Now()
	cmd := exec.Command("git", "status", "--porcelain=v2", "-z", "-uall")
	cmd.Dir = dir
	require.NoError(b, cmd.Run())
	return time.Since(start)
}

// sizes runs f on repositories of several sizes.
func sizes(b *testing.B, f func(b *testing.B, dir string)) {
	for _, n := range []int{10_000, 100_000} {
		if n > 10_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) { f(b, manyFiles(b, n)) })
	}
}

// against times f beside "git status", in turns.
func against(b *testing.B, dir string, f func()) {
	b.Helper()
	var git time.Duration
	for b.Loop() {
		f()
		b.StopTimer()
		git += status(b, dir)
		b.StartTimer()
	}
	b.ReportMetric(float64(git.Microseconds())/1000/float64(b.N), "git-status-ms")
	b.ReportMetric(float64(b.Elapsed())/float64(git), "x-git-status")
}

func BenchmarkSnapshot(b *testing.B) {
	sizes(b, func(b *testing.B, dir string) {
		against(b, dir, func() {
			s, _ := newSnapshot(dir, b.TempDir())
			<-s.ready
			require.Empty(b, s.useless())
			s.close()
		})
	})
}

// BenchmarkScan looks for changes where 10 files have changed.
func BenchmarkScan(b *testing.B) {
	sizes(b, func(b *testing.B, dir string) {
		s, _ := newSnapshot(dir, b.TempDir())
		<-s.ready
		for i := range 10 {
			require.NoError(b, os.WriteFile(filepath.Join(dir, "0", "0", fmt.Sprint(i)), []byte("new\n"), 0o644))
		}
		by := verdict{source: &diffs.Source{Via: "shell"}}
		against(b, dir, func() {
			all, left := s.scan(context.Background(), true, func(trace) verdict { return by })
			require.Len(b, all, 10)
			require.Empty(b, left.String())
		})
		s.close()
	})
}

//go:build unix

package snapshot

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// manyFiles makes a repository of n older files, 50 in a folder.
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
	benchTree{dir, filepath.Join(dir, ".git")}.status(b) // refreshes the index
	return dir
}

// A benchTree is a folder of many files, and its repository, which may be elsewhere.
type benchTree struct{ dir, git string }

func (t benchTree) status(b *testing.B) time.Duration {
	b.Helper()
	start := time.Now()
	cmd := exec.Command("git", "--git-dir", t.git, "--work-tree", t.dir, "status", "--porcelain=v2", "-z", "-uall")
	cmd.Dir = t.dir
	require.NoError(b, cmd.Run())
	return time.Since(start)
}

// forget drops the system's cache of the disk, where that is allowed.
func forget(b *testing.B) {
	b.Helper()
	syscall.Sync()
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
		b.Skip("the system's caches cannot be dropped: ", err)
	}
}

// sizes runs f on trees of several sizes, with git and without, with a warm cache of the disk and with a cold one.
func sizes(b *testing.B, f func(b *testing.B, t benchTree, before func())) {
	for _, n := range []int{10_000, 100_000} {
		if n > 10_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := manyFiles(b, n)
			t := benchTree{dir, filepath.Join(dir, ".git")}
			kinds := func(kind string) {
				b.Run(kind+"/warm", func(b *testing.B) { f(b, t, func() {}) })
				b.Run(kind+"/cold", func(b *testing.B) { f(b, t, func() { forget(b) }) })
			}
			kinds("git")
			t.git = filepath.Join(filepath.Dir(dir), "repository")
			require.NoError(b, os.Rename(filepath.Join(dir, ".git"), t.git))
			kinds("plain")
			require.NoError(b, os.RemoveAll(t.git))
		})
	}
}

// against times f and "git status" in turns; before runs before each.
func against(b *testing.B, t benchTree, before, f func()) {
	b.Helper()
	var git time.Duration
	for b.Loop() {
		b.StopTimer()
		before()
		git += t.status(b)
		before()
		b.StartTimer()
		f()
	}
	b.ReportMetric(float64(git.Microseconds())/1000/float64(b.N), "git-status-ms")
	b.ReportMetric(float64(b.Elapsed())/float64(git), "x-git-status")
}

func BenchmarkSnapshot(b *testing.B) {
	sizes(b, func(b *testing.B, t benchTree, before func()) {
		against(b, t, before, func() {
			s, _ := new(List).Take(t.dir, b.TempDir(), "", guardIn(b, t.dir), false, nil)
			<-s.ready
			if why := s.Useless(); why != "" {
				b.Log(why)
			}
			s.Close()
		})
	})
}

// BenchmarkSnapshotAgain takes snapshots of an unchanged tree, each from the one before.
func BenchmarkSnapshotAgain(b *testing.B) {
	sizes(b, func(b *testing.B, t benchTree, before func()) {
		var keeps List
		take := func() {
			s, _ := keeps.Take(t.dir, b.TempDir(), "", guardIn(b, t.dir), false, nil)
			<-s.ready
			if why := s.Useless(); why != "" {
				b.Log(why)
			}
			s.Close()
		}
		take()
		against(b, t, before, take)
	})
}

// BenchmarkScan scans after changes of 10 files.
func BenchmarkScan(b *testing.B) {
	sizes(b, func(b *testing.B, t benchTree, before func()) {
		s, _ := new(List).Take(t.dir, b.TempDir(), "", guardIn(b, t.dir), false, nil)
		<-s.ready
		for i := range 10 {
			require.NoError(b, os.WriteFile(filepath.Join(t.dir, "0", "0", fmt.Sprint(i)), []byte(fmt.Sprintln("new", b.Name(), b.N)), 0o644))
		}
		by := Attribution{Source: &diffs.Source{Via: "shell"}}
		against(b, t, before, func() {
			all, left := s.Scan(context.Background(), true, func(ChangeTime) Attribution { return by })
			if len(all) != 10 {
				b.Log(len(all), left, s.Useless())
			}
		})
		s.Close()
	})
}

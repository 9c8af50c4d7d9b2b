package overlay

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkTrees has the cost of a second tree of a repository, beside what git does: to mount, to list the changes, and to
// ask git in it.
func BenchmarkTrees(b *testing.B) {
	for _, files := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			w := newWorld(b)
			for i := range files {
				w.put(fmt.Sprintf("pkg%d/sub%d/file%d.go", i%400, i%7, i), fmt.Sprint("package p // ", i))
			}
			var used time.Duration // processor time of git since the last report
			run := func(cmd *exec.Cmd) {
				out, err := cmd.CombinedOutput()
				require.NoError(b, err, "%s", out)
				used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			report := func(b *testing.B) {
				b.ReportMetric(float64(used.Milliseconds())/float64(b.N), "cpu-ms/op")
			}
			git := func(args ...string) *exec.Cmd {
				cmd := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
				cmd.Dir = w.Lower
				return cmd
			}
			run(git("init", "-q"))
			run(git("add", "-A"))
			run(git("commit", "-qm", "first"))
			b.Run("git status", func(b *testing.B) {
				used = 0
				defer report(b)
				for b.Loop() {
					run(git("status", "--porcelain"))
				}
			})
			b.Run("git worktree add", func(b *testing.B) {
				used = 0
				defer report(b)
				for n := 0; b.Loop(); n++ {
					run(git("worktree", "add", "-q", "--detach", filepath.Join(b.TempDir(), fmt.Sprint(n))))
				}
			})
			b.Run("Mount", func(b *testing.B) {
				for b.Loop() {
					require.NoError(b, w.mount().Close())
				}
			})
			b.Run("git status in a fresh mount", func(b *testing.B) {
				used = 0
				defer report(b)
				for b.Loop() {
					tree := w.mount()
					cmd := git("status", "--porcelain")
					require.NoError(b, tree.Enter(cmd))
					run(cmd)
					require.NoError(b, tree.Close())
				}
			})
			w.mount()
			for i := range 50 {
				require.NoError(b, os.WriteFile(filepath.Join(w.tree.Root(), fmt.Sprintf("pkg%d/sub%d/file%d.go", i%400, i%7, i)), nil, 0o644))
			}
			b.Run("Changes of 50 files", func(b *testing.B) {
				for b.Loop() {
					_, err := Changes(b.Context(), w.Upper)
					require.NoError(b, err)
				}
			})
		})
	}
}

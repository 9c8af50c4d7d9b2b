//go:build unix

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"cursord/cmd/cursord/tests/world"
)

// BenchmarkReviewStorage measures the database after 1,000 edits, each with its decision: the file, its used pages, and
// their content.
func BenchmarkReviewStorage(b *testing.B) {
	const files, rounds = 50, 20
	for b.Loop() {
		w := world.New(b)
		now := make([]string, files)
		for i := range now {
			now[i] = world.Numbered(200, map[int]string{1: fmt.Sprintf("file %d %060d\n", i, i)})
			w.Put(fmt.Sprintf("src/%d.go", i), now[i])
		}
		w.Start()
		e := w.Opens()
		for round := range rounds {
			var script [][]string
			for i := range now {
				next := world.Numbered(200, map[int]string{1: fmt.Sprintf("file %d %060d\n", i, i), 10 + 7*round: fmt.Sprintf("edit %d\n", round)})
				script = append(script, world.Edits(fmt.Sprint("c", i), fmt.Sprintf("src/%d.go", i), now[i], next))
				now[i] = next
			}
			w.Plays(world.Lines(script...)...)
			e.Turn(nil)
			diffs := e.Diffs()
			for i := range now {
				d := diffs[fmt.Sprintf("src/%d.go", i)]
				method := "diff/accept"
				if i%2 == 1 {
					method = "diff/reject"
				}
				e.Decides(method, world.Obj{"hunks": world.HunkIDs(d)})
				now[i] = w.Get(d.Path)
			}
		}
		w.Stop()
		db, err := bolt.Open(filepath.Join(w.Dir, "state", "cursord.db"), 0o600, &bolt.Options{ReadOnly: true, Timeout: time.Second})
		require.NoError(b, err)
		info, err := os.Stat(db.Path())
		require.NoError(b, err)
		b.ReportMetric(float64(info.Size())/1e6, "MB-file")
		live := 0
		require.NoError(b, db.View(func(tx *bolt.Tx) error {
			return tx.ForEach(func(name []byte, top *bolt.Bucket) error {
				live += inUse(top)
				if string(name) != "workspaces" {
					b.ReportMetric(float64(inUse(top))/1e3, "KB-"+string(name))
					return nil
				}
				return top.ForEachBucket(func(ws []byte) error {
					return top.Bucket(ws).ForEachBucket(func(name []byte) error {
						b.ReportMetric(float64(inUse(top.Bucket(ws).Bucket(name)))/1e3, "KB-"+string(name))
						return nil
					})
				})
			})
		}))
		b.ReportMetric(float64(live)/1e6, "MB-live")
		require.NoError(b, db.Close())
	}
}

func inUse(b *bolt.Bucket) int {
	s := b.Stats()
	return s.BranchInuse + s.LeafInuse + s.InlineBucketInuse
}

// BenchmarkDecide measures the round trip of an accept and of a reject of one hunk, beside writing a file and waiting for
// the disk, which both must do.
func BenchmarkDecide(b *testing.B) {
	for _, method := range []string{"diff/accept", "diff/reject"} {
		b.Run(method[len("diff/"):], func(b *testing.B) {
			const hunks = 200
			before, change := world.Numbered(10*hunks, nil), map[int]string{}
			for i := range hunks {
				change[10*i+5] = fmt.Sprintf("agent %d\n", i)
			}
			w := world.New(b)
			w.Put("f", before)
			w.Plays(world.Lines(world.Edits("c", "f", before, world.Numbered(10*hunks, change)))...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			ids := world.HunkIDs(e.Diffs()["f"])
			var took, synced delays
			for b.Loop() {
				if len(ids) == 0 {
					b.StopTimer()
					for range hunks {
						e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
					}
					ids = world.HunkIDs(e.Diffs()["f"])
					b.StartTimer()
				}
				start := time.Now()
				e.Decides(method, world.Obj{"hunks": ids[:1]})
				took, ids = append(took, time.Since(start)), ids[1:]
				start = time.Now()
				f, err := os.Create(filepath.Join(w.Dir, "synced"))
				require.NoError(b, err)
				_, err = f.WriteString(before)
				require.NoError(b, err)
				require.NoError(b, f.Sync())
				require.NoError(b, f.Close())
				synced = append(synced, time.Since(start))
			}
			b.ReportMetric(took.quantile(0.5), "µs-p50")
			b.ReportMetric(took.quantile(0.99), "µs-p99")
			b.ReportMetric(synced.quantile(0.5), "µs-fsync-p50")
			b.ReportMetric(synced.quantile(0.99), "µs-fsync-p99")
			b.ReportMetric(took.quantile(0.5)/synced.quantile(0.5), "x-fsync")
		})
	}
}

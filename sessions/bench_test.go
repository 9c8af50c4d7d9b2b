package sessions_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

// BenchmarkSubmit stores one object of about 400 bytes; waiting is the number of Submits that wait at the same time.
func BenchmarkSubmit(b *testing.B) {
	for _, waiting := range []int{1, 256} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			s := openNew(b)
			must(b, s, puts(session("s1", 1), turn("t1", "s1", TurnRunning, 2))...)
			room := make(chan struct{}, waiting)
			seq := uint64(2)
			for b.Loop() {
				seq++
				it := item("t1", "s1", int(seq), ItemCompleted, seq)
				it.Text = strings.Repeat("text ", 40)
				room <- struct{}{}
				s.Submit(root, puts(it), func(err error) {
					if err != nil {
						b.Error(err)
					}
					<-room
				})
			}
			require.NoError(b, s.Close())
		})
	}
}

func BenchmarkChanges1000(b *testing.B) {
	s := openNew(b)
	must(b, s, puts(session("s1", 1), turn("t1", "s1", TurnCompleted, 2))...)
	for i := range uint64(1000) {
		it := item("t1", "s1", int(i), ItemCompleted, 3+i)
		it.Text = strings.Repeat("text ", 40)
		s.Submit(root, puts(it), nil)
	}
	must(b, s, SetTrust{true})
	b.ReportAllocs()
	for b.Loop() {
		es, err := s.Changes(root, 2, 1000)
		if err != nil || len(es) != 1000 {
			b.Fatal(len(es), err)
		}
	}
}

// fillLarge stores n sessions, each of a turn with 10 items of 1 KB, and returns the last seq.
func fillLarge(b *testing.B, s *Store, n int) (seq uint64) {
	next := func() uint64 { seq++; return seq }
	text := strings.Repeat("text ", 200)
	for i := range n {
		sid, tid := fmt.Sprint("session-", i), fmt.Sprint("turn-", i)
		ops := puts(session(sid, next()), turn(tid, sid, TurnCompleted, next()))
		for j := range 10 {
			it := item(tid, sid, j, ItemCompleted, next())
			it.Text = text
			ops = append(ops, Put{Object: it})
		}
		s.Submit(root, ops, nil)
	}
	must(b, s, SetTrust{true})
	return seq
}

// BenchmarkCompact compacts a database of SESSIONS_BENCH sessions (10,000), of which two in three were deleted, and reports
// the longest commit and read meanwhile. Run it with -benchtime 1x.
func BenchmarkCompact(b *testing.B) {
	n := 10000
	if v, err := strconv.Atoi(os.Getenv("SESSIONS_BENCH")); err == nil {
		n = v
	}
	for b.Loop() {
		b.StopTimer()
		path := dbPath(b)
		s, _ := openAt(b, path)
		seq := fillLarge(b, s, n)
		for i := range n {
			if seq++; i%3 != 0 {
				s.Submit(root, []Op{RemoveSession{ID: fmt.Sprint("session-", i), Seq: seq}}, nil)
			}
		}
		must(b, s, SetTrust{true})
		before := fileSize(b, path)
		done := make(chan struct{})
		var worst [2]time.Duration
		var all sync.WaitGroup
		watch := func(worst *time.Duration, f func()) {
			all.Go(func() {
				for {
					select {
					case <-done:
						return
					case <-time.After(time.Millisecond):
					}
					began := time.Now()
					f()
					*worst = max(*worst, time.Since(began))
				}
			})
		}
		watch(&worst[0], func() {
			seq++
			must(b, s, puts(session("live", seq))...)
		})
		watch(&worst[1], func() {
			if _, _, err := s.Sessions(root, "", 50); err != nil {
				b.Error(err)
			}
		})
		b.StartTimer()
		require.NoError(b, s.Compact(context.Background()))
		b.StopTimer()
		close(done)
		all.Wait()
		b.ReportMetric(float64(before)/(1<<20), "MB-before")
		b.ReportMetric(float64(fileSize(b, path))/(1<<20), "MB-after")
		b.ReportMetric(float64(worst[0].Microseconds())/1000, "ms-worst-commit")
		b.ReportMetric(float64(worst[1].Microseconds())/1000, "ms-worst-read")
		require.NoError(b, s.Close())
		b.StartTimer()
	}
}

// BenchmarkOpen opens a database of SESSIONS_BENCH sessions (10,000), each of a turn with 10 items of 1 KB.
func BenchmarkOpen(b *testing.B) {
	n := 10000
	if v, err := strconv.Atoi(os.Getenv("SESSIONS_BENCH")); err == nil {
		n = v
	}
	path := dbPath(b)
	s, _ := openAt(b, path)
	fillLarge(b, s, n)
	copyFile := func(name string) string {
		to := filepath.Join(b.TempDir(), name)
		raw, err := os.ReadFile(path)
		require.NoError(b, err)
		require.NoError(b, os.WriteFile(to, raw, 0o600))
		return to
	}
	killed := copyFile("killed") // the file's state while the store is open
	require.NoError(b, s.Close())
	size := float64(fileSize(b, path)) / (1 << 20)
	b.Run("closed cleanly", func(b *testing.B) {
		for b.Loop() {
			s, _, err := Open(path, Options{})
			require.NoError(b, err)
			require.NoError(b, s.Close())
		}
		b.ReportMetric(size, "MB")
	})
	b.Run("killed", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			raw, err := os.ReadFile(killed)
			require.NoError(b, err)
			again := filepath.Join(b.TempDir(), "again")
			require.NoError(b, os.WriteFile(again, raw, 0o600))
			b.StartTimer()
			s, _, err := Open(again, Options{})
			require.NoError(b, err)
			b.StopTimer()
			require.NoError(b, s.Close())
			b.StartTimer()
		}
	})
}

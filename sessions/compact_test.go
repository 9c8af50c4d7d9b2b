package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	. "cursord/sessions"
)

// dump returns the contents of a closed database, without its epoch and the indexes, which are made when there is time.
func dump(t testing.TB, path string) map[string]string {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	require.NoError(t, err)
	defer db.Close()
	all := map[string]string{}
	var walk func(path string, b *bolt.Bucket) error
	walk = func(path string, b *bolt.Bucket) error {
		all[path] = "a bucket"
		return b.ForEach(func(k, v []byte) error {
			if string(k) == "index" {
				return nil
			}
			if v == nil {
				return walk(path+"/"+string(k), b.Bucket(k))
			}
			all[path+"/"+string(k)] = string(v)
			return nil
		})
	}
	require.NoError(t, db.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			require.NoError(t, err)
		}
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error { return walk(string(name), b) })
	}))
	delete(all, "meta/epoch")
	return all
}

// history returns n rounds of changes: sessions come, grow, are reviewed and go.
func history(n int) (rounds [][]Op) {
	seq := uint64(0)
	next := func() uint64 { seq++; return seq }
	for i := range n {
		s, tn := fmt.Sprintf("s%d", i), fmt.Sprintf("t%d", i)
		long := item(tn, s, 0, ItemCompleted, 0)
		long.Text, long.Seq = strings.Repeat(fmt.Sprintf("text %d ", i), 3000), 0
		ops := puts(session(s, next()), turn(tn, s, TurnCompleted, next()))
		long.Seq = next()
		ops = append(ops, Put{Object: long, Detail: fmt.Appendf(nil, `{"detail":%d}`, i%7)},
			Put{Object: item(tn, s, 1, ItemRunning, next())}, AppendText{ItemID: ItemID(tn, 1), Offset: 0, Text: "so far"},
			PutReview{Path: fmt.Sprint("f", i%9), State: fmt.Append(nil, i), Blobs: [][]byte{fmt.Append(nil, "blob ", i%5), fmt.Append(nil, "only ", i)}},
			PutDecision{N: uint64(i + 1), Data: []byte("yes")}, PutNote{N: 1, Data: fmt.Append(nil, i)})
		if i%3 == 2 {
			ops = append(ops, DropReview{Path: fmt.Sprint("f", (i-1)%9)}, DropDecision{N: uint64(i)}, DropNote{N: 1})
		}
		if i >= 10 && i%10 != 0 {
			ops = append(ops, RemoveSession{ID: fmt.Sprintf("s%d", i-10), Seq: next()})
		}
		rounds = append(rounds, ops)
	}
	return rounds
}

// TestCompact compacts over and over while a store is written and read. It must end equal to a store without compactions.
func TestCompact(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("not on Windows")
	}
	rounds := history(150)
	plain := filepath.Join(t.TempDir(), "plain.db")
	s, _ := openAt(t, plain)
	for _, ops := range rounds {
		must(t, s, ops...)
	}
	require.NoError(t, s.Close())

	path := dbPath(t)
	s, _ = openAt(t, path)
	var all, compactor sync.WaitGroup
	done := make(chan struct{})
	compacted := 0
	compactor.Go(func() {
		for {
			require.NoError(t, s.Compact(context.Background()))
			compacted++
			select {
			case <-done:
				return
			default:
			}
		}
	})
	all.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			_, err := s.Changes(root, 0, 100)
			require.NoError(t, err)
			_, _, _, err = s.Transcript("s3", "", 0)
			require.True(t, err == nil || errors.Is(err, ErrNotFound), "%v", err)
		}
	})
	for _, ops := range rounds {
		must(t, s, ops...)
	}
	close(done)
	compactor.Wait()
	all.Wait()
	require.Positive(t, compacted)
	require.NoError(t, s.Trouble())
	require.NoError(t, s.Close())
	requireAlone(t, path)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, dump(t, plain), dump(t, path))
	s, report := openAt(t, path)
	require.Empty(t, report.MovedAside)
	require.Len(t, report.Interrupted, 0)
	require.NoError(t, s.Close())
}

// TestCompactGivesRoomBack compacts a store after most of it was deleted.
func TestCompactGivesRoomBack(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("not on Windows")
	}
	path := dbPath(t)
	s, _ := openAt(t, path)
	big := make([]byte, 90<<20)
	for i := range big {
		big[i] = byte(i >> 12)
	}
	must(t, s, puts(session("s1", 1), turn("t1", "s1", TurnCompleted, 2))...)
	must(t, s, PutReview{Path: "big", State: []byte("x"), Blobs: [][]byte{big}})
	use, err := s.DiskUse()
	require.NoError(t, err)
	require.False(t, use.Wasteful(), "%+v", use)
	must(t, s, DropReview{Path: "big"})
	must(t, s, SetTrust{Trusted: true}) // bbolt sets pages free with the next commit
	use, err = s.DiskUse()
	require.NoError(t, err)
	require.True(t, use.Wasteful(), "%+v", use)
	require.Greater(t, use.Free, int64(80<<20))
	require.NoError(t, s.Compact(context.Background()))
	use, err = s.DiskUse()
	require.NoError(t, err)
	require.Less(t, use.Bytes, int64(34<<20))
	require.False(t, use.Wasteful(), "%+v", use)
	require.Equal(t, []string{"1 session s1", "2 turn t1"}, index(t, s, 0))
}

// TestCompactThatFails: a failed compaction leaves everything as it was, and the store goes on.
func TestCompactThatFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("not on Windows")
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		faults Faults
		before func(t *testing.T, path string)
		is     error
	}{
		"cancelled": {ctx: cancelled, is: context.Canceled},
		"renaming":  {faults: Faults{Rename: func(string, string) error { return syscall.EIO }}, is: syscall.EIO},
		"a folder in its way": {is: syscall.ENOTEMPTY, before: func(t *testing.T, path string) {
			require.NoError(t, os.MkdirAll(path+".compact/x", 0o700))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			path := dbPath(t)
			s, _, err := OpenFaulty(path, Options{}, c.faults)
			require.NoError(t, err)
			t.Cleanup(func() { s.Close() })
			must(t, s, puts(session("s1", 1))...)
			if c.before != nil {
				c.before(t, path)
			}
			if c.ctx == nil {
				c.ctx = context.Background()
			}
			require.ErrorIs(t, s.Compact(c.ctx), c.is)
			must(t, s, puts(session("s2", 2))...)
			if c.before == nil {
				requireAlone(t, path)
			}
			require.NoError(t, s.Close())
			s, report := openAt(t, path)
			require.Equal(t, Report{}, report)
			require.Equal(t, []string{"1 session s1", "2 session s2"}, index(t, s, 0))
		})
	}
	t.Run("closed", func(t *testing.T) {
		s := openNew(t)
		require.NoError(t, s.Close())
		require.ErrorIs(t, s.Compact(context.Background()), ErrClosed)
	})
	t.Run("damaged", func(t *testing.T) {
		path := dbPath(t)
		fillStore(t, path)
		s, _ := openAt(t, path)
		damagePages(t, path, "text 3 of t05")
		require.ErrorIs(t, s.Compact(context.Background()), ErrDamaged)
		must(t, s, puts(turn("t98", "s06", TurnCompleted, 5001))...)
		require.NoError(t, s.Close())
		_, r := openAt(t, path)
		require.NotEmpty(t, r.MovedAside)
	})
	t.Run("left by a crash", func(t *testing.T) {
		path := dbPath(t)
		s, _ := openAt(t, path)
		must(t, s, puts(session("s1", 1))...)
		require.NoError(t, s.Close())
		require.NoError(t, os.WriteFile(path+".compact", []byte("half a file"), 0o600))
		openAt(t, path)
		requireAlone(t, path)
	})
}

// TestCloseEndsACompaction closes a store in the middle of a compaction.
func TestCloseEndsACompaction(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("not on Windows")
	}
	path := dbPath(t)
	s, _ := openAt(t, path)
	for _, ops := range history(300) {
		s.Submit(root, ops, nil)
	}
	must(t, s, SetTrust{Trusted: true})
	for range 3 {
		began := make(chan struct{})
		ended := make(chan error, 1)
		go func() {
			close(began)
			ended <- s.Compact(context.Background())
		}()
		<-began
		require.NoError(t, s.Close())
		if err := <-ended; err != nil {
			require.ErrorIs(t, err, ErrClosed)
		}
		requireAlone(t, path)
		var report Report
		s, report = openAt(t, path)
		require.Empty(t, report.MovedAside)
		w, err := s.Workspace(root)
		require.NoError(t, err)
		require.True(t, w.Trusted)
	}
}

// TestACopyThatWouldFillTheDiskIsNotBegun: on an almost full disk, a compaction does not begin its copy.
func TestACopyThatWouldFillTheDiskIsNotBegun(t *testing.T) {
	path := dbPath(t)
	s, _, err := OpenFaulty(path, Options{}, Faults{Free: func(string) (int64, bool) { return 5 << 20, true }})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	must(t, s, puts(session("s1", 1))...)
	require.NoError(t, s.Room(1<<19))
	require.ErrorIs(t, s.Room(2<<20), ErrNoSpace)
	for i := range 8 {
		it := item(fmt.Sprint("t", i), "s1", 0, ItemCompleted, uint64(2*i+3))
		it.Text = strings.Repeat("x", 1<<20)
		must(t, s, puts(turn(it.TurnID, "s1", TurnCompleted, uint64(2*i+2)), it)...)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.ErrorIs(t, s.Backup(context.Background(), copied, false), ErrNoSpace)
	require.NoFileExists(t, copied+BackupSuffix)
	if runtime.GOOS != "windows" {
		require.ErrorIs(t, s.Compact(context.Background()), ErrNoSpace)
	}
	requireAlone(t, path)
}

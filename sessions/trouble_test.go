package sessions_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	. "cursord/sessions"
)

// faulty opens a store whose commits fail with the error in fail, unless that is nil.
func faulty(t *testing.T, path string) (s *Store, fail *atomic.Pointer[error], trouble chan error) {
	t.Helper()
	fail, trouble = new(atomic.Pointer[error]), make(chan error, 10)
	s, _, err := OpenFaulty(path, Options{OnTrouble: func(err error) { trouble <- err }}, Faults{
		Drain: 20 * time.Millisecond,
		Commit: func(update func() error) error {
			if err := fail.Load(); err != nil {
				return *err
			}
			return update()
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s, fail, trouble
}

func TestFailingCommitsAreTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		is   error
		says string
	}{
		"full":      {&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, ErrNoSpace, "free space"},
		"unwrapped": {fmt.Errorf("file resize error: %s", syscall.ENOSPC), ErrNoSpace, "free space"},
		"input":     {syscall.EIO, syscall.EIO, "store.db"},
		"read-only": {syscall.EROFS, syscall.EROFS, "make it writable"},
		"no rights": {syscall.EACCES, fs.ErrPermission, "readable and writable for this user"},
	} {
		t.Run(name, func(t *testing.T) {
			s, fail, trouble := faulty(t, dbPath(t))
			must(t, s, puts(session("s0", 1))...)
			require.NoError(t, s.Trouble())
			fail.Store(&c.err)
			answers := make(chan int, 10)
			for i := 1; i <= 3; i++ {
				s.Submit(root, puts(session(fmt.Sprint("s", i), uint64(i+1))), func(err error) {
					require.NoError(t, err)
					answers <- i
				})
			}
			err := <-trouble
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.says)
			require.ErrorIs(t, s.Trouble(), c.is)
			require.Equal(t, 3, s.Backlog())
			require.ErrorIs(t, second(s.Session("s1")), ErrNotFound)
			require.NoError(t, second(s.Session("s0")))
			fail.Store(nil)
			require.NoError(t, <-trouble)
			for i := 1; i <= 3; i++ {
				require.Equal(t, i, <-answers)
			}
			require.NoError(t, s.Trouble())
			require.Equal(t, []string{"1 session s0", "2 session s1", "3 session s2", "4 session s3"}, index(t, s, 0))
			require.Empty(t, trouble)
		})
	}
}

// TestARetryDoesNotWaitForThePause: the disk works again during a long pause between two tries.
func TestARetryDoesNotWaitForThePause(t *testing.T) {
	s, fail, trouble := faulty(t, dbPath(t))
	require.NoError(t, s.Retry(0), "there is nothing to try again")
	full := error(syscall.ENOSPC)
	fail.Store(&full)
	s.Submit(root, puts(session("s1", 1)), nil)
	<-trouble
	for range 20 { // more retries than pauses of a second
		require.ErrorIs(t, s.Retry(time.Minute), ErrNoSpace)
	}
	fail.Store(nil)
	require.NoError(t, s.Retry(time.Minute))
	require.NoError(t, <-trouble)
	require.NoError(t, second(s.Session("s1")))
}

// TestARetryDoesNotWaitForADiskThatHangs: a commit never returns.
func TestARetryDoesNotWaitForADiskThatHangs(t *testing.T) {
	broken, hangs := errors.New("broken"), make(chan struct{})
	first := true
	trouble := make(chan error, 10)
	s, _, err := OpenFaulty(dbPath(t), Options{OnTrouble: func(err error) { trouble <- err }}, Faults{
		Commit: func(update func() error) error {
			if first {
				return update() // the commit of Open itself
			}
			<-hangs
			return broken
		},
		Drain: time.Millisecond,
	})
	require.NoError(t, err)
	first = false
	s.Submit(root, puts(session("s1", 1)), nil)
	hangs <- struct{}{}
	require.ErrorIs(t, <-trouble, broken)
	require.ErrorIs(t, s.Retry(10*time.Millisecond), broken)
	close(hangs)
	require.NoError(t, s.Close())
}

func TestCloseGivesUpOnWhatCannotBeCommitted(t *testing.T) {
	path := dbPath(t)
	s, fail, trouble := faulty(t, path)
	must(t, s, puts(session("s0", 1))...)
	full := error(syscall.ENOSPC)
	fail.Store(&full)
	var answers []error
	for i := 1; i <= 3; i++ {
		s.Submit(root, puts(session(fmt.Sprint("s", i), uint64(i+1))), func(err error) { answers = append(answers, err) })
		if i == 1 {
			<-trouble
		}
	}
	require.NoError(t, s.Close())
	require.Equal(t, []error{ErrClosed, ErrClosed, ErrClosed}, answers)
	s, _ = openAt(t, path)
	require.Equal(t, []string{"1 session s0"}, index(t, s, 0))
}

func TestOpenFailsOnAFullDiskAndMovesNothing(t *testing.T) {
	path := dbPath(t)
	s, _ := openAt(t, path)
	must(t, s, puts(session("s1", 1), turn("t1", "s1", TurnRunning, 2))...)
	require.NoError(t, s.Close())
	_, _, err := OpenFaulty(path, Options{}, Faults{Commit: func(func() error) error { return syscall.ENOSPC }})
	require.ErrorIs(t, err, ErrNoSpace)
	requireAlone(t, path)
	_, r := openAt(t, path)
	require.Len(t, r.Interrupted, 1)
}

// requireAlone requires that no file lies beside the database.
func requireAlone(t *testing.T, path string) {
	t.Helper()
	es, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, es, 1)
}

func TestOpenSaysWhatToDo(t *testing.T) {
	write := func(t *testing.T, path string, update func(tx *bolt.Tx) error) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		db, err := bolt.Open(path, 0o600, nil)
		require.NoError(t, err)
		require.NoError(t, db.Update(update))
		require.NoError(t, db.Close())
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		is   error
		says string
	}{
		"newer": {func(t *testing.T, path string) {
			s, _ := openAt(t, path)
			require.NoError(t, s.Close())
			write(t, path, func(tx *bolt.Tx) error {
				return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte{7: 99})
			})
		}, ErrNewerSchema, "update cursord"},
		"newer and damaged": {func(t *testing.T, path string) {
			s, _ := openAt(t, path)
			must(t, s, puts(session("s1", 1), turn("t1", "s1", TurnCompleted, 2))...)
			long := item("t1", "s1", 0, ItemCompleted, 3)
			long.Text = strings.Repeat("needle ", 10000)
			must(t, s, puts(long)...)
			require.NoError(t, s.Close())
			write(t, path, func(tx *bolt.Tx) error {
				return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte{7: 99})
			})
			damagePages(t, path, "needle")
		}, ErrNewerSchema, "update cursord"},
		"another program's": {func(t *testing.T, path string) {
			write(t, path, func(tx *bolt.Tx) error { return second(tx.CreateBucket([]byte("birds"))) })
		}, nil, "another program"},
		"directory": {func(t *testing.T, path string) {
			require.NoError(t, os.MkdirAll(path, 0o700))
		}, nil, "not a regular file"},
		"parent is a file": {func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(filepath.Dir(path), nil, 0o600))
		}, syscall.ENOTDIR, "store.db"},
		"locked": {func(t *testing.T, path string) { openAt(t, path) }, ErrLocked, "cursord stop"},
	} {
		t.Run(name, func(t *testing.T) {
			path := dbPath(t)
			c.make(t, path)
			_, r, err := OpenFaulty(path, Options{LockTimeout: time.Millisecond}, Faults{})
			require.Error(t, err)
			require.Empty(t, r)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			require.ErrorContains(t, err, c.says)
			if name != "parent is a file" {
				requireAlone(t, path)
			}
		})
	}
}

func TestMigration(t *testing.T) {
	path := dbPath(t)
	s, _ := openAt(t, path)
	must(t, s, puts(session("s1", 1))...)
	epoch := s.Epoch()
	require.NoError(t, s.Close())
	var ran []string
	step := func(name string, err error) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			ran = append(ran, name)
			_, bad := tx.CreateBucket([]byte(name))
			return errors.Join(err, bad)
		}
	}
	_, _, err := OpenFaulty(path, Options{}, Faults{Migrations: []func(*bolt.Tx) error{step("two", nil), step("three", errors.New("no bird"))}})
	require.ErrorContains(t, err, "from schema 3 to 4: no bird")
	require.Equal(t, []string{"two", "three"}, ran)
	requireAlone(t, path)
	for range 2 { // the second open has nothing to do; the failed one left nothing
		s, _, err = OpenFaulty(path, Options{}, Faults{Migrations: []func(*bolt.Tx) error{step("two", nil), step("three", nil)}})
		require.NoError(t, err)
		require.Equal(t, epoch, s.Epoch())
		require.Equal(t, []string{"1 session s1"}, index(t, s, 0))
		require.NoError(t, s.Close())
	}
	require.Equal(t, []string{"two", "three", "two", "three"}, ran)
	_, _, err = Open(path, Options{})
	require.ErrorIs(t, err, ErrNewerSchema)
}

func TestFileIsPrivate(t *testing.T) {
	path := dbPath(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	s, _ := openAt(t, path)
	must(t, s, puts(session("s1", 1))...)
	st, err := os.Stat(path)
	require.NoError(t, err)
	if os.PathSeparator == '/' {
		require.Equal(t, fs.FileMode(0o600), st.Mode().Perm())
	}
	require.True(t, strings.HasSuffix(s.Path(), "store.db"))
}

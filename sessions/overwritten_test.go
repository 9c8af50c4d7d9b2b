package sessions_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

// TestAnOlderCopyOverAnOpenDatabase puts a backup in place beneath an open store. What bbolt remembers of free pages is then
// wrong: it panics in commits and, in every second round, in their rollback as well, which keeps its lock of writers.
func TestAnOlderCopyOverAnOpenDatabase(t *testing.T) {
	t.Parallel()
	path := dbPath(t)
	fillStore(t, path)
	first, err := os.ReadFile(path)
	require.NoError(t, err)
	for round := range 8 {
		require.NoError(t, os.WriteFile(path, first, 0o600))
		trouble := make(chan error, 100)
		s, _, err := OpenFaulty(path, Options{OnTrouble: func(err error) { trouble <- err }}, Faults{Drain: time.Millisecond})
		require.NoError(t, err)
		backup, err := os.ReadFile(path)
		require.NoError(t, err)
		for i := range 4 + 3*round {
			must(t, s, puts(session(fmt.Sprint("new", i), uint64(1000+i)))...)
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteAt(backup, 0)
		require.NoError(t, err)
		require.NoError(t, f.Close())

		answered := make(chan error, 1)
		for i := range 50 {
			s.Submit(root, puts(session(fmt.Sprint("newer", i), 2000+uint64(i))), nil)
		}
		s.Submit(root, puts(session("newer", 2000)), func(err error) { answered <- err })
		select {
		case err := <-trouble:
			require.ErrorIs(t, err, ErrDamaged)
			for range 60 {
				_ = s.Retry(10 * time.Second)
			}
		case err := <-answered:
			require.NoError(t, err)
			answered <- nil
		}
		_, err = s.Turn("t05")
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
		}
		_ = s.Close()
		if err := <-answered; err != nil {
			require.ErrorIs(t, err, ErrClosed)
		}
		s, _ = openAt(t, path)
		for i := range 40 {
			require.NoError(t, second(s.Turn(fmt.Sprintf("t%02d", i))))
		}
		require.NoError(t, s.Close())
	}
}

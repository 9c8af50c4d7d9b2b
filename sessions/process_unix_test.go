//go:build unix

package sessions_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	. "cursord/sessions"
)

// children are the jobs of the test binary as a separate process.
func children() map[string]func() {
	return map[string]func(){"writer": writeForEver, "compacting writer": writeAndCompact, "limit": writeOverTheLimit}
}

func child(name, path string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SESSIONS_TEST_CHILD="+name, "SESSIONS_TEST_DB="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// unitOps returns the writer's unit n: a session and a diff, with the seqs 2n+1 and 2n+2, and a review.
func unitOps(n uint64) []Op {
	slot := n % 50
	ops := puts(session(fmt.Sprint("s", slot), 2*n+1), diff(fmt.Sprint("f", slot), "pending", 2*n+2))
	return append(ops, PutReview{Path: fmt.Sprint("f", slot), State: fmt.Append(nil, n), Blobs: [][]byte{fmt.Append(nil, "content of ", n)}})
}

// writeForEver stores units and prints the seq of each that is acknowledged.
func writeForEver() {
	s, _, err := Open(os.Getenv("SESSIONS_TEST_DB"), Options{})
	check(err)
	writeUnits(s)
}

// writeAndCompact does the same while it compacts without end.
func writeAndCompact() {
	s, _, err := Open(os.Getenv("SESSIONS_TEST_DB"), Options{})
	check(err)
	go func() {
		for {
			check(s.Compact(context.Background()))
		}
	}()
	writeUnits(s)
}

func writeUnits(s *Store) {
	w, err := s.Workspace(root)
	check(err)
	room := make(chan struct{}, 40)
	for n := w.Seq / 2; ; n++ {
		room <- struct{}{}
		s.Submit(root, unitOps(n), func(err error) {
			check(err)
			fmt.Println(2*n + 2)
			<-room
		})
	}
}

func TestAKilledWriterLosesNothingItAcknowledged(t *testing.T) {
	for _, name := range []string{"writer", "compacting writer"} {
		t.Run(name, func(t *testing.T) {
			killWriters(t, name)
		})
	}
}

func killWriters(t *testing.T, name string) {
	path := dbPath(t)
	r := rand.New(rand.NewPCG(3, 4))
	kills := 8 * *Damages
	last := uint64(0)
	for range kills {
		cmd := child(name, path)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		killAt := 1 + r.IntN(300)
		for n := 0; lines.Scan(); n++ { // lines in the pipe after the kill were acknowledged too
			got, err := strconv.ParseUint(lines.Text(), 10, 64)
			require.NoError(t, err)
			require.Equal(t, last+2, max(got, last+2), "in order")
			last = got
			if n == killAt {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		require.Error(t, cmd.Wait())

		s, report := openAt(t, path)
		require.Equal(t, Report{}, report)
		w, err := s.Workspace(root)
		require.NoError(t, err)
		require.GreaterOrEqual(t, w.Seq, last)
		require.Zero(t, w.Seq%2, "half a unit")
		units := w.Seq / 2
		var want []string
		for n := units - min(units, 50); n < units; n++ {
			want = append(want, fmt.Sprintf("%d session s%d", 2*n+1, n%50), fmt.Sprintf("%d diff f%d", 2*n+2, n%50))
			review, err := s.Review(root, fmt.Sprint("f", n%50))
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(n), string(review.State))
			require.NoError(t, second(s.Blob(BlobID(fmt.Append(nil, "content of ", n)))))
			if n >= 50 {
				require.ErrorIs(t, second(s.Blob(BlobID(fmt.Append(nil, "content of ", n-50)))), ErrNotFound)
			}
		}
		require.Equal(t, want, index(t, s, 0))
		require.NoError(t, s.Close())
		last = w.Seq
	}
}

// writeOverTheLimit lets the file reach the process's limit of file sizes, and then lifts the limit.
func writeOverTheLimit() {
	signal.Ignore(unix.SIGXFSZ)
	var old unix.Rlimit
	check(unix.Getrlimit(unix.RLIMIT_FSIZE, &old))
	low := old
	low.Cur = 17 << 20 // the file grows in steps of 16 MiB
	check(unix.Setrlimit(unix.RLIMIT_FSIZE, &low))
	trouble := make(chan error, 10)
	s, _, err := Open(os.Getenv("SESSIONS_TEST_DB"), Options{OnTrouble: func(err error) { trouble <- err }})
	check(err)
	answers := make(chan error, 1000)
	for i := range 1000 {
		sess := session(fmt.Sprint("s", i), uint64(i+1))
		sess.Title = strings.Repeat("x", 20000)
		s.Submit(root, puts(sess), func(err error) { answers <- err })
	}
	if err := <-trouble; !errors.Is(err, ErrNoSpace) {
		check(fmt.Errorf("trouble is %v", err))
	}
	if _, err := s.Changes(root, 0, 10); err != nil {
		check(err)
	}
	check(unix.Setrlimit(unix.RLIMIT_FSIZE, &old))
	check(<-trouble)
	for range 1000 {
		check(<-answers)
	}
	check(s.Close())
}

func TestAFullFileIsWrittenOnceThereIsRoom(t *testing.T) {
	path := dbPath(t)
	require.NoError(t, child("limit", path).Run())
	s, report := openAt(t, path)
	require.Equal(t, Report{}, report)
	require.Len(t, index(t, s, 0), 1000)
}

func TestAnotherProcessHoldsTheFile(t *testing.T) {
	path := dbPath(t)
	cmd := child("writer", path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.True(t, bufio.NewScanner(out).Scan())
	_, _, err = Open(path, Options{})
	require.ErrorIs(t, err, ErrLocked)
	requireAlone(t, path)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	openAt(t, path)
}

func TestDamageUnderAnOpenStoreIsAnErrorAndRepairedNextTime(t *testing.T) {
	path := dbPath(t)
	fillStore(t, path)
	s, _ := openAt(t, path)
	damagePages(t, path, "text 3 of t05")
	_, _, _, err := s.Transcript("s05", "", 0)
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorIs(t, submit(s, root, puts(turn("t99", "s05", TurnCompleted, 5000))...), ErrDamaged)
	must(t, s, puts(turn("t98", "s06", TurnCompleted, 5001))...)
	_, _, _, err = s.Transcript("s06", "", 0)
	require.NoError(t, err)
	require.NoError(t, s.Close())

	s, r := openAt(t, path)
	require.NotEmpty(t, r.MovedAside)
	require.NoError(t, second(s.Turn("t98")))
}

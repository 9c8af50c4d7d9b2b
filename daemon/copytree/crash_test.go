package copytree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/filestat"
)

// childVar makes the test binary a process that makes a copy or takes over, and that the test kills.
const childVar = "COPYTREE_TEST_CHILD"

func child(do string) {
	root, dir, _ := strings.Cut(do, "\n")
	c, err := Make(context.Background(), root, dir, Options{})
	if err == nil {
		_, err = c.TakeOver(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// killAt runs the child until a condition holds.
func (w *world) killAt(reached func() bool) {
	self, err := os.Executable()
	require.NoError(w.t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVar+"="+w.root+"\n"+w.dir)
	require.NoError(w.t, cmd.Start())
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	for {
		select {
		case <-ended:
			return // the child ended before the condition held
		default:
		}
		if reached() {
			cmd.Process.Kill()
			<-ended
			return
		}
	}
}

func countFiles(dir string) (n int) {
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return nil
	})
	return n
}

func TestKilled(t *testing.T) {
	w := newWorld(t).repo()
	const n = 300
	for i := range n {
		w.write(fmt.Sprintf("many/%d/%d.txt", i%17, i), fmt.Sprint(i, strings.Repeat(".", i*20)))
	}
	w.git("add", "-A")
	w.git("commit", "-qm", "many")
	age(t, w.root)
	for _, files := range []int{0, 1, 50, n - 1, n + 20} {
		require.NoError(t, os.RemoveAll(w.dir))
		w.killAt(func() bool { return countFiles(w.dir) >= files })
		c := w.make(Options{})
		require.Empty(t, w.takeOver(c), "killed at %d files", files)
		require.Empty(t, w.changed(c), "killed at %d files", files)
		require.Equal(t, status(t, w.root), status(t, c.Path()))
	}
	for round, bytes := range []int64{1, 3000, 9000, 15000} {
		for i := range n - 50 {
			name := fmt.Sprintf("many/%d/%d.txt", i%17, i)
			if i%5 == round {
				require.NoError(t, os.RemoveAll(filepath.Join(w.root, name)))
			} else {
				w.write(name, fmt.Sprint("round ", round, " ", i))
			}
		}
		write(t, filepath.Join(w.dir, "pond"), "agent.txt", fmt.Sprint("agent ", round))
		w.killAt(func() bool { return filestat.Of(filepath.Join(w.dir, metaName, journalName)).Size >= bytes })
		for i := range n / 10 { // the user's changes between two processes
			w.write(fmt.Sprintf("many/%d/%d.txt", i%17, i), fmt.Sprint("after round ", round))
		}
		c := w.make(Options{})
		require.NotContains(t, w.takeOver(c), "pending", "round %d", round)
		require.Equal(t, "created agent.txt", w.changed(c), "round %d", round)
		require.Equal(t, status(t, w.root)+"? agent.txt\x00", sortedStatus(status(t, c.Path()), "? agent.txt\x00"))
	}
}

// sortedStatus moves a record to the end.
func sortedStatus(s, rec string) string { return strings.Replace(s, rec, "", 1) + rec }

// TestCancelled takes over in steps, each of which is cancelled.
func TestCancelled(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		w.write(fmt.Sprint(i), "old")
	}
	c := w.make(Options{})
	for i := range 40 {
		w.write(fmt.Sprint(i), "new")
	}
	brought := 0
	for step := 1; brought < 40; step++ {
		ctx := &stepping{Context: t.Context(), left: 60 * step}
		list, err := c.TakeOver(ctx)
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		require.NotContains(t, told(list), "pending")
		brought += len(list)
		require.Empty(t, w.changed(c))
	}
	require.Equal(t, 40, brought)
	require.Equal(t, tree(t, w.root, false), tree(t, c.Path(), false))
}

// stepping is a context that is cancelled after a number of questions.
type stepping struct {
	context.Context
	left int
}

func (s *stepping) Err() error {
	if s.left--; s.left < 0 {
		return context.Canceled
	}
	return nil
}

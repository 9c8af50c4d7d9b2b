package dirwatch

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// until takes names until some are among them.
func until(t *testing.T, n *Names, want ...string) {
	t.Helper()
	var had []string
	for deadline := time.After(time.Minute); ; {
		names, lost := n.Take()
		require.False(t, lost)
		if had = append(had, names...); !slices.ContainsFunc(want, func(name string) bool { return !slices.Contains(had, name) }) {
			return
		}
		select {
		case <-n.Ready:
		case <-deadline:
			t.Fatalf("waited in vain for %q; there were %q", want, had)
		}
	}
}

func openNames(t *testing.T) *Names {
	t.Helper()
	n, err := OpenNames()
	require.NoError(t, err)
	t.Cleanup(n.Close)
	return n
}

func write(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(time.Now().String()), 0o644))
}

// TestNames: each gets the names in its own folders, and goes on with them when others let go.
func TestNames(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	one, two := t.TempDir(), t.TempDir()
	a, b := openNames(t), openNames(t)
	require.NoError(t, a.Add(one))
	require.NoError(t, b.Add(one))
	require.NoError(t, b.Add(two))
	write(t, filepath.Join(one, "f"))
	write(t, filepath.Join(two, "g"))
	until(t, a, filepath.Join(one, "f"))
	until(t, b, filepath.Join(one, "f"), filepath.Join(two, "g"))
	a.Remove(one)
	a.Take()
	write(t, filepath.Join(one, "h"))
	until(t, b, filepath.Join(one, "h"))
	names, lost := a.Take()
	require.Empty(t, names)
	require.False(t, lost)
	require.NoError(t, a.Add(one))
	b.Close()
	write(t, filepath.Join(one, "i"))
	until(t, a, filepath.Join(one, "i"))
	a.Close()
	require.ErrorIs(t, a.Add(one), os.ErrClosed)
	a.Remove(one)
	a.Close()
}

// TestNamesOfReplacedFolders: each who watches a folder that is replaced is told, and may watch the one that is there now, in any order.
func TestNamesOfReplacedFolders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	a, b := openNames(t), openNames(t)
	require.ErrorIs(t, a.Add(dir), os.ErrNotExist)
	for range 20 {
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, a.Add(dir))
		require.NoError(t, b.Add(dir))
		require.NoError(t, os.Remove(dir))
		until(t, a, dir)
		until(t, b, dir)
		require.NoError(t, os.Mkdir(dir, 0o755)) // some file systems give it the number of the one before
		for _, n := range []*Names{a, b} {
			n.Remove(dir)
			require.NoError(t, n.Add(dir))
		}
		write(t, filepath.Join(dir, "f"))
		until(t, a, filepath.Join(dir, "f"))
		until(t, b, filepath.Join(dir, "f"))
		require.NoError(t, os.RemoveAll(dir))
		until(t, a, dir)
		until(t, b, dir)
	}
}

// TestLostNames: what overflows one queue is lost there alone, and what the system has lost is lost for all.
func TestLostNames(t *testing.T) {
	dir := t.TempDir()
	a, b := openNames(t), openNames(t)
	require.NoError(t, b.Add(dir))
	shared.mu.Lock()
	for i := range most + 1 {
		a.note(strconv.Itoa(i))
	}
	shared.mu.Unlock()
	names, lost := a.Take()
	require.Empty(t, names)
	require.True(t, lost)
	_, lost = b.Take()
	require.False(t, lost)
	write(t, filepath.Join(dir, "f"))
	until(t, b, filepath.Join(dir, "f"))
	loseAll()
	for _, n := range []*Names{a, b} {
		<-n.Ready
		_, lost = n.Take()
		require.True(t, lost)
	}
}

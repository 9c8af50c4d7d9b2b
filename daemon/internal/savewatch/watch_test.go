package savewatch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestSavesAreCounted writes files in every way that editors use, and reads the count at once.
func TestSavesAreCounted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the ends of writes are reported on Linux only")
	}
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) }
	for name, row := range map[string]struct {
		save func(path string)
		want int
	}{
		"nothing":             {func(string) {}, 0},
		"in place":            {func(p string) { write(p, "a") }, 1},
		"twice in place":      {func(p string) { write(p, "a"); write(p, "b") }, 2},
		"the same text":       {func(p string) { write(p, "old") }, 1},
		"another file":        {func(p string) { write(p+"~", "a") }, 0},
		"renamed":             {func(p string) { write(p+"~", "a"); os.Rename(p+"~", p) }, 1},
		"moved away and anew": {func(p string) { os.Rename(p, p+"~"); write(p, "a") }, 1},
		"removed and made":    {func(p string) { os.Remove(p); write(p, "a") }, 1},
		"opened and closed":   {func(p string) { f, _ := os.OpenFile(p, os.O_RDWR, 0); f.Close() }, 0},
		"read":                {func(p string) { os.ReadFile(p) }, 0},
		"in many pieces":      {func(p string) { f, _ := os.Create(p); f.WriteString("a"); f.WriteString("b"); f.Close() }, 1},
		"both ways":           {func(p string) { write(p, "a"); write(p+"~", "b"); os.Rename(p+"~", p) }, 2},
		"with its folder moved": {func(p string) {
			os.Rename(filepath.Dir(p), filepath.Dir(p)+"2")
			os.Mkdir(filepath.Dir(p), 0o755)
			write(p, "a")
		}, Uncounted},
		"with its folder gone": {func(p string) { os.RemoveAll(filepath.Dir(p)) }, Uncounted},
	} {
		t.Run(name, func(t *testing.T) {
			var w Watch
			defer w.Close()
			path := filepath.Join(t.TempDir(), "in", "f")
			require.NoError(t, os.Mkdir(filepath.Dir(path), 0o755))
			write(path, "old")
			var count atomic.Int64
			f, err := w.Add(path, func(n int) { count.Add(int64(n)) }, func() {})
			require.NoError(t, err)
			row.save(path)
			w.Sync()
			if row.want == Uncounted {
				require.GreaterOrEqual(t, count.Load(), int64(Uncounted))
			} else {
				require.EqualValues(t, row.want, count.Load())
				require.False(t, f.Written())
			}
			f.Stop()
			f.Stop()
			require.Empty(t, w.files)
			require.Empty(t, w.folders)
		})
	}
}

// TestAFileThatIsHeldOpen reads the count during a write.
func TestAFileThatIsHeldOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the ends of writes are reported on Linux only")
	}
	var w Watch
	defer w.Close()
	path := filepath.Join(t.TempDir(), "f")
	f, err := w.Add(path, func(int) {}, func() {})
	require.NoError(t, err)
	held, err := os.Create(path)
	require.NoError(t, err)
	w.Sync()
	require.True(t, f.Written())
	require.NoError(t, held.Close())
	w.Sync()
	require.False(t, f.Written())
}

// TestSavesAreLookedAt: saves are seen without a request for the count.
func TestSavesAreLookedAt(t *testing.T) {
	defer goleak.VerifyNone(t)
	var w Watch
	defer w.Close()
	dir := t.TempDir()
	for i := range 3 {
		path := filepath.Join(dir, fmt.Sprint(i))
		looked := make(chan struct{}, 100)
		f, err := w.Add(path, func(int) {}, func() { looked <- struct{}{} })
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte("a"), 0o644))
		select {
		case <-looked:
		case <-time.After(time.Minute):
			t.Fatal("nobody looked")
		}
		f.Stop()
	}
}

// TestWatchIsBounded watches more folders and more files than the limits allow, and a file in a folder that does not exist.
func TestWatchIsBounded(t *testing.T) {
	var w Watch
	defer w.Close()
	dir := t.TempDir()
	add := func(path string) error {
		_, err := w.Add(filepath.Join(dir, path), func(int) {}, func() {})
		return err
	}
	require.ErrorIs(t, add("none/f"), fs.ErrNotExist)
	for i := range maxFolders {
		require.NoError(t, os.Mkdir(filepath.Join(dir, fmt.Sprint(i)), 0o755))
		require.NoError(t, add(fmt.Sprintf("%d/f", i)))
	}
	require.ErrorIs(t, add("f"), ErrTooMany)
	for i := range maxFiles - maxFolders {
		require.NoError(t, add(fmt.Sprintf("0/f%d", i)))
	}
	require.ErrorIs(t, add("0/g"), ErrTooMany)
	w.Close()
	require.ErrorIs(t, add("0/f"), ErrTooMany)
}

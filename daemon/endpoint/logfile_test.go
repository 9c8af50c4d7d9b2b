package endpoint

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLogRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cursord.log")
	write := func(l *LogFile, lines ...string) {
		for _, line := range lines {
			_, err := l.Write([]byte(line + "\n"))
			require.NoError(t, err)
		}
	}
	l, err := openLog(path, 10)
	require.NoError(t, err)
	write(l, "1234", "5678") // 10 bytes: exactly the limit
	require.NoFileExists(t, path+".1")
	write(l, "a", "longer than a whole file", "b", "c")
	require.NoError(t, l.Close())

	content := func(path string) string {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, "b\nc\n", content(path))
	require.Equal(t, "longer than a whole file\n", content(path+".1"))
	require.Equal(t, "a\n", content(path+".2"))
	require.NoFileExists(t, path+".3")

	// The lines of an earlier daemon count.
	l, err = openLog(path, 10)
	require.NoError(t, err)
	write(l, "12345", "x")
	require.NoError(t, l.Close())
	require.Equal(t, "b\nc\n12345\n", content(path+".1"))
	require.Equal(t, "x\n", content(path))
}

func TestLogger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cursord.log")
	l, err := openLog(path, 1<<10)
	require.NoError(t, err)
	log := l.Logger(slog.LevelInfo)
	log.Debug("not kept")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 7 {
				log.Info("kept", "of", strings.Repeat("x", 20))
			}
		})
	}
	wg.Wait()
	require.NoError(t, l.Close())

	lines := 0
	for _, name := range []string{path, path + ".1", path + ".2"} {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		require.LessOrEqual(t, len(b), 1<<10)
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077)
		for line := range bytes.Lines(b) {
			require.True(t, json.Valid(line), "%s", line)
			lines++
		}
	}
	require.Equal(t, 28, lines)

	_, err = OpenLog(filepath.Join(path, "below a file"))
	require.ErrorContains(t, err, "log: ")
}

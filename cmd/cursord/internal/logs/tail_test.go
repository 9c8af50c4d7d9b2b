package logs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/term"
)

// TestTail follows a log through everything that may happen to its files between two looks.
func TestTail(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cursord.log")
	write := func(text string) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	rotate := func() {
		_ = os.Rename(path+".1", path+".2")
		require.NoError(t, os.Rename(path, path+".1"))
	}
	var out bytes.Buffer
	show := newScreen(&out, true)
	log, err := open(path, 10)
	require.NoError(t, err)
	look := func(want string) {
		t.Helper()
		require.NoError(t, log.read(show))
		require.Equal(t, want, out.String())
		out.Reset()
	}
	look("")
	write("1\n2\n")
	look("1\n2\n")
	look("")
	write("3\nha")
	look("3\n")
	write("lf\n")
	rotate()
	look("half\n")
	write("4\n")
	look("4\n")
	write("5\n")
	rotate()
	write("6\n")
	rotate()
	write("7\n")
	look("5\n6\n7\n")
	require.NoError(t, os.Remove(path))
	look("")
	write("8\n")
	look("8\n")
	require.NoError(t, os.Truncate(path, 0))
	look("")
	write("9\n")
	look("9\n")
	write(strings.Repeat("long ", lineMax))
	require.NoError(t, log.read(show))
	require.NotEmpty(t, out.String(), "a line without end is shown in pieces")
	require.NoError(t, log.close())

	// The last lines may be in older files.
	for n, want := range map[int]string{0: "", 1: "12\n", 2: "11\n12\n", 4: "9\n10\n11\n12\n", 5: "8\n9\n10\n11\n12\n", 99: "7\n8\n9\n10\n11\n12\n"} {
		t.Run(fmt.Sprint("last ", n), func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"l.2": "7\n8\n", "l.1": "9\n10\n", "l": "11\n12\npart"} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			log, err := open(filepath.Join(dir, "l"), n)
			require.NoError(t, err)
			var out bytes.Buffer
			require.NoError(t, log.read(newScreen(&out, true)))
			require.Equal(t, want, out.String())
			require.NoError(t, log.close())
		})
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"time":"not a time","level":"WARN","msg":"a\nb","n":5,"text":"x y","empty":"","list":[1,2]}`: `not a time WARN  a\nb n=5 text="x y" empty="" list=[1,2]`,
		"panic: \x1b[2J": `panic: \x1b[2J`,
		"{not json":      "{not json",
		"":               "",
	} {
		got := newScreen(nil, false).readable([]byte(line))
		require.Equal(t, strings.ReplaceAll(term.Clean(strings.ReplaceAll(want, `\n`, "\n")), `\x1b`, term.Clean("\x1b")), got)
	}
}

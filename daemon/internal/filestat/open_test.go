//go:build unix

package filestat

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOpenRegularDoesNotWait: a FIFO, a device, a folder and nothing in the place of a file are errors at once.
func TestOpenRegularDoesNotWait(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(in("file"), []byte("text"), 0o600))
	require.NoError(t, os.Symlink("file", in("link")))
	require.NoError(t, syscall.Mkfifo(in("fifo"), 0o600))
	require.NoError(t, os.Symlink("fifo", in("to-fifo")))
	for _, c := range []struct {
		path string
		want error
	}{
		{in("file"), nil}, {in("link"), nil},
		{in("fifo"), ErrNotRegular}, {in("to-fifo"), ErrNotRegular}, {os.DevNull, ErrNotRegular}, {dir, ErrNotRegular},
		{in("none"), fs.ErrNotExist},
	} {
		got, err := ReadRegular(c.path)
		require.ErrorIs(t, err, c.want, c.path)
		if c.want == nil {
			require.Equal(t, "text", string(got), c.path)
		}
	}
}

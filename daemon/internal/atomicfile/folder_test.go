//go:build linux

package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cursord/daemon/internal/filestat"
)

// TestFolder: a folder is read with the states and contents of its files, nothing is waited for, and no link is followed.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	full := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.MkdirAll(full("in/deeper"), 0o755))
	require.NoError(t, os.WriteFile(full("in/f"), []byte("text"), 0o644))
	require.NoError(t, os.WriteFile(full("in/most"), []byte(strings.Repeat("m", 10)), 0o644))
	require.NoError(t, os.WriteFile(full("in/large"), []byte(strings.Repeat("l", 11)), 0o644))
	require.NoError(t, os.WriteFile(full("in/empty"), nil, 0o644))
	require.NoError(t, unix.Mkfifo(full("in/fifo"), 0o644))
	require.NoError(t, os.Symlink("f", full("in/link")))
	require.NoError(t, os.Symlink("in", full("way")))
	r, err := NewReader(dir)
	require.NoError(t, err)
	defer r.Close()
	read := func(dir string, most int64) (map[string]Entry, bool) {
		all := map[string]Entry{}
		ok := r.Folder(dir, most, func(e Entry) {
			e.Data = append([]byte(nil), e.Data...)
			all[e.Name] = e
		})
		return all, ok
	}
	all, ok := read("in", 10)
	require.True(t, ok)
	require.Len(t, all, 7)
	require.True(t, all["deeper"].Dir)
	for name, text := range map[string]string{"f": "text", "most": "mmmmmmmmmm", "large": "", "empty": "", "link": ""} {
		require.Equal(t, text, string(all[name].Data), name)
		require.Equal(t, filestat.Of(full("in/"+name)), all[name].Stat, name)
		require.Equal(t, uint64(1), all[name].Names, name)
	}
	require.False(t, all["fifo"].Stat.Exists())
	all, ok = read("in", 0)
	require.True(t, ok)
	require.Empty(t, all["f"].Data)
	require.Equal(t, filestat.Of(full("in/f")), all["f"].Stat)
	all, ok = read(".", 10)
	require.True(t, ok)
	require.Len(t, all, 2)
	for _, none := range []string{"way", "way/deeper", "none", "in/f", ".."} {
		_, ok := read(none, 10)
		require.False(t, ok, none)
	}
}

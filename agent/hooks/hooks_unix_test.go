//go:build unix

package hooks

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatIsNoFile puts other things in the places of hook files. None of them blocks Find, and none counts as a hook.
func TestWhatIsNoFile(t *testing.T) {
	const name = "ws/.cursor/hooks.json"
	for _, c := range []struct {
		name string
		make func(d *disk, path string) error
		says string
	}{
		{"a folder", func(_ *disk, path string) error { return os.Mkdir(path, 0o755) }, "it is not a file"},
		{"a pipe", func(_ *disk, path string) error { return syscall.Mkfifo(path, 0o600) }, "it is not a file"},
		{"a link to a device", func(_ *disk, path string) error { return os.Symlink("/dev/zero", path) }, "it is not a file"},
		{"a link to itself", func(_ *disk, path string) error { return os.Symlink(path, path) }, "too many levels of symbolic links"},
		{"a link to nothing", func(_ *disk, path string) error { return os.Symlink("nowhere", path) }, ""},
		{"a large file", func(d *disk, path string) error {
			return os.WriteFile(path, []byte(hook("stop", strings.Repeat("x", maxBytes))), 0o600)
		}, "it is larger than 1048576 bytes"},
		{"a huge file", func(_ *disk, path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 1<<40)
		}, "it is larger than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDisk(t)
			require.NoError(t, os.MkdirAll(d.path("ws/.cursor"), 0o755))
			require.NoError(t, c.make(d, d.path(name)))
			for range 2 {
				set, _ := d.find()
				require.False(t, set.Any)
				require.False(t, set.AfterEdit)
				if c.says == "" {
					require.Empty(t, set.Unreadable)
				} else {
					require.Len(t, set.Unreadable, 1)
					require.Equal(t, d.path(name), set.Unreadable[0].File)
					require.EqualError(t, set.Unreadable[0].Err, c.says)
				}
			}
		})
	}
}

// TestLinkedHooks: the user's hooks are behind a link, as in configurations that are kept in a repository.
func TestLinkedHooks(t *testing.T) {
	d := newDisk(t)
	d.put("dotfiles/hooks.json", hook("afterFileEdit", "fmt"))
	require.NoError(t, os.MkdirAll(d.path("home"), 0o755))
	require.NoError(t, os.Symlink(d.path("dotfiles"), d.path("home/.cursor")))
	set, found := d.find()
	require.Equal(t, "afterFileEdit* fmt", found)
	require.True(t, set.AfterEdit)
	d.put("ws/.cursor", "a file")
	set, _ = d.find()
	require.Empty(t, set.Unreadable)
}

//go:build unix

package editorfile

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHeldByAnEndedEditor: a killed editor holds nothing.
func TestHeldByAnEndedEditor(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	killed := exec.Command("true")
	require.NoError(t, killed.Run())
	gone, here := killed.Process.Pid, os.Getpid()
	vim := func(pid int, host string) func(dir string) {
		return func(dir string) {
			block := make([]byte, 4096)
			copy(block, "b0VIM 9.0")
			binary.LittleEndian.PutUint32(block[24:], uint32(pid))
			copy(block[68:108], host)
			require.NoError(t, os.WriteFile(filepath.Join(dir, ".f.swp"), block, 0o600))
		}
	}
	emacs := func(to string) func(dir string) {
		return func(dir string) { require.NoError(t, os.Symlink(to, filepath.Join(dir, ".#f"))) }
	}
	for name, tt := range map[string]struct {
		make func(dir string)
		held bool
	}{
		"nothing":         {func(string) {}, false},
		"vim runs":        {vim(here, host), true},
		"vim was killed":  {vim(gone, host), false},
		"vim elsewhere":   {vim(gone, host+"x"), true},
		"another swap":    {func(dir string) { require.NoError(t, os.WriteFile(filepath.Join(dir, ".f.swp"), nil, 0o600)) }, true},
		"emacs runs":      {emacs(fmt.Sprintf("me@%s.%d:1700000000", host, here)), true},
		"emacs killed":    {emacs(fmt.Sprintf("me@%s.%d:1700000000", host, gone)), false},
		"emacs, no boot":  {emacs(fmt.Sprintf("me@%s.%d", host, gone)), false},
		"emacs elsewhere": {emacs(fmt.Sprintf("me@%sx.%d", host, gone)), true},
		"another link":    {emacs("nowhere"), true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("XDG_STATE_HOME", dir)
			tt.make(dir)
			require.Equal(t, tt.held, Held(filepath.Join(dir, "f")))
			require.Equal(t, name != "nothing", Locked(filepath.Join(dir, "f")))
		})
	}
}

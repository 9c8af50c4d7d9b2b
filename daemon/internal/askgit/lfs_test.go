//go:build unix

package askgit

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLFS: Git LFS, where it is installed, runs no program that the repository configures, fetches nothing, and leaves the
// repository as it is.
func TestLFS(t *testing.T) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("needs git-lfs")
	}
	b := newBench(t)
	b.put(b.outside+"/global", "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n")
	t.Setenv("GIT_CONFIG_GLOBAL", b.outside+"/global")
	b.put(b.in(".gitattributes"), "*.bin filter=lfs -text\n")
	b.put(b.in("d/a'b.bin"), "content\n")
	b.git(b.root, "add", "-A")
	mark := b.outside + "/mark"
	b.git(b.root, "config", "lfs.extension.evil.smudge", "touch "+mark)
	b.git(b.root, "config", "lfs.extension.evil.clean", "touch "+mark)
	b.git(b.root, "config", "lfs.extension.evil.priority", "0")
	hooks := b.git(b.root, "rev-parse", "--git-path", "hooks")
	require.NoError(t, os.RemoveAll(b.in(hooks)))
	config, err := os.ReadFile(b.in(".git/config"))
	require.NoError(t, err)
	v, err := b.open()
	require.NoError(t, err)
	pointer, err := v.Run(t.Context(), Question{Most: 1 << 20}, "cat-file", "blob", ":d/a'b.bin")
	require.NoError(t, err)
	require.Contains(t, string(pointer), "git-lfs.github.com/spec")
	contents := map[string][]byte{"d/a'b.bin": pointer}
	require.NoError(t, v.Smudge(t.Context(), contents))
	require.Equal(t, string(pointer), string(contents["d/a'b.bin"]), "it is told to fetch nothing")
	for _, name := range []string{mark, b.in(hooks), b.in(".git/lfs/logs")} {
		_, err = os.Lstat(name)
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	now, err := os.ReadFile(b.in(".git/config"))
	require.NoError(t, err)
	require.Equal(t, string(config), string(now))
}

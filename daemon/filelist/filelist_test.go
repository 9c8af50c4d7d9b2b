package filelist

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", "sub/b ä.go", ".hidden/c", "node_modules/d", "out/e", ".gitignore"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("out\n"), 0o644))
	}
	files, err := Named(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, []string{"a.go", "out/e", "sub/b ä.go"}, files, "without git")
	_, err = Named(t.Context(), filepath.Join(dir, "nowhere"))
	require.Error(t, err)

	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "a.go"}} {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	files, err = Named(t.Context(), dir)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{".gitignore", ".hidden/c", "a.go", "node_modules/d", "sub/b ä.go"}, files, "with git: what is not ignored")
	files, err = Named(t.Context(), filepath.Join(dir, "sub"))
	require.NoError(t, err)
	require.Equal(t, []string{"b ä.go"}, files, "a folder within")
}

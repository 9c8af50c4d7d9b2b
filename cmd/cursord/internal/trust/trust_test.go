package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/misuse"
)

// TestTrustOfMoreThanHere: without a terminal, trust of another folder than the current one, of the root or of the home folder must
// be asked for by name.
func TestTrustOfMoreThanHere(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	home, repo := filepath.Join(top, "home"), filepath.Join(top, "repo")
	require.NoError(t, os.MkdirAll(filepath.Join(repo, "sub"), 0o700))
	require.NoError(t, os.Mkdir(home, 0o700))
	t.Setenv("HOME", home)
	for _, tt := range []struct{ here, root, says string }{
		{repo, repo, ""},
		{filepath.Join(repo, "sub"), repo, "is the workspace around this directory"},
		{home, home, "is your home folder"},
		{"/", "/", "is the whole file system"},
	} {
		t.Chdir(tt.here)
		in, errOut := strings.NewReader("y\n"), new(strings.Builder)
		require.NoError(t, Check(in, errOut, tt.root, nil, true), tt.here)
		err := Check(in, errOut, tt.root, nil, false)
		if tt.says == "" {
			require.NoError(t, err, tt.here)
			continue
		}
		require.ErrorContains(t, err, tt.says)
		require.ErrorContains(t, err, "cursord trust "+tt.root)
		require.ErrorAs(t, err, new(*misuse.Error))
	}
}

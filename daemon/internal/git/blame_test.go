//go:build unix

package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBlame: lines are found in the commits that brought them, at the paths and numbers that they have there. Lines that are in no commit are left out.
func TestBlame(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	commit := func() string {
		commitAll(t, root)
		out, err := Tree{Dir: root, Guard: guardIn(t, root)}.Run(t.Context(), nil, "rev-parse", "HEAD")
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	const odd = "sub/é \"\t.txt"
	write(odd, "one line\nanother line\nthe third line\n")
	first := commit()
	write("sub/new", "before\none line\nanother line\nthe third line\n")
	require.NoError(t, os.Remove(filepath.Join(root, odd)))
	second := commit()
	tree := Tree{Dir: filepath.Join(root, "sub"), Guard: guardIn(t, root)}
	const text = "mine\nbefore\none line\nthe third line\n"
	all, err := tree.Blame(t.Context(), "new", text, nil)
	require.NoError(t, err)
	require.ElementsMatch(t, []Blamed{{1, 2, second, "sub/new", 0}, {2, 3, first, odd, 0}, {3, 4, first, odd, 2}}, all)
	all, err = tree.Blame(t.Context(), "new", text, [][2]int{{0, 1}, {3, 4}})
	require.NoError(t, err)
	require.Equal(t, []Blamed{{3, 4, first, odd, 2}}, all)
	_, err = tree.Blame(t.Context(), "none", text, nil)
	require.Error(t, err)
}

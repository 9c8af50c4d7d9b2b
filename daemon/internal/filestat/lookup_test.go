package filestat

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBelow: what is looked up from the root and from folders is what is looked up by whole paths.
func TestBelow(t *testing.T) {
	dir := t.TempDir()
	var names []string
	put := func(name string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644))
		names = append(names, name)
	}
	for i := range 1500 {
		put(fmt.Sprintf("a/%d/%d", i/40, i))
	}
	put("top")
	put("a/b/c/d/deep")
	names = append(names, ".", "a", "a/b", "a/b/c", "none", "a/none", "none/a", "none/b", "top/a", "top/b", "a/1/"+strings.Repeat("n", 300),
		strings.Repeat("long/", 900)+"f")
	if os.Symlink("a", filepath.Join(dir, "link")) == nil {
		names = append(names, "link", "link/1/40", "link/1/41", "link/none")
	}
	if os.Link(filepath.Join(dir, "top"), filepath.Join(dir, "second")) == nil {
		names = append(names, "second")
	}
	at := func(i int) string { return names[i] }
	stats := make([]Stat, len(names))
	links, whole := Below(dir, stats, at, func() bool { return false })
	require.True(t, whole)
	for i, name := range names {
		st, n := Linked(filepath.Join(dir, filepath.FromSlash(name)))
		require.Equal(t, st, stats[i], name)
		if n > 1 && st.Mode.IsRegular() {
			require.Equal(t, n, links[i], name)
		} else {
			require.NotContains(t, links, i, name)
		}
	}
	stats = stats[:2]
	_, whole = Below(filepath.Join(dir, "none"), stats, at, func() bool { return false })
	require.True(t, whole)
	require.Equal(t, make([]Stat, 2), stats)
	_, whole = Below(dir, make([]Stat, len(names)), at, func() bool { return true })
	require.False(t, whole)
}

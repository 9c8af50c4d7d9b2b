package snapshot

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWalkOfDeepFolders lists more deep folders than are kept open at a time; those nearest the root come first.
func TestWalkOfDeepFolders(t *testing.T) {
	root := t.TempDir()
	var want []string
	chain := func(name string, depth int) {
		dir := name
		for range depth {
			want = append(want, dir)
			dir = path.Join(dir, "d")
		}
		full := filepath.Join(root, filepath.FromSlash(path.Dir(dir)))
		require.NoError(t, os.MkdirAll(full, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(full, "f"), nil, 0o644))
	}
	for i := range footholdsMost + 6 {
		chain(fmt.Sprint(i), footholdDepth+5)
	}
	chain("deep", 600)
	w := walk(context.Background(), root)
	require.False(t, w.cut)
	require.ElementsMatch(t, want, w.dirs)
	require.Len(t, w.whole, len(want)+1)
	require.Len(t, w.files, footholdsMost+7)
	require.True(t, slices.IsSortedFunc(w.dirs, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") }))
}

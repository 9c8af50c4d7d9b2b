package snapshot

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/filestat"
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
	w := walk(context.Background(), root, walking{})
	require.False(t, w.cut)
	require.ElementsMatch(t, want, w.dirs)
	require.Len(t, w.whole, len(want)+1)
	require.Len(t, w.files, footholdsMost+7)
	require.True(t, slices.IsSortedFunc(w.dirs, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") }))
}

// TestWalkEntersBeforeItReads: what is made in a folder after it was entered is found there, so a watch that begins then misses nothing. That
// holds for a folder that is made on the way, too.
func TestWalkEntersBeforeItReads(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "a/b"), 0o755))
	var mu sync.Mutex
	w := walk(t.Context(), root, walking{enter: func(dir string) {
		mu.Lock()
		defer mu.Unlock()
		full := filepath.Join(root, filepath.FromSlash(dir))
		if strings.Count(dir, "/") < 4 {
			require.NoError(t, os.MkdirAll(filepath.Join(full, "made"), 0o755))
		}
		require.NoError(t, os.WriteFile(filepath.Join(full, "f"), nil, 0o644))
	}})
	require.False(t, w.cut)
	var found []string
	for _, l := range w.files {
		found = append(found, path.Dir(l.Path))
	}
	require.ElementsMatch(t, append(w.dirs, "."), found)
	require.Contains(t, w.dirs, "a/b/made/made/made")
	require.Len(t, w.whole, len(found))
}

// TestWalkReadsOnTheWay: the walk reads small files while it lists them, and returns each content with the state that belongs to it. It lists
// files that it does not read as well.
func TestWalkReadsOnTheWay(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a walk reads no contents")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	long := strings.TrimSuffix(strings.Repeat(strings.Repeat("n", 200)+"/", 25), "/") // longer than the system takes at once
	at, err := os.OpenRoot(root)
	require.NoError(t, err)
	for part := range strings.SplitSeq(long, "/") {
		require.NoError(t, at.Mkdir(part, 0o755))
		in, err := at.OpenRoot(part)
		require.NoError(t, err)
		at.Close()
		at = in
	}
	require.NoError(t, at.WriteFile("deep", []byte("deep"), 0o644))
	at.Close()
	want := map[string]string{"a": "text", "empty": "", "d/b": "more"}
	for name, text := range want {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "large"), make([]byte, walkedFile+1), 0o644))
	require.NoError(t, os.Symlink("a", filepath.Join(root, "link")))
	require.NoError(t, os.Link(filepath.Join(root, "a"), filepath.Join(root, "second")))
	want["second"] = "text"
	spool := newSpool(t.TempDir())
	defer spool.close()
	w := walk(t.Context(), root, walking{spool: spool, keeps: func(filestat.Stat) bool { return true }})
	require.False(t, w.cut)
	var unread []string
	for i, l := range w.files {
		data, known := w.contents[i].get()
		if text, read := want[l.Path]; read {
			require.True(t, known, l.Path)
			require.Equal(t, text, string(data), l.Path)
			require.Equal(t, filestat.Of(filepath.Join(root, l.Path)), w.stats[i], l.Path)
			continue
		}
		require.False(t, known, l.Path)
		require.True(t, w.stats[i].Exists(), l.Path)
		unread = append(unread, l.Path)
	}
	require.ElementsMatch(t, []string{"large", "link", long + "/deep"}, unread)
	require.Len(t, w.names, 2)
}

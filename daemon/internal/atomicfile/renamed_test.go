package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/filestat"
	"cursord/diffs"
)

// TestRenamedIsTheVeryFile: a copy of a file, another one with its content that was renamed, and one that has got its number are not the file.
func TestRenamedIsTheVeryFile(t *testing.T) {
	content := diffs.Content{Exists: true, Data: []byte("text\n"), Mode: 0o644}
	root, is := "", filestat.Stat{}
	path := func(name string) string { return filepath.Join(root, name) }
	put := func(name string) { require.NoError(t, os.WriteFile(path(name), content.Data, 0o644)) }
	rename := func(from, to string) { require.NoError(t, os.Rename(path(from), path(to))) }
	for name, c := range map[string]struct {
		does func()
		want string
	}{
		"renamed":           {func() { rename("f", "to") }, "to"},
		"copied":            {func() { put("copy"); require.NoError(t, os.Remove(path("f"))) }, ""},
		"another renamed":   {func() { rename("other", "to"); require.NoError(t, os.Remove(path("f"))) }, ""},
		"copied and moved":  {func() { put("copy"); rename("f", "to") }, "to"},
		"changed":           {func() { rename("f", "to"); require.NoError(t, os.WriteFile(path("to"), []byte("tex2\n"), 0o644)) }, ""},
		"with another name": {func() { require.NoError(t, os.Link(path("f"), path("link"))); rename("f", "to") }, ""},
		"another with its number": {func() {
			rename("f", "to")
			is.Ctime = 1 // long before the birth of the file that is there now
			require.NoError(t, os.Chtimes(path("to"), time.Time{}, time.Now().Add(time.Hour)))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root = t.TempDir()
			put("f")
			put("other")
			is = filestat.Of(path("f"))
			if is.Ino == 0 {
				t.Skip("the system does not tell files from each other")
			}
			c.does()
			require.Equal(t, c.want, Renamed(root, "f", ".", content, is))
		})
	}
}

// TestStrayed finds the very file in any folder but git's, and none that has two names.
func TestStrayed(t *testing.T) {
	root := t.TempDir()
	path := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	require.NoError(t, os.MkdirAll(path("a/b"), 0o755))
	require.NoError(t, os.MkdirAll(path(".git"), 0o755))
	var is []filestat.Stat
	for _, name := range []string{"moved", "linked", "git", "gone"} {
		require.NoError(t, os.WriteFile(path(name), []byte("text\n"), 0o644))
		is = append(is, filestat.Of(path(name)))
	}
	if is[0].Ino == 0 {
		t.Skip("the system does not tell files from each other")
	}
	require.NoError(t, os.Rename(path("moved"), path("a/b/moved")))
	require.NoError(t, os.Link(path("linked"), path("a/one")))
	require.NoError(t, os.Rename(path("linked"), path("a/two")))
	require.NoError(t, os.Rename(path("git"), path(".git/git")))
	require.NoError(t, os.Remove(path("gone")))
	require.Equal(t, []string{"a/b/moved", "", "", ""}, Strayed(root, is))
}

// TestAlike counts common lines where they are half of each text.
func TestAlike(t *testing.T) {
	text := func(s string) diffs.Content { return diffs.Content{Exists: true, Data: []byte(s)} }
	was := text("one of four\ntwo of four\nthree of four\nfour of four\n")
	require.Equal(t, 4, Alike(was, was))
	require.Equal(t, 2, Alike(was, text("one of four\nanother\ntwo of four\n")))
	require.Zero(t, Alike(was, text("one of four\n")))
	require.Zero(t, Alike(text("}\n"), text("}\n")), "many files have it")
	require.Zero(t, Alike(was, diffs.Content{Exists: true, Target: string(was.Data)}))
}

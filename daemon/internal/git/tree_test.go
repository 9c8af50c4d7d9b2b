package git

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"cursord/daemon/internal/askgit"

	"github.com/stretchr/testify/require"
)

func TestParseListing(t *testing.T) {
	const a, b = "78981922613b2afb6025042ff6bd878ac1994e85", "61780798228d17af2d34fce4cfbdf35556832472"
	for _, c := range []struct {
		name, out string
		files     []Listed
		nested    []string
	}{
		{"nothing", "", []Listed{}, nil},
		{"tracked", "H 100644 " + a + " 0\ta\x00", []Listed{{Path: "a", ID: 1}}, nil},
		{"untracked", "? a\x00? sub/repo/\x00", []Listed{{Path: "a"}}, []string{"sub/repo"}},
		{"modified and deleted", "H 100644 " + a + " 0\ta\x00C 100644 " + a + " 0\ta\x00H 100755 " + b + " 0\tb\x00R 100755 " + b + " 0\tb\x00C 100755 " + b + " 0\tb\x00",
			[]Listed{{Path: "a", ID: 1, Dirty: true}, {Path: "b", ID: 2, Dirty: true}}, nil},
		{"unmerged", "M 100644 " + a + " 1\ta\x00M 100644 " + b + " 2\ta\x00", []Listed{{Path: "a", ID: 1, Dirty: true}}, nil},
		{"not to be looked at", "h 100644 " + a + " 0\ta\x00", []Listed{{Path: "a", ID: 1, Dirty: true}}, nil},
		{"sparse, and a submodule", "S 100644 " + a + " 0\ta\x00H 160000 " + b + " 0\tsub\x00", []Listed{{Path: "a", ID: 1, Dirty: true, skip: true}}, []string{"sub"}},
		{"odd names", "? H 100644 " + a + " 0\ta\x00? \n\t\"\xff\x00H 120000 " + a + " 0\ta\tb\x00",
			[]Listed{{Path: "H 100644 " + a + " 0\ta"}, {Path: "\n\t\"\xff"}, {Path: "a\tb", ID: 1}}, nil},
	} {
		ids := &IDs{}
		files, nested, err := parseListing(c.out, ids)
		for i, l := range files {
			files[i].ID = int32(slices.Index([]string{"", a, b}, ids.Of(l.ID)))
		}
		require.NoError(t, err, c.name)
		require.Equal(t, c.files, files, c.name)
		require.Equal(t, c.nested, nested, c.name)
	}
	for _, bad := range []string{"H", "? a", "H 100644\ta\x00", "H 100644 " + a + " 0 a\x00", "\x00"} {
		_, _, err := parseListing(bad, nil)
		require.Error(t, err, "%q", bad)
	}
}

func TestGitBlobs(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{
		"empty": {}, "a": []byte("a\n"), "no end": []byte("x"), "sub/\"b\"\tc": []byte("b\r\n\x00"), "new\nline": []byte("n\n"),
		"missing": []byte("no-such-object-1 missing\n"),
	}
	for name, data := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, "w", name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "w", name), data, 0o644))
	}
	commitAll(t, dir)
	g := Tree{Dir: filepath.Join(dir, "w"), Guard: guardIn(t, dir)}
	ids := &IDs{}
	list, _, _, err := g.list(t.Context(), ids, nil, nil)
	require.NoError(t, err)
	oids := map[string]string{"none": "0123456789012345678901234567890123456789"}
	for _, l := range list {
		require.False(t, l.Dirty, l.Path)
		require.True(t, IsBlob(ids.Of(l.ID), files[l.Path]), l.Path)
		oids[l.Path] = ids.Of(l.ID)
	}
	got := g.Blobs(t.Context(), oids, true)
	require.Len(t, got, len(files))
	for name, data := range files {
		require.True(t, bytes.Equal(data, got[name]), "%q: %q", name, got[name])
	}
}

func TestGitIgnored(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "out", "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.o\nout/\n"), 0o644))
	commitAll(t, dir)
	guard := guardIn(t, dir)
	for path, want := range map[string]bool{"a": false, "a.o": true, "out/x": true, ":(top)a": false, ":x.o": true, "new/dir/a.o": true, "[a].o": true} {
		got, err := Tree{Dir: dir, Guard: guard}.Ignored(t.Context(), path)
		require.NoError(t, err, path)
		require.Equal(t, want, got, path)
	}
	got, err := Tree{Dir: filepath.Join(dir, "out", "sub"), Guard: guard}.Ignored(t.Context(), ".")
	require.NoError(t, err)
	require.True(t, got)
	got, err = Tree{Dir: dir, Guard: guard}.Ignored(t.Context(), ".")
	require.False(t, err == nil && got)
	_, err = Tree{Dir: t.TempDir(), Guard: guard}.Ignored(t.Context(), "a")
	require.Error(t, err)
}

// commitAll makes a repository of a folder's files.
func commitAll(t testing.TB, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "a"}, {"config", "user.email", "a@b"}, {"add", "-A"}, {"commit", "-q", "-m", "m"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

func guardIn(t testing.TB, root string) *askgit.Guard {
	return &askgit.Guard{Home: filepath.Join(t.TempDir(), "git"), Root: root}
}

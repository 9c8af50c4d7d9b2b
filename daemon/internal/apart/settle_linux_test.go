package apart

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/overlay"
)

var oid = strings.Repeat("a1", 20) // a commit of the agent's

// newTree returns a tree on an overlay that is not mounted. The work tree has a repository, the upper folder a commit of the agent's.
func newTree(t *testing.T) *overlaid {
	base := t.TempDir()
	o := &overlaid{root: filepath.Join(base, "work"), dir: filepath.Join(base, "state")}
	put(t, o.lower(".git/HEAD"), "ref: refs/heads/main\n")
	put(t, o.lower(".git/refs/heads/main"), strings.Repeat("b2", 20)+"\n")
	put(t, o.lower("precious.txt"), "precious\n")
	put(t, o.lower("src/file"), "file\n")
	put(t, o.upper(".git/refs/heads/agent"), oid+"\n")
	return o
}

func put(t *testing.T, full, text string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
}

func link(t *testing.T, to, at string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(t, os.Symlink(to, at))
}

// TestSettleFollowsNoLink: the agent puts links where the daemon keeps refs. Nothing of the work tree changes, and the ref is kept.
func TestSettleFollowsNoLink(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, at string
		to       func(o *overlaid) string
	}{
		{"the ref", ".git/refs/cursord/kept/" + oid, func(o *overlaid) string { return o.lower("precious.txt") }},
		{"its folder", ".git/refs/cursord/kept", func(o *overlaid) string { return o.lower("src") }},
		{"the folder above", ".git/refs/cursord", func(o *overlaid) string { return o.lower("src") }},
		{"a relative link", ".git/refs/cursord", func(o *overlaid) string {
			to, err := filepath.Rel(filepath.Dir(o.upper(".git/refs/cursord")), o.lower("src"))
			require.NoError(t, err)
			return to
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := newTree(t)
			link(t, tt.to(o), o.upper(tt.at))
			require.NoError(t, o.settle(t.Context()))
			text, err := os.ReadFile(o.lower("precious.txt"))
			require.NoError(t, err)
			require.Equal(t, "precious\n", string(text))
			list, err := os.ReadDir(o.lower("src"))
			require.NoError(t, err)
			require.Len(t, list, 1)
			info, err := os.Lstat(o.upper(keptName + "/" + oid))
			require.NoError(t, err)
			require.True(t, info.Mode().IsRegular())
		})
	}
}

// TestSettleWaitsForNoFile: what the agent puts in the place of refs is no file, or has no end.
func TestSettleWaitsForNoFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".git/packed-refs", ".git/HEAD", ".git/refs/heads/odd"} {
		t.Run("a FIFO at "+name, func(t *testing.T) {
			t.Parallel()
			o := newTree(t)
			require.NoError(t, syscall.Mkfifo(o.upper(name), 0o644))
			require.NoError(t, o.settle(t.Context()))
			require.FileExists(t, o.upper(keptName+"/"+oid))
		})
		t.Run("no end of "+name, func(t *testing.T) {
			t.Parallel()
			o := newTree(t)
			link(t, "/dev/zero", o.upper(name))
			require.NoError(t, o.settle(t.Context()))
			require.FileExists(t, o.upper(keptName+"/"+oid))
		})
	}
}

// TestSettleStaysInTheUpperFolder: a process that outlives its turn swaps a folder for a link to the work tree's after the changes were listed.
func TestSettleStaysInTheUpperFolder(t *testing.T) {
	t.Parallel()
	o := newTree(t)
	put(t, o.upper("src/file"), "file\n")
	for _, full := range []string{o.lower("src/empty"), o.upper("src/empty")} {
		require.NoError(t, os.Mkdir(full, 0o755))
	}
	put(t, o.upper("new/x"), "x\n")
	list, err := overlay.Changes(t.Context(), o.in(upperName))
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(o.upper("src")))
	link(t, o.lower("src"), o.upper("src"))
	upper, err := os.OpenRoot(o.in(upperName))
	require.NoError(t, err)
	defer upper.Close()
	o.drop(t.Context(), upper, list)
	require.FileExists(t, o.lower("src/file"))
	require.DirExists(t, o.lower("src/empty"))

	put(t, o.lower("new/real"), "real\n")
	require.NoError(t, os.RemoveAll(o.upper("new")))
	link(t, o.lower("src"), o.upper("new"))
	require.Error(t, overlay.Merge(upper, "new", o.lower("new")))
	require.Error(t, overlay.Whiteout(upper, "new/y"))
	names, err := os.ReadDir(o.lower("src"))
	require.NoError(t, err)
	require.Len(t, names, 2)
}

// TestAFolderInThePlaceOfALink: the work tree's link leads to a folder that holds the same. What the agent has in its own folder stays,
// and nothing is looked up behind the link.
func TestAFolderInThePlaceOfALink(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"v1", ""} {
		o := newTree(t)
		o.guard = &askgit.Guard{Home: filepath.Join(o.dir, "git"), Root: o.root}
		require.NoError(t, os.RemoveAll(o.lower(".git")))
		require.NoError(t, os.RemoveAll(o.upper(".git")))
		if to == "" {
			to = filepath.Join(filepath.Dir(o.root), "outside")
		}
		target := to
		if !filepath.IsAbs(to) {
			target = o.lower(to)
		}
		put(t, filepath.Join(target, "f"), "same\n")
		put(t, filepath.Join(target, "gone/secret"), "secret\n")
		require.NoError(t, os.Mkdir(filepath.Join(target, "empty"), 0o755))
		link(t, to, o.lower("current"))
		put(t, o.upper("current/f"), "same\n")
		put(t, o.upper("current/gone"), "a file\n")
		require.NoError(t, os.Mkdir(o.upper("current/empty"), 0o755))
		require.NoError(t, o.settle(t.Context()))
		require.FileExists(t, o.upper("current/f"))
		require.DirExists(t, o.upper("current/empty"))
		list, hidden, err := o.Changed(t.Context())
		require.NoError(t, err)
		require.Zero(t, hidden)
		require.Equal(t, []string{"current", "current/f", "current/gone"}, list)
	}
}

// TestDeepFolders: an agent can make folders so deep that to look at each from the top takes hours.
func TestDeepFolders(t *testing.T) {
	t.Parallel()
	o := newTree(t)
	require.NoError(t, os.MkdirAll(o.upper("."), 0o755))
	at, err := os.OpenRoot(o.upper("."))
	require.NoError(t, err)
	for range 1_000 {
		require.NoError(t, at.Mkdir("dd", 0o755))
		next, err := at.OpenRoot("dd")
		at.Close()
		require.NoError(t, err)
		at = next
	}
	require.NoError(t, at.WriteFile("f", nil, 0o644))
	require.NoError(t, at.Close())
	list, _, err := o.Changed(t.Context())
	require.NoError(t, err)
	require.Empty(t, list)
	require.NoError(t, o.settle(t.Context()))
	require.NoError(t, overlay.RemoveAll(o.dir))
}

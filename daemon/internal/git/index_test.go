package git

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
)

// An indexed is a repository whose index has entries of all kinds.
type indexed struct {
	t   testing.TB
	dir string
}

func newIndexed(t testing.TB) indexed {
	r := indexed{t, t.TempDir()}
	for _, name := range []string{"same", "a/same", "a/changed", "a/longer", "a/gone", "a/touched", "a/mode", "a/link", "a/b/staged", "empty", "a/\u00e4 \t", "assumed", "left", "x"} {
		r.put(name, strings.Trim(filepath.Base(name), "empty")+"\n")
	}
	r.put("empty", "")
	require.NoError(t, os.Symlink("same", filepath.Join(r.dir, "to")))
	r.git("init", "-q")
	for name, to := range map[string]string{"user.name": "a", "user.email": "a@b", "core.fileMode": "true"} {
		r.git("config", name, to)
	}
	r.git("add", "-A")
	r.git("commit", "-qm", "1")
	r.git("checkout", "-q", "-b", "other")
	r.put("x", "other\n")
	r.git("commit", "-qam", "2")
	r.git("checkout", "-q", "-")
	r.put("x", "this\n")
	r.git("commit", "-qam", "3")
	require.Error(t, r.run("merge", "-q", "other"))
	one := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	r.git("update-index", "--add", "--cacheinfo", "160000,"+one+",a/module")
	r.git("update-index", "--assume-unchanged", "assumed")
	r.git("update-index", "--skip-worktree", "left")
	r.put("a/intended", "")
	r.git("add", "-N", "a/intended")
	long := strings.TrimSuffix(strings.Repeat("a/"+strings.Repeat("n", 200)+"/", 21), "/")
	r.git("update-index", "--add", "--cacheinfo", "100644,"+strings.TrimSpace(r.git("hash-object", "same"))+","+long)
	r.put("a/b/staged", "in the index\n")
	r.git("add", "a/b/staged")
	return r
}

func (r indexed) put(name, text string) {
	full := filepath.Join(r.dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(r.t, os.WriteFile(full, []byte(text), 0o644))
	old := time.Now().Add(-time.Hour)
	require.NoError(r.t, os.Chtimes(full, old, old))
}

func (r indexed) run(args ...string) error {
	_, err := r.output(args...)
	return err
}

func (r indexed) output(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	out, err := cmd.Output()
	return string(out), err
}

func (r indexed) git(args ...string) string {
	r.t.Helper()
	out, err := r.output(args...)
	require.NoError(r.t, err, "git %q", args)
	return out
}

// differ makes some files differ from the index.
func (r indexed) differ() {
	r.git("status") // looks at all of them
	r.put("a/changed", "CHANGED\n")
	later := time.Now().Add(-time.Minute)
	require.NoError(r.t, os.Chtimes(filepath.Join(r.dir, "a/changed"), later, later)) // git may look at whole seconds alone
	r.put("a/longer", "longer and longer\n")
	r.put("a/touched", "touched\n")
	require.NoError(r.t, os.Remove(filepath.Join(r.dir, "a/gone")))
	require.NoError(r.t, os.Chmod(filepath.Join(r.dir, "a/mode"), 0o755))
	require.NoError(r.t, os.Remove(filepath.Join(r.dir, "a/link")))
	require.NoError(r.t, os.Symlink("same", filepath.Join(r.dir, "a/link")))
}

// TestIndexIsReadAsGitReadsIt: what an index says of all kinds of files, in each of its forms, is what git says; and a file that it calls
// clean is so.
func TestIndexIsReadAsGitReadsIt(t *testing.T) {
	r := newIndexed(t)
	r.differ()
	for _, form := range []string{"--index-version=2", "--index-version=3", "--index-version=4", "--split-index"} {
		r.git("update-index", form)
		for _, under := range []string{"", "a/", "a/b/"} {
			t.Run(strings.Trim(form, "-")+" "+under, func(t *testing.T) {
				g := Tree{Dir: filepath.Join(r.dir, under), Guard: &askgit.Guard{Home: filepath.Join(t.TempDir(), "git"), Root: r.dir}}
				out, err := g.Run(t.Context(), nil, "ls-files", "-z", "-v", "--stage", "--modified", "--deleted")
				require.NoError(t, err)
				ids := &IDs{}
				want, modules, err := parseListing(string(out), ids)
				require.NoError(t, err)
				files, nested, err := readIndex(filepath.Join(r.dir, ".git", "index"), under, ids, nil)
				if form == "--split-index" {
					require.ErrorIs(t, err, errIndex)
					files, _, nested, err = g.list(t.Context(), ids, nil, nil)
					files = slices.DeleteFunc(files, func(l Listed) bool { return l.ID == 0 })
				}
				require.NoError(t, err)
				require.Equal(t, slices.Compact(modules), slices.Compact(nested))
				require.Equal(t, len(want), len(files))
				clean := 0
				for i := range files {
					name := want[i].Path
					require.Equal(t, name, files[i].Path)
					require.Equal(t, ids.Of(want[i].ID), ids.Of(files[i].ID), name)
					require.Equal(t, want[i].skip, files[i].skip, name)
					st := filestat.Of(filepath.Join(g.Dir, name))
					if want[i].Dirty || under+name == "a/touched" && form != "--split-index" {
						require.False(t, files[i].Clean(st), name)
					} else {
						require.True(t, files[i].Clean(st), name)
						clean++
					}
				}
				require.NotZero(t, clean)
				require.NoError(t, Repository{Git: g, Index: Repository{Git: g}.index()}.Compare(t.Context(), files, []Repository{{}}))
				for i, l := range files {
					require.Equal(t, want[i].Dirty, !l.Clean(filestat.Of(filepath.Join(g.Dir, l.Path))), l.Path)
				}
				require.ErrorIs(t, Repository{Git: g}.Compare(t.Context(), files, []Repository{{}}), errIndexChanged)
			})
		}
	}
}

// TestIndexLeavesOutWhatIsKnown: a listing for new files alone has no others, and a repository in a folder asks by the workspace's paths.
func TestIndexLeavesOutWhatIsKnown(t *testing.T) {
	r := newIndexed(t)
	r.put("new", "new\n")
	guard := &askgit.Guard{Home: filepath.Join(t.TempDir(), "git"), Root: r.dir}
	for at, dir := range map[string]string{"": r.dir, "at/": r.dir} {
		list, nested, err := Repository{At: at, Git: Tree{Dir: dir, Guard: guard}}.List(t.Context(), func(path string) bool { return path != at+"same" && path != at+"a/link" })
		require.NoError(t, err)
		var paths []string
		for _, l := range list {
			require.Zero(t, l.ID, "nobody asks for its content")
			paths = append(paths, l.Path)
		}
		require.ElementsMatch(t, []string{at + "a/link", at + "new", at + "same"}, paths)
		require.Equal(t, []string{at + "a/module"}, nested)
	}
}

// TestIndexThatIsJustWritten: of a file that may have changed since git looked, within one tick of the clock, the index says nothing.
func TestIndexThatIsJustWritten(t *testing.T) {
	r := newIndexed(t)
	soon := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(r.dir, "same"), soon, soon))
	r.git("add", "same")
	files, _, err := readIndex(filepath.Join(r.dir, ".git", "index"), "", &IDs{}, nil)
	require.NoError(t, err)
	for _, l := range files {
		if l.Path == "same" {
			st := filestat.Of(filepath.Join(r.dir, "same"))
			require.False(t, l.Clean(st))
			require.True(t, l.Open(st))
		}
	}
}

// TestIndexOfOtherForms: an index that is no file, of SHA-256, with folders in place of files, or cut off is left to git.
func TestIndexOfOtherForms(t *testing.T) {
	sha := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(sha, "a"), []byte("a"), 0o644))
	for _, args := range [][]string{{"init", "-q", "--object-format=sha256"}, {"add", "a"}} {
		require.NoError(t, indexed{t, sha}.run(args...))
	}
	whole := newIndexed(t)
	index := filepath.Join(whole.dir, ".git", "index")
	data, err := os.ReadFile(index)
	require.NoError(t, err)
	whole.git("reset", "-q", "--hard")
	whole.git("sparse-checkout", "set", "--cone", "--sparse-index")
	for _, name := range []string{filepath.Join(sha, ".git", "index"), index, sha} {
		_, _, err := readIndex(name, "", nil, nil)
		require.ErrorIs(t, err, errIndex, name)
	}
	files, _, err := readIndex(filepath.Join(sha, "none"), "", nil, nil)
	require.NoError(t, err)
	require.Empty(t, files)
	cut := filepath.Join(t.TempDir(), "index")
	for n := 0; n < bytes.Index(data, []byte("TREE")); n += 17 { // what follows tells nothing of files
		require.NoError(t, os.WriteFile(cut, data[:n], 0o644))
		_, _, err := readIndex(cut, "", nil, nil)
		require.ErrorIs(t, err, errIndex, fmt.Sprint(n))
	}
	for _, bad := range []string{"/etc/passwd", "../x", "a/../b", "a//b", "."} {
		path := append([]byte(bad), make([]byte, 8-(62+len(bad))%8)...)
		entry := slices.Concat(bytes.Repeat([]byte{0}, 24), []byte{0, 0, 0x81, 0xa4}, make([]byte, 12+20), []byte{0, byte(len(bad))}, path)
		require.NoError(t, os.WriteFile(cut, slices.Concat([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), entry, make([]byte, 20)), 0o644))
		_, _, err := readIndex(cut, "", nil, nil)
		require.ErrorIs(t, err, errIndex, bad)
	}
}

func FuzzIndex(f *testing.F) {
	r := newIndexed(f)
	for _, v := range []string{"2", "4"} {
		r.git("update-index", "--index-version="+v)
		data, err := os.ReadFile(filepath.Join(r.dir, ".git", "index"))
		require.NoError(f, err)
		f.Add(data)
	}
	name := filepath.Join(f.TempDir(), "index")
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(name, data, 0o644))
		ids := &IDs{}
		files, _, err := readIndex(name, "", ids, nil)
		if err != nil {
			require.ErrorIs(t, err, errIndex)
		}
		for _, l := range files {
			require.Len(t, ids.Of(l.ID), 40)
			require.NotEmpty(t, l.Path)
		}
	})
}

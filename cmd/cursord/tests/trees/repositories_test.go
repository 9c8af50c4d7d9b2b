//go:build unix

package trees

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// state returns everything below a folder that a program can see: names, kinds, modes, times, contents.
func state(w *world.World, dir string) map[string]string {
	w.T.Helper()
	all := map[string]string{}
	require.NoError(w.T, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		text := fmt.Sprint(info.Mode(), " ", info.ModTime().UnixNano(), " ", st.Ino)
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %x", sha256.Sum256(data))
		}
		all[path] = text
		return nil
	}))
	return all
}

// TestShellInRepositories: a command changes files in work trees of many kinds. Exactly its changes are listed, with known
// former contents; a reject restores these, and the repositories keep every byte and time.
func TestShellInRepositories(t *testing.T) {
	t.Parallel()
	const rot13 = "tr a-zA-Z n-za-mN-ZA-M"
	plain := func(w *world.World) []string {
		w.PutAll(world.Tree{"a": "a\n", "d/b": "b\n"})
		w.Commits()
		return []string{".git"}
	}
	change := "echo x >> a; rm d/b; echo n > n"
	changed := world.Tree{"a": "a\nx\n", "d/b": "(absent)", "n": "n\n"}
	for _, c := range []struct {
		name    string
		prepare func(*world.World) (repositories []string)
		env     func(*world.World) []string
		command string
		after   world.Tree // the changed files
	}{
		{"a plain one", plain, nil, change, changed},
		{
			"an added work tree", func(w *world.World) []string {
				w.RepositoryIn("../main", world.Tree{"a": "a\n", "d/b": "b\n"})
				w.GitIn("../main", "worktree", "add", "-q", w.Root)
				return []string{"../main"}
			}, nil, change, changed,
		},
		{
			"a submodule", func(w *world.World) []string {
				w.RepositoryIn("../sub", world.Tree{"a": "a\n", "d/b": "b\n"})
				w.RepositoryIn("../super", world.Tree{"s": "s\n"})
				w.GitIn("../super", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.Path("../sub"), "lib")
				w.Root = w.Path("../super/lib")
				return []string{"../.git"}
			}, nil, change, changed,
		},
		{
			"one with a submodule", func(w *world.World) []string {
				w.RepositoryIn("../sub", world.Tree{"a": "a\n", "d/b": "b\n", "i": "i\n", ".gitignore": "*.o\n"})
				w.RepositoryIn(".", world.Tree{"s": "s\n"})
				w.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.Path("../sub"), "lib")
				w.Git("commit", "-q", "-m", "with it")
				w.Put("lib/mine", "m\n")
				w.Put("lib/x.o", "o\n")
				return []string{".git"}
			}, nil, "echo x >> s; echo x >> lib/a; rm lib/d/b; echo n > lib/n; echo x >> lib/mine; echo x >> lib/x.o; echo y > lib/y.o",
			world.Tree{"s": "s\nx\n", "lib/a": "a\nx\n", "lib/d/b": "(absent)", "lib/n": "n\n", "lib/mine": "m\nx\n"},
		},
		{
			"one in another, unknown to it", func(w *world.World) []string {
				plain(w)
				w.RepositoryIn("in/side", world.Tree{"f": "f\n", "g": "g\n"})
				w.RepositoryIn("in/side/deeper", world.Tree{"h": "h\n"})
				return []string{".git", "in/side/.git", "in/side/deeper/.git"}
			}, nil, change + "; echo x >> in/side/f; rm in/side/g; echo n > in/side/n; echo x >> in/side/deeper/h",
			world.Tree{
				"a": "a\nx\n", "d/b": "(absent)", "n": "n\n", "in/side/f": "f\nx\n", "in/side/g": "(absent)",
				"in/side/n": "n\n", "in/side/deeper/h": "h\nx\n",
			},
		},
		{
			"a sparse checkout", func(w *world.World) []string {
				w.PutAll(world.Tree{"a": "a\n", "d/b": "b\n", "e/c": "c\n", "e/f/g": "g\n"})
				w.Commits()
				w.Git("sparse-checkout", "set", "--cone", "d")
				require.NoFileExists(w.T, w.Path("e/c"))
				return []string{".git"}
			}, nil, change + "; mkdir e; echo mine > e/c", world.Tree{"a": "a\nx\n", "d/b": "(absent)", "n": "n\n", "e/c": "mine\n"},
		},
		{
			"files that are there and to be skipped", func(w *world.World) []string {
				plain(w)
				w.Git("update-index", "--skip-worktree", "a")
				w.Git("update-index", "--assume-unchanged", "d/b")
				w.Put("a", "mine\n")
				w.Put("d/b", "mine too\n")
				return []string{".git"}
			}, nil, change, world.Tree{"a": "mine\nx\n", "d/b": "(absent)", "n": "n\n"},
		},
		{
			"a filter", func(w *world.World) []string {
				w.PutAll(world.Tree{".gitattributes": "*.txt filter=rot\n", "a.txt": "hello\n", "b.txt": "other\n", "c.txt": "same\n"})
				w.Git("init", "-q")
				w.Git("config", "filter.rot.clean", rot13)
				w.Git("config", "filter.rot.smudge", rot13)
				w.Commits()
				require.Equal(w.T, "uryyb\n", w.Git("cat-file", "-p", "HEAD:a.txt"))
				w.Put("b.txt", "mine\n")
				return []string{".git"}
			}, nil, "echo x >> a.txt; echo x >> b.txt; rm c.txt; echo n > n.txt",
			world.Tree{"a.txt": "hello\nx\n", "b.txt": "mine\nx\n", "c.txt": "(absent)", "n.txt": "n\n"},
		},
		{
			"a filter that is not there any more", func(w *world.World) []string {
				// The state after Git LFS was uninstalled: pointers in the repository, contents or pointers in the work
				// tree.
				w.PutAll(world.Tree{".gitattributes": "*.bin filter=lfs diff=lfs -text\n", "a": "a\n", "p.bin": "version https://x\noid 1\n", "touched.bin": "version https://x\noid 2\n", "z": "z\n"})
				w.Git("init", "-q")
				w.Commits()
				w.Git("config", "filter.lfs.clean", "no-such-program clean %f")
				w.Git("config", "filter.lfs.smudge", "no-such-program smudge %f")
				w.Git("config", "filter.lfs.process", "no-such-program filter-process")
				w.Git("config", "filter.lfs.required", "true")
				w.Put("touched.bin", "version https://x\noid 2\n")
				w.Put("mine.bin", "contents\n")
				return []string{".git"}
			}, nil, "for f in ? *.bin; do echo x >> $f; done; cp a n.bin",
			world.Tree{
				"a": "a\nx\n", "p.bin": "version https://x\noid 1\nx\n", "touched.bin": "version https://x\noid 2\nx\n",
				"mine.bin": "contents\nx\n", "z": "z\nx\n", "n.bin": "a\nx\n",
			},
		},
		{
			"autocrlf", func(w *world.World) []string {
				w.PutAll(world.Tree{"a": "a\n", "d/b": "b\n"})
				w.Commits()
				w.Git("config", "core.autocrlf", "true")
				require.NoError(w.T, os.RemoveAll(w.Path("d")))
				require.NoError(w.T, os.Remove(w.Path("a")))
				w.Git("checkout", ".")
				require.Equal(w.T, "a\r\n", w.Get("a"))
				return []string{".git"}
			}, nil, change, world.Tree{"a": "a\r\nx\n", "d/b": "(absent)", "n": "n\n"},
		},
		{
			"autocrlf=input", func(w *world.World) []string {
				w.PutAll(world.Tree{"a": "a\r\n", "d/b": "b\n"})
				w.Git("init", "-q")
				w.Git("config", "core.autocrlf", "input")
				w.Commits()
				return []string{".git"}
			}, nil, change, world.Tree{"a": "a\r\nx\n", "d/b": "(absent)", "n": "n\n"},
		},
		{
			"hooks and a file system monitor", func(w *world.World) []string {
				plain(w)
				mark := "#!/bin/sh\necho \"$0 $*\" >> " + w.Path("../marks") + "\n"
				for _, hook := range []string{"monitor", "post-index-change", "post-checkout", "reference-transaction"} {
					w.Put("../hooks/"+hook, mark)
					require.NoError(w.T, os.Chmod(w.Path("../hooks/"+hook), 0o755))
				}
				w.Git("config", "core.hooksPath", w.Path("../hooks"))
				w.Git("config", "core.fsmonitor", w.Path("../hooks/monitor"))
				w.Git("config", "core.untrackedCache", "true")
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"one without a commit", func(w *world.World) []string {
				w.PutAll(world.Tree{"a": "a\n", "d/b": "b\n"})
				w.Git("init", "-q")
				w.Git("add", "a")
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a detached HEAD", func(w *world.World) []string {
				plain(w)
				w.Git("checkout", "-q", "--detach")
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a shallow clone", func(w *world.World) []string {
				w.RepositoryIn("../main", world.Tree{"a": "a\n", "d/b": "b\n"})
				w.GitIn("../main", "commit", "-q", "--allow-empty", "-m", "second")
				w.GitIn("..", "clone", "-q", "--depth", "1", "file://"+w.Path("../main"), w.Root)
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a .git elsewhere", func(w *world.World) []string {
				w.Git("init", "-q", "--separate-git-dir", w.Path("../elsewhere"))
				plain(w)
				return []string{".git", "../elsewhere"}
			}, nil, change, changed,
		},
		{
			"a folder of one", func(w *world.World) []string {
				w.PutAll(world.Tree{"in/a": "a\n", "in/d/b": "b\n", "out": "o\n", "in/.gitignore": "*.o\n"})
				w.Commits()
				w.Root = w.Path("in")
				return []string{"../.git"}
			}, nil, change + "; echo x > ../out; echo x > x.o", changed,
		},
		{
			"another one named by the environment", func(w *world.World) []string {
				w.RepositoryIn("../other", world.Tree{"x": "x\n"})
				return append(plain(w), "../other")
			}, func(w *world.World) []string {
				return []string{
					"GIT_DIR=" + w.Path("../other/.git"), "GIT_WORK_TREE=" + w.Path("../other"), "GIT_INDEX_FILE=" + w.Path("../other/.git/index"),
					"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false",
				}
			}, change, changed,
		},
		{
			"somebody else's", func(w *world.World) []string {
				if os.Geteuid() != 0 {
					w.T.Skip("needs root")
				}
				plain(w)
				require.NoError(w.T, exec.Command("chown", "-R", "12345", w.Root).Run())
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"an empty .git", func(w *world.World) []string {
				w.PutAll(world.Tree{"a": "a\n", "d/b": "b\n", ".git/x": "x\n"})
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a .git that leads nowhere", func(w *world.World) []string {
				w.PutAll(world.Tree{"a": "a\n", "d/b": "b\n", ".git": "gitdir: ../nowhere\n"})
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a broken index", func(w *world.World) []string {
				plain(w)
				w.Put(".git/index", "nonsense")
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a bare repository with files", func(w *world.World) []string {
				plain(w)
				w.Git("config", "core.bare", "true")
				return []string{".git"}
			}, nil, change, changed,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			repositories := c.prepare(w)
			before := world.Tree{}
			for path := range c.after {
				before[path] = w.Get(path)
			}
			was := make([]map[string]string, len(repositories))
			for i, dir := range repositories {
				was[i] = state(w, w.Path(dir))
			}
			w.Plays(world.Lines(world.Shells("s", c.command))...)
			var env []string
			if c.env != nil {
				env = c.env(w)
			}
			w.Start(env...)
			e := w.Opens()
			turn := e.Turn(nil)
			require.Equal(t, sessions.TurnCompleted, turn.Status)
			require.Empty(t, e.Notices(turn.ID))
			w.RequireTree(c.after)
			found := e.Diffs()
			require.Equal(t, world.Sorted(world.Keys(c.after)), world.Sorted(world.Keys(found)))
			for path, d := range found {
				require.Equal(t, "known", d.Baseline, path)
			}
			out := e.Decides("diff/reject", world.Obj{"all": true})
			require.Empty(t, out.Skipped)
			w.RequireTree(before)
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			w.RequireTree(c.after)
			for i, dir := range repositories {
				require.Equal(t, was[i], state(w, w.Path(dir)), dir)
			}
			require.NoFileExists(t, w.Path("../marks"))
		})
	}
}

// TestRepositoriesComeAndGo: commands make and remove repositories within the workspace.
func TestRepositoriesComeAndGo(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.RepositoryIn("old", world.Tree{"f": "f\n", "g": "g\n"})
	w.RepositoryIn("kept", world.Tree{"f": "f\n"})
	w.RepositoryIn("opened", world.Tree{"f": "f\n"})
	w.PutAll(world.Tree{"a": "a\n", ".gitignore": "/ignored/\n"})
	w.Git("init", "-q")
	w.Git("add", "a", ".gitignore")
	w.Plays(world.Lines(
		world.Shells("s", "git clone -q kept new; git clone -q kept ignored; rm -rf old; rm -rf opened/.git; echo x >> a; echo x >> kept/f"),
		world.Shells("t", "echo x >> a; echo x >> kept/f; echo x >> new/f"))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, []string{
		"a repository was created in new; its files are not listed for review. " +
			"the repository in old is gone; its files cannot be reviewed. " +
			"the repository in opened is gone; its files cannot be reviewed",
	}, e.Said(turn.ID, sessions.ItemNotice), "once")
	require.Equal(t, []string{"a", "kept/f"}, world.Sorted(world.Keys(e.Diffs())))
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"a": "a\n", "kept/f": "f\n", "new/f": "f\nx\n", "opened/f": "f\n"})
}

package main

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

	"cursord/sessions"
)

// state returns everything below a folder as it shows to a program: names, kinds, modes, times, contents.
func (w *world) state(dir string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	require.NoError(w.t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
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

// gitIn runs git in a folder beside the workspace, or in it.
func (w *world) gitIn(dir string, args ...string) string {
	w.t.Helper()
	defer func(ws string) { w.ws = ws }(w.ws)
	w.ws = w.path(dir)
	return w.git(args...)
}

// repositoryIn makes a repository of a folder beside the workspace with these files.
func (w *world) repositoryIn(dir string, files tree) {
	w.t.Helper()
	for path, text := range files {
		w.put(dir+"/"+path, text)
	}
	w.gitIn(dir, "init", "-q")
	w.gitIn(dir, "add", "-A")
	w.gitIn(dir, "commit", "-q", "-m", "first")
}

// TestShellInRepositories has a command change files in work trees of many kinds. What it changed is listed and nothing
// else, what was there is known, a reject brings it back, and the repositories stay as they are in every byte and time.
func TestShellInRepositories(t *testing.T) {
	t.Parallel()
	const rot13 = "tr a-zA-Z n-za-mN-ZA-M"
	plain := func(w *world) []string {
		w.putAll(tree{"a": "a\n", "d/b": "b\n"})
		w.commits()
		return []string{".git"}
	}
	change := "echo x >> a; rm d/b; echo n > n"
	changed := tree{"a": "a\nx\n", "d/b": "(absent)", "n": "n\n"}
	for _, c := range []struct {
		name    string
		prepare func(*world) (repositories []string)
		env     func(*world) []string
		command string
		after   tree // what differs
	}{
		{"a plain one", plain, nil, change, changed},
		{
			"an added work tree", func(w *world) []string {
				w.repositoryIn("../main", tree{"a": "a\n", "d/b": "b\n"})
				w.gitIn("../main", "worktree", "add", "-q", w.ws)
				return []string{"../main"}
			}, nil, change, changed,
		},
		{
			"a submodule", func(w *world) []string {
				w.repositoryIn("../sub", tree{"a": "a\n", "d/b": "b\n"})
				w.repositoryIn("../super", tree{"s": "s\n"})
				w.gitIn("../super", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.path("../sub"), "lib")
				w.ws = w.path("../super/lib")
				return []string{"../.git"}
			}, nil, change, changed,
		},
		{
			"one with a submodule", func(w *world) []string {
				w.repositoryIn("../sub", tree{"a": "a\n", "d/b": "b\n", "i": "i\n", ".gitignore": "*.o\n"})
				w.repositoryIn(".", tree{"s": "s\n"})
				w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.path("../sub"), "lib")
				w.git("commit", "-q", "-m", "with it")
				w.put("lib/mine", "m\n")
				w.put("lib/x.o", "o\n")
				return []string{".git"}
			}, nil, "echo x >> s; echo x >> lib/a; rm lib/d/b; echo n > lib/n; echo x >> lib/mine; echo x >> lib/x.o; echo y > lib/y.o",
			tree{"s": "s\nx\n", "lib/a": "a\nx\n", "lib/d/b": "(absent)", "lib/n": "n\n", "lib/mine": "m\nx\n"},
		},
		{
			"one in another, unknown to it", func(w *world) []string {
				plain(w)
				w.repositoryIn("in/side", tree{"f": "f\n", "g": "g\n"})
				w.repositoryIn("in/side/deeper", tree{"h": "h\n"})
				return []string{".git", "in/side/.git", "in/side/deeper/.git"}
			}, nil, change + "; echo x >> in/side/f; rm in/side/g; echo n > in/side/n; echo x >> in/side/deeper/h",
			tree{
				"a": "a\nx\n", "d/b": "(absent)", "n": "n\n", "in/side/f": "f\nx\n", "in/side/g": "(absent)",
				"in/side/n": "n\n", "in/side/deeper/h": "h\nx\n",
			},
		},
		{
			"a sparse checkout", func(w *world) []string {
				w.putAll(tree{"a": "a\n", "d/b": "b\n", "e/c": "c\n", "e/f/g": "g\n"})
				w.commits()
				w.git("sparse-checkout", "set", "--cone", "d")
				require.NoFileExists(w.t, w.path("e/c"))
				return []string{".git"}
			}, nil, change + "; mkdir e; echo mine > e/c", tree{"a": "a\nx\n", "d/b": "(absent)", "n": "n\n", "e/c": "mine\n"},
		},
		{
			"files that are there and to be skipped", func(w *world) []string {
				plain(w)
				w.git("update-index", "--skip-worktree", "a")
				w.git("update-index", "--assume-unchanged", "d/b")
				w.put("a", "mine\n")
				w.put("d/b", "mine too\n")
				return []string{".git"}
			}, nil, change, tree{"a": "mine\nx\n", "d/b": "(absent)", "n": "n\n"},
		},
		{
			"a filter", func(w *world) []string {
				w.putAll(tree{".gitattributes": "*.txt filter=rot\n", "a.txt": "hello\n", "b.txt": "other\n", "c.txt": "same\n"})
				w.git("init", "-q")
				w.git("config", "filter.rot.clean", rot13)
				w.git("config", "filter.rot.smudge", rot13)
				w.commits()
				require.Equal(w.t, "uryyb\n", w.git("cat-file", "-p", "HEAD:a.txt"))
				w.put("b.txt", "mine\n")
				return []string{".git"}
			}, nil, "echo x >> a.txt; echo x >> b.txt; rm c.txt; echo n > n.txt",
			tree{"a.txt": "hello\nx\n", "b.txt": "mine\nx\n", "c.txt": "(absent)", "n.txt": "n\n"},
		},
		{
			"a filter that is not there any more", func(w *world) []string {
				// As after a removal of Git LFS: pointers in the repository, contents or pointers in the work tree.
				w.putAll(tree{".gitattributes": "*.bin filter=lfs diff=lfs -text\n", "a": "a\n", "p.bin": "version https://x\noid 1\n", "touched.bin": "version https://x\noid 2\n", "z": "z\n"})
				w.git("init", "-q")
				w.commits()
				w.git("config", "filter.lfs.clean", "no-such-program clean %f")
				w.git("config", "filter.lfs.smudge", "no-such-program smudge %f")
				w.git("config", "filter.lfs.process", "no-such-program filter-process")
				w.git("config", "filter.lfs.required", "true")
				w.put("touched.bin", "version https://x\noid 2\n")
				w.put("mine.bin", "contents\n")
				return []string{".git"}
			}, nil, "for f in ? *.bin; do echo x >> $f; done; cp a n.bin",
			tree{
				"a": "a\nx\n", "p.bin": "version https://x\noid 1\nx\n", "touched.bin": "version https://x\noid 2\nx\n",
				"mine.bin": "contents\nx\n", "z": "z\nx\n", "n.bin": "a\nx\n",
			},
		},
		{
			"autocrlf", func(w *world) []string {
				w.putAll(tree{"a": "a\n", "d/b": "b\n"})
				w.commits()
				w.git("config", "core.autocrlf", "true")
				require.NoError(w.t, os.RemoveAll(w.path("d")))
				require.NoError(w.t, os.Remove(w.path("a")))
				w.git("checkout", ".")
				require.Equal(w.t, "a\r\n", w.get("a"))
				return []string{".git"}
			}, nil, change, tree{"a": "a\r\nx\n", "d/b": "(absent)", "n": "n\n"},
		},
		{
			"autocrlf=input", func(w *world) []string {
				w.putAll(tree{"a": "a\r\n", "d/b": "b\n"})
				w.git("init", "-q")
				w.git("config", "core.autocrlf", "input")
				w.commits()
				return []string{".git"}
			}, nil, change, tree{"a": "a\r\nx\n", "d/b": "(absent)", "n": "n\n"},
		},
		{
			"hooks and a file system monitor", func(w *world) []string {
				plain(w)
				mark := "#!/bin/sh\necho \"$0 $*\" >> " + w.path("../marks") + "\n"
				for _, hook := range []string{"monitor", "post-index-change", "post-checkout", "reference-transaction"} {
					w.put("../hooks/"+hook, mark)
					require.NoError(w.t, os.Chmod(w.path("../hooks/"+hook), 0o755))
				}
				w.git("config", "core.hooksPath", w.path("../hooks"))
				w.git("config", "core.fsmonitor", w.path("../hooks/monitor"))
				w.git("config", "core.untrackedCache", "true")
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"one without a commit", func(w *world) []string {
				w.putAll(tree{"a": "a\n", "d/b": "b\n"})
				w.git("init", "-q")
				w.git("add", "a")
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a detached HEAD", func(w *world) []string {
				plain(w)
				w.git("checkout", "-q", "--detach")
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a shallow clone", func(w *world) []string {
				w.repositoryIn("../main", tree{"a": "a\n", "d/b": "b\n"})
				w.gitIn("../main", "commit", "-q", "--allow-empty", "-m", "second")
				w.gitIn("..", "clone", "-q", "--depth", "1", "file://"+w.path("../main"), w.ws)
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a .git elsewhere", func(w *world) []string {
				w.git("init", "-q", "--separate-git-dir", w.path("../elsewhere"))
				plain(w)
				return []string{".git", "../elsewhere"}
			}, nil, change, changed,
		},
		{
			"a folder of one", func(w *world) []string {
				w.putAll(tree{"in/a": "a\n", "in/d/b": "b\n", "out": "o\n", "in/.gitignore": "*.o\n"})
				w.commits()
				w.ws = w.path("in")
				return []string{"../.git"}
			}, nil, change + "; echo x > ../out; echo x > x.o", changed,
		},
		{
			"another one named by the environment", func(w *world) []string {
				w.repositoryIn("../other", tree{"x": "x\n"})
				return append(plain(w), "../other")
			}, func(w *world) []string {
				return []string{
					"GIT_DIR=" + w.path("../other/.git"), "GIT_WORK_TREE=" + w.path("../other"), "GIT_INDEX_FILE=" + w.path("../other/.git/index"),
					"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false",
				}
			}, change, changed,
		},
		{
			"somebody else's", func(w *world) []string {
				if os.Geteuid() != 0 {
					w.t.Skip("needs root")
				}
				plain(w)
				require.NoError(w.t, exec.Command("chown", "-R", "12345", w.ws).Run())
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"an empty .git", func(w *world) []string {
				w.putAll(tree{"a": "a\n", "d/b": "b\n", ".git/x": "x\n"})
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a .git that leads nowhere", func(w *world) []string {
				w.putAll(tree{"a": "a\n", "d/b": "b\n", ".git": "gitdir: ../nowhere\n"})
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a broken index", func(w *world) []string {
				plain(w)
				w.put(".git/index", "nonsense")
				return []string{".git"}
			}, nil, change, changed,
		},
		{
			"a bare repository with files", func(w *world) []string {
				plain(w)
				w.git("config", "core.bare", "true")
				return []string{".git"}
			}, nil, change, changed,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			repositories := c.prepare(w)
			before := tree{}
			for path := range c.after {
				before[path] = w.get(path)
			}
			was := make([]map[string]string, len(repositories))
			for i, dir := range repositories {
				was[i] = w.state(w.path(dir))
			}
			w.plays(lines(shells("s", c.command))...)
			var env []string
			if c.env != nil {
				env = c.env(w)
			}
			w.start(env...)
			e := w.opens()
			turn := e.turn(nil)
			require.Equal(t, sessions.TurnCompleted, turn.Status)
			require.Empty(t, e.notices(turn.ID))
			w.requireTree(c.after)
			found := e.diffs()
			require.Equal(t, sorted(keys(c.after)), sorted(keys(found)))
			for path, d := range found {
				require.Equal(t, "known", d.Baseline, path)
			}
			out := e.decides("diff/reject", obj{"all": true})
			require.Empty(t, out.Skipped)
			w.requireTree(before)
			e.must("diff/undo", obj{"workspace": w.ws}, nil)
			w.requireTree(c.after)
			for i, dir := range repositories {
				require.Equal(t, was[i], w.state(w.path(dir)), dir)
			}
			require.NoFileExists(t, w.path("../marks"))
		})
	}
}

// TestRepositoriesComeAndGo has commands make and take away repositories within the workspace.
func TestRepositoriesComeAndGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repositoryIn("old", tree{"f": "f\n", "g": "g\n"})
	w.repositoryIn("kept", tree{"f": "f\n"})
	w.repositoryIn("opened", tree{"f": "f\n"})
	w.putAll(tree{"a": "a\n", ".gitignore": "/ignored/\n"})
	w.git("init", "-q")
	w.git("add", "a", ".gitignore")
	w.plays(lines(
		shells("s", "git clone -q kept new; git clone -q kept ignored; rm -rf old; rm -rf opened/.git; echo x >> a; echo x >> kept/f"),
		shells("t", "echo x >> a; echo x >> kept/f; echo x >> new/f"))...)
	w.start()
	e := w.opens()
	turn := e.turn(nil)
	require.Equal(t, []string{
		"a repository has come to new; what is in it is not listed for review. " +
			"the repository in old is gone; what was in it cannot be reviewed. " +
			"the repository in opened is gone; what was in it cannot be reviewed",
	}, e.said(turn.ID, sessions.ItemNotice), "once")
	require.Equal(t, []string{"a", "kept/f"}, sorted(keys(e.diffs())))
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"a": "a\n", "kept/f": "f\n", "new/f": "f\nx\n", "opened/f": "f\n"})
}

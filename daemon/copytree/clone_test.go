package copytree

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStatusIsEqual copies repositories of every kind: git status is the same in both, the original stays untouched, and the
// copy shows no change.
func TestStatusIsEqual(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs links and modes")
	}
	kinds := map[string]func(w *world){
		"clean": func(w *world) { w.repo() },
		"dirty": func(w *world) {
			w.repo()
			w.write("reed.txt", "one\n2\n")
			w.write("new/one.txt", "new\n")
			w.write("staged.txt", "staged\n")
			w.git("add", "staged.txt")
			w.write("staged.txt", "and more\n")
			w.git("rm", "-q", "lib/toad.go")
			require.NoError(w.t, os.Remove(filepath.Join(w.root, "lib", "frog.go")))
			w.write("later.txt", "x")
			w.git("add", "-N", "later.txt")
			require.NoError(w.t, os.Chmod(filepath.Join(w.root, "run.sh"), 0o644))
		},
		"detached": func(w *world) { w.repo(); w.git("checkout", "-q", "--detach") },
		"upstream": func(w *world) {
			w.repo()
			up := filepath.Join(filepath.Dir(w.root), "up.git")
			w.git("clone", "-q", "--bare", ".", up)
			w.git("remote", "add", "origin", up)
			w.git("fetch", "-q", "origin")
			w.git("branch", "-q", "-u", "origin/trunk")
			w.git("pack-refs", "--all")
			w.git("tag", "v1")
		},
		"no commits":       func(w *world) { w.git("init", "-q", "-b", "trunk"); w.write("a", "a") },
		"no commits, adds": func(w *world) { w.git("init", "-q", "-b", "trunk"); w.write("a", "a"); w.git("add", "a") },
		"conflict": func(w *world) {
			w.repo()
			w.git("checkout", "-q", "-b", "side")
			w.write("reed.txt", "one\nside\n")
			w.git("commit", "-qam", "side")
			w.git("checkout", "-q", "trunk")
			w.write("reed.txt", "one\ntrunk\n")
			w.git("commit", "-qam", "trunk")
			cmd := w.tryGit("merge", "side")
			require.Contains(w.t, cmd, "CONFLICT")
		},
		"shallow": func(w *world) {
			w.repo()
			w.write("reed.txt", "more\n")
			w.git("commit", "-qam", "second")
			deep := w.root + "-deep"
			require.NoError(w.t, os.Rename(w.root, deep))
			gitIn(w.t, filepath.Dir(w.root), "clone", "-q", "--depth=1", "file://"+deep, w.root)
		},
		"borrowing": func(w *world) {
			w.repo()
			other := w.root + "-lender"
			require.NoError(w.t, os.Rename(w.root, other))
			gitIn(w.t, filepath.Dir(w.root), "clone", "-q", "--shared", other, w.root)
			require.NoError(w.t, os.WriteFile(filepath.Join(w.root, ".git/objects/info/alternates"), []byte("../../../pond-lender/.git/objects\n"), 0o644))
		},
		"worktree": func(w *world) {
			w.repo()
			main := w.root + "-main"
			require.NoError(w.t, os.Rename(w.root, main))
			gitIn(w.t, main, "worktree", "add", "-q", "-b", "extra", w.root)
			w.write("here.txt", "x\n")
		},
		"separate repository": func(w *world) {
			w.repo()
			w.git("init", "-q", "--separate-git-dir", w.root+"-git")
			w.git("config", "core.worktree", w.root)
		},
		"sparse": func(w *world) {
			w.repo()
			w.write("deep/er/x", "x\n")
			w.git("add", "-A")
			w.git("commit", "-qm", "deep")
			w.git("sparse-checkout", "set", "--cone", "--sparse-index", "lib")
		},
		"split index": func(w *world) {
			w.repo()
			w.git("update-index", "--split-index")
			w.write("reed.txt", "3\n")
			w.git("add", "-A")
		},
		"index extras": func(w *world) {
			w.repo()
			w.git("update-index", "--index-version", "4")
			w.git("config", "core.untrackedCache", "true")
			w.git("update-index", "--untracked-cache")
			w.git("status")
			w.git("update-index", "--assume-unchanged", "reed.txt")
			w.write("reed.txt", "not seen\n")
		},
		"sha256": func(w *world) { w.repo("--object-format=sha256"); w.write("reed.txt", "2\n") },
		"autocrlf": func(w *world) {
			w.repo()
			w.git("config", "core.autocrlf", "true")
			w.write("crlf.txt", "one\r\ntwo\r\n")
			w.git("add", "crlf.txt")
			w.git("commit", "-qm", "crlf")
			w.write("reed.txt", "one\r\ntwo\r\n")
		},
		"filter": func(w *world) {
			w.repo()
			w.git("config", "filter.shout.clean", "tr a-z A-Z")
			w.git("config", "filter.shout.smudge", "tr A-Z a-z")
			w.write(".gitattributes", "*.loud filter=shout\n")
			w.write("x.loud", "hello\n")
			w.git("add", "-A")
			w.git("commit", "-qm", "loud")
		},
		"settings": func(w *world) {
			w.repo()
			w.git("config", "status.showUntrackedFiles", "no")
			w.git("config", "user.name", `A "quoted\" name; # with all`)
			w.write(".git/info/exclude", "*.tmp\n")
			w.write("x.tmp", "x")
			w.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
			require.NoError(w.t, os.Chmod(filepath.Join(w.root, ".git/hooks/pre-commit"), 0o755))
		},
		"links": func(w *world) {
			w.repo()
			require.NoError(w.t, os.Symlink("reed.txt", filepath.Join(w.root, "near")))
			require.NoError(w.t, os.Symlink(filepath.Join(w.root, "lib"), filepath.Join(w.root, "inside")))
			require.NoError(w.t, os.Symlink("/nowhere/at/all", filepath.Join(w.root, "outside")))
			w.git("add", "-A")
			w.git("commit", "-qm", "links")
			require.NoError(w.t, os.Symlink(filepath.Join(w.root, "reed.txt"), filepath.Join(w.root, "untracked")))
		},
		"names": func(w *world) {
			w.repo()
			for _, name := range []string{"new\nline", "sp ace", "quo\"te", "back\\slash", "tab\t", "-dash", ":colon", "[x]*", "\xff\xfe", "ünïcode"} {
				w.write(name, name)
				w.write("dir "+name+"/x", name)
			}
			w.git("add", "-A")
			w.git("commit", "-qm", "names")
			w.write("\xfe untracked\n", "x")
		},
		"submodule": func(w *world) {
			other := newWorld(w.t).repo()
			w.repo()
			w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.root, "sub")
			w.git("commit", "-qm", "sub")
			write(w.t, w.root, "sub/untracked.txt", "x")
		},
		"repository within": func(w *world) {
			w.repo()
			w.write("inner/a", "a")
			gitIn(w.t, filepath.Join(w.root, "inner"), "init", "-q")
		},
		"path with space": func(w *world) {
			w.repo()
			to := filepath.Join(filepath.Dir(w.root), "a \"pond\"\nof #1")
			require.NoError(w.t, os.Rename(w.root, to))
			w.root = to
		},
		"folder of a repository": func(w *world) {
			w.repo()
			w.write("lib/deep/x.go", "package x\n")
			w.write("lib/frog.go", "package toad\n")
			w.root = filepath.Join(w.root, "lib")
		},
	}
	for name, prepare := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			prepare(w)
			base := filepath.Dir(filepath.Dir(filepath.Dir(w.dir)))
			before := tree(t, base, true)
			want := ""
			if name == "folder of a repository" {
				want = gitIn(t, w.root, "status", "--porcelain=v2", "-uall", "-z", "--", ".")
			} else {
				want = status(t, w.root)
			}
			if name == "repository within" {
				want = strings.ReplaceAll(want, "inner/", "inner/a") // the copy has no repository there
			}
			c := w.make(Options{})
			require.Empty(t, w.changed(c))
			require.NoError(t, os.Rename(filepath.Join(base, "state"), base+"-state"))
			after := tree(t, base, true)
			require.Empty(t, onlyIn(before, after), "something was written outside of the copy")
			require.Empty(t, onlyIn(after, before), "something was written outside of the copy")
			require.NoError(t, os.Rename(base+"-state", filepath.Join(base, "state")))

			require.Equal(t, want, status(t, c.Path()))
			require.Equal(t, w.tryGit("log", "--format=%H %D", "--decorate-refs=refs/heads", "--decorate-refs=refs/tags"),
				gitQuiet(c.Path(), "log", "--format=%H %D", "--decorate-refs=refs/heads", "--decorate-refs=refs/tags"))
			require.Equal(t, w.tryGit("config", "user.name"), gitQuiet(c.Path(), "config", "user.name"))
			require.Empty(t, gitQuiet(c.Path(), "remote"))
			require.NoFileExists(t, filepath.Join(c.top(), ".git/hooks/pre-commit"))
			require.NotContains(t, gitQuiet(c.Path(), "fsck"), "error")
			require.Empty(t, w.takeOver(c))

			// The agent can commit in the copy, and the original does not get the commit.
			write(t, c.Path(), "agent.txt", "agent\n")
			require.Equal(t, "created agent.txt", w.changed(c))
			if name != "conflict" {
				gitIn(t, c.Path(), "add", "agent.txt")
				gitIn(t, c.Path(), "commit", "-q", "-m", "agent")
				require.Equal(t, "created agent.txt", w.changed(c))
			}
			require.NoError(t, c.Remove())
			require.NoDirExists(t, w.dir)
			require.NoError(t, os.RemoveAll(filepath.Join(base, "state")))
			after = tree(t, base, true)
			require.Empty(t, onlyIn(before, after)+onlyIn(after, before))
		})
	}
}

func gitQuiet(dir string, args ...string) string {
	out, err := command(dir, args...).CombinedOutput()
	if err != nil && len(args) > 0 && args[0] == "fsck" {
		return "error " + string(out)
	}
	return string(out)
}

func (w *world) tryGit(args ...string) string { return gitQuiet(w.root, args...) }

// TestTakesOverGit follows commits, branches and the index of the original, and keeps what the agent has committed.
func TestTakesOverGit(t *testing.T) {
	w := newWorld(t).repo()
	c := w.make(Options{})
	write(t, c.Path(), "agent.txt", "agent\n")
	gitIn(t, c.Path(), "add", "-A")
	gitIn(t, c.Path(), "commit", "-q", "-m", "agent")
	agents := strings.TrimSpace(gitIn(t, c.Path(), "rev-parse", "HEAD"))
	require.Empty(t, w.takeOver(c))
	require.Equal(t, agents, strings.TrimSpace(gitIn(t, c.Path(), "rev-parse", "HEAD")), "nothing happened in the original")

	w.git("checkout", "-q", "-b", "next")
	w.write("reed.txt", "next\n")
	w.git("commit", "-qam", "next")
	w.write("lib/frog.go", "package frog // staged\n")
	w.git("add", "-A")
	require.Equal(t, "modified lib/frog.go, modified reed.txt", w.takeOver(c))
	require.Equal(t, w.git("rev-parse", "HEAD"), gitIn(t, c.Path(), "rev-parse", "HEAD"))
	require.Equal(t, "next\n", gitIn(t, c.Path(), "branch", "--show-current"))
	require.Equal(t, status(t, w.root)+"? agent.txt\x00", status(t, c.Path()))
	require.Equal(t, agents, strings.TrimSpace(gitIn(t, c.Path(), "rev-parse", "refs/cursord/kept/"+agents)))
	require.Equal(t, "created agent.txt", w.changed(c))
}

// TestGitOfTheCopyIsNotTrusted: the agent replaces the copy's repository by other things.
func TestGitOfTheCopyIsNotTrusted(t *testing.T) {
	tricks := map[string]func(w *world, gitDir string){
		"gone":            func(w *world, gitDir string) {},
		"a way to theirs": func(w *world, gitDir string) { write(t, filepath.Dir(gitDir), ".git", "gitdir: "+w.root+"/.git\n") },
		"a link to theirs": func(w *world, gitDir string) {
			require.NoError(t, os.Symlink(w.root+"/.git", gitDir))
		},
		"parts of theirs": func(w *world, gitDir string) {
			require.NoError(t, os.Mkdir(gitDir, 0o755))
			for _, name := range []string{"HEAD", "index", "refs", "objects", "info", "config", "packed-refs"} {
				require.NoError(t, os.Symlink(filepath.Join(w.root, ".git", name), filepath.Join(gitDir, name)))
			}
		},
		"common with theirs": func(w *world, gitDir string) {
			write(t, gitDir, "commondir", w.root+"/.git\n")
			write(t, gitDir, "HEAD", "ref: refs/heads/trunk\n")
		},
	}
	for name, trick := range tricks {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).repo()
			c := w.make(Options{})
			require.NoError(t, os.RemoveAll(filepath.Join(c.top(), ".git")))
			trick(w, filepath.Join(c.top(), ".git"))
			w.write("reed.txt", "x\n")
			w.git("commit", "-qam", "second")
			before := tree(t, filepath.Join(w.root, ".git"), true)
			require.Equal(t, "modified reed.txt", w.takeOver(c))
			require.Equal(t, before, tree(t, filepath.Join(w.root, ".git"), true))
			require.Equal(t, status(t, w.root), status(t, c.Path()))
			require.Empty(t, w.changed(c))
		})
	}
}

// TestUntrustedFilter: a copy does not take over an untrusted filter.
func TestUntrustedFilter(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		w := newWorld(t).repo()
		w.git("config", "filter.x.smudge", "touch mark")
		w.git("config", "diff.x.textconv", "touch mark")
		w.git("config", "user.email", "me@example.org")
		g := w.trusting()
		g.Trust = func(_, _ string) bool { return trusted }
		config := read(t, w.make(Options{Git: g}).Path(), ".git/config")
		require.Contains(t, config, "me@example.org")
		require.NotContains(t, config, "textconv")
		require.Equal(t, trusted, strings.Contains(config, "smudge"))
	}
}

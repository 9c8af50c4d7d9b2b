//go:build unix

package trees

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestControlFiles: an agent's command changes files in git's folders that can name programs, lead elsewhere or hide files.
// Each of them is listed with its former content, and a reject restores it; files that git itself writes are not listed.
func TestControlFiles(t *testing.T) {
	t.Parallel()
	files := world.Tree{"a": "a\n", "d/b": "b\n"}
	plain := func(w *world.World) {
		w.PutAll(files)
		w.Commits()
	}
	for _, c := range []struct {
		name    string
		prepare func(*world.World)
		command string
		listed  []string
	}{
		{"config", plain, "git config filter.x.clean cat; git config core.fsmonitor x", []string{".git/config"}},
		{"config replaced by a link", plain, "mv .git/config .git/c; ln -s c .git/config", []string{".git/config"}},
		{"configuration of one work tree", plain, "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor x", []string{".git/config", ".git/config.worktree"}},
		{"hooks", func(w *world.World) {
			plain(w)
			w.Put(".git/hooks/pre-push", "#!/bin/sh\n")
			w.Put(".git/hooks/post-merge", "#!/bin/sh\n")
		}, "echo true > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo x >> .git/hooks/pre-push; rm .git/hooks/post-merge; echo x > .git/hooks/new.sample",
			[]string{".git/hooks/post-merge", ".git/hooks/pre-commit", ".git/hooks/pre-push"}},
		{"attributes, ignore rules and alternates", plain, "mkdir -p .git/info .git/objects/info; echo '* filter=x' > .git/info/attributes; echo '*.o' >> .git/info/exclude; echo /x > .git/objects/info/alternates",
			[]string{".git/info/attributes", ".git/info/exclude", ".git/objects/info/alternates"}},
		{"a common folder elsewhere", plain, "echo ../../elsewhere > .git/commondir", []string{".git/commondir"}},
		{"a folder for links", plain, "mv .git/hooks ../hooks; ln -s ../../hooks .git/hooks", []string{".git/hooks"}},
		{"an added work tree", func(w *world.World) {
			plain(w)
			w.Git("worktree", "add", "-q", w.Path("../side"))
		}, "echo /x > .git/worktrees/side/gitdir; echo /x > .git/worktrees/side/commondir; echo x > .git/worktrees/side/config.worktree",
			[]string{".git/worktrees/side/commondir", ".git/worktrees/side/config.worktree", ".git/worktrees/side/gitdir"}},
		{"a submodule", func(w *world.World) {
			w.RepositoryIn("../sub", files)
			w.RepositoryIn(".", world.Tree{"s": "s\n"})
			w.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.Path("../sub"), "dir/lib")
			w.Git("commit", "-q", "-m", "with it")
		}, "cd dir/lib; git config core.fsmonitor x; echo x > $(git rev-parse --git-dir)/hooks/post-checkout; echo 'gitdir: /x' > .git",
			[]string{".git/modules/dir/lib/config", ".git/modules/dir/lib/hooks/post-checkout", "dir/lib/.git"}},
		{"a repository within", func(w *world.World) {
			plain(w)
			w.RepositoryIn("in", files)
		}, "cd in; git config core.fsmonitor x; echo x > .git/hooks/post-checkout", []string{"in/.git/config", "in/.git/hooks/post-checkout"}},
		{"a repository where there was none", func(w *world.World) { w.PutAll(files) }, "git init -q; rm -f .git/info/exclude", []string{".git/config"}},
		{"a commit", plain, "git add -A; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git checkout -q -b y; git gc -q", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			c.prepare(w)
			was := map[string]string{}
			for _, name := range c.listed {
				was[name] = "(absent)"
				if info, err := os.Lstat(w.Path(name)); err == nil && !info.IsDir() {
					was[name] = w.Get(name)
				}
			}
			w.Plays(world.Lines(world.Shells("s", c.command))...)
			w.Start()
			e := w.Opens()
			turn := e.Turn(nil)
			require.Equal(t, sessions.TurnCompleted, turn.Status)
			found := e.Diffs()
			require.ElementsMatch(t, c.listed, world.Keys(found))
			for name, d := range found {
				require.Equal(t, "known", d.Baseline, name)
			}
			for _, name := range c.listed {
				e.Decides("diff/reject", world.Obj{"path": name})
				if was[name] == "(absent)" {
					require.NoFileExists(t, w.Path(name))
				} else {
					require.Equal(t, was[name], w.Get(name), name)
				}
			}
			require.Empty(t, e.Diffs())
		})
	}
}

// TestControlFilesOutside: a command changes such files outside of the workspace. They are listed, but cannot be decided.
func TestControlFilesOutside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(*world.World)
		listed  []string
	}{
		{"a linked work tree", func(w *world.World) {
			w.RepositoryIn("../main", world.Tree{"a": "a\n"})
			w.GitIn("../main", "worktree", "add", "-q", w.Root)
		}, []string{"../main/.git/config", "../main/.git/hooks/post-commit"}},
		{"a folder of a work tree", func(w *world.World) {
			w.RepositoryIn("../", world.Tree{"ws/a": "a\n"})
		}, []string{"../.git/config", "../.git/hooks/post-commit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			c.prepare(w)
			w.Plays(world.Lines(world.Shells("s", "git config core.fsmonitor x; echo x > $(git rev-parse --git-common-dir)/hooks/post-commit"))...)
			w.Start()
			e := w.Opens()
			require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
			found := e.Diffs()
			var paths []string
			for _, name := range c.listed {
				paths = append(paths, filepath.Clean(w.Path(name)))
			}
			require.ElementsMatch(t, paths, world.Keys(found))
			d := found[paths[0]]
			var text strings.Builder
			for _, h := range d.Hunks {
				text.WriteString(strings.Join(h.Lines, ""))
			}
			require.Contains(t, text.String(), "fsmonitor")
			out := e.Decides("diff/reject", world.Obj{"all": true})
			require.NotEmpty(t, out.Skipped)
			require.Contains(t, w.Get(c.listed[0]), "fsmonitor")
		})
	}
}

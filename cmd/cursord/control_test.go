package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestControlFiles has an agent change, by a command, what in git's folders can name programs, lead elsewhere or hide files.
// Each such file is listed with what it held, and a reject brings that back; what git itself writes is not listed.
func TestControlFiles(t *testing.T) {
	t.Parallel()
	files := tree{"a": "a\n", "d/b": "b\n"}
	plain := func(w *world) {
		w.putAll(files)
		w.commits()
	}
	for _, c := range []struct {
		name    string
		prepare func(*world)
		command string
		listed  []string
	}{
		{"config", plain, "git config filter.x.clean cat; git config core.fsmonitor x", []string{".git/config"}},
		{"config replaced by a link", plain, "mv .git/config .git/c; ln -s c .git/config", []string{".git/config"}},
		{"configuration of one work tree", plain, "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor x", []string{".git/config", ".git/config.worktree"}},
		{"hooks", func(w *world) {
			plain(w)
			w.put(".git/hooks/pre-push", "#!/bin/sh\n")
			w.put(".git/hooks/post-merge", "#!/bin/sh\n")
		}, "echo true > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo x >> .git/hooks/pre-push; rm .git/hooks/post-merge; echo x > .git/hooks/new.sample",
			[]string{".git/hooks/post-merge", ".git/hooks/pre-commit", ".git/hooks/pre-push"}},
		{"attributes, ignore rules and alternates", plain, "mkdir -p .git/info .git/objects/info; echo '* filter=x' > .git/info/attributes; echo '*.o' >> .git/info/exclude; echo /x > .git/objects/info/alternates",
			[]string{".git/info/attributes", ".git/info/exclude", ".git/objects/info/alternates"}},
		{"a common folder elsewhere", plain, "echo ../../elsewhere > .git/commondir", []string{".git/commondir"}},
		{"a folder for links", plain, "mv .git/hooks ../hooks; ln -s ../../hooks .git/hooks", []string{".git/hooks"}},
		{"an added work tree", func(w *world) {
			plain(w)
			w.git("worktree", "add", "-q", w.path("../side"))
		}, "echo /x > .git/worktrees/side/gitdir; echo /x > .git/worktrees/side/commondir; echo x > .git/worktrees/side/config.worktree",
			[]string{".git/worktrees/side/commondir", ".git/worktrees/side/config.worktree", ".git/worktrees/side/gitdir"}},
		{"a submodule", func(w *world) {
			w.repositoryIn("../sub", files)
			w.repositoryIn(".", tree{"s": "s\n"})
			w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.path("../sub"), "dir/lib")
			w.git("commit", "-q", "-m", "with it")
		}, "cd dir/lib; git config core.fsmonitor x; echo x > $(git rev-parse --git-dir)/hooks/post-checkout; echo 'gitdir: /x' > .git",
			[]string{".git/modules/dir/lib/config", ".git/modules/dir/lib/hooks/post-checkout", "dir/lib/.git"}},
		{"a repository within", func(w *world) {
			plain(w)
			w.repositoryIn("in", files)
		}, "cd in; git config core.fsmonitor x; echo x > .git/hooks/post-checkout", []string{"in/.git/config", "in/.git/hooks/post-checkout"}},
		{"a repository where there was none", func(w *world) { w.putAll(files) }, "git init -q; rm -f .git/info/exclude", []string{".git/config"}},
		{"a commit", plain, "git add -A; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git checkout -q -b y; git gc -q", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.prepare(w)
			was := map[string]string{}
			for _, name := range c.listed {
				was[name] = "(absent)"
				if info, err := os.Lstat(w.path(name)); err == nil && !info.IsDir() {
					was[name] = w.get(name)
				}
			}
			w.plays(lines(shells("s", c.command))...)
			w.start()
			e := w.opens()
			turn := e.turn(nil)
			require.Equal(t, sessions.TurnCompleted, turn.Status)
			found := e.diffs()
			require.ElementsMatch(t, c.listed, keys(found))
			for name, d := range found {
				require.Equal(t, "known", d.Baseline, name)
			}
			for _, name := range c.listed {
				e.decides("diff/reject", obj{"path": name})
				if was[name] == "(absent)" {
					require.NoFileExists(t, w.path(name))
				} else {
					require.Equal(t, was[name], w.get(name), name)
				}
			}
			require.Empty(t, e.diffs())
		})
	}
}

// TestControlFilesOutside has a command change them where they are outside of the workspace: they are listed, and can only be looked at.
func TestControlFilesOutside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(*world)
		listed  []string
	}{
		{"a linked work tree", func(w *world) {
			w.repositoryIn("../main", tree{"a": "a\n"})
			w.gitIn("../main", "worktree", "add", "-q", w.ws)
		}, []string{"../main/.git/config", "../main/.git/hooks/post-commit"}},
		{"a folder of a work tree", func(w *world) {
			w.repositoryIn("../", tree{"ws/a": "a\n"})
		}, []string{"../.git/config", "../.git/hooks/post-commit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.prepare(w)
			w.plays(lines(shells("s", "git config core.fsmonitor x; echo x > $(git rev-parse --git-common-dir)/hooks/post-commit"))...)
			w.start()
			e := w.opens()
			require.Equal(t, sessions.TurnCompleted, e.turn(nil).Status)
			found := e.diffs()
			var paths []string
			for _, name := range c.listed {
				paths = append(paths, filepath.Clean(w.path(name)))
			}
			require.ElementsMatch(t, paths, keys(found))
			d := found[paths[0]]
			var text strings.Builder
			for _, h := range d.Hunks {
				text.WriteString(strings.Join(h.Lines, ""))
			}
			require.Contains(t, text.String(), "fsmonitor")
			out := e.decides("diff/reject", obj{"all": true})
			require.NotEmpty(t, out.Skipped)
			require.Contains(t, w.get(c.listed[0]), "fsmonitor")
		})
	}
}

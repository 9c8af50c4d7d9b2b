package copytree

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cursord/daemon/internal/askgit"
)

func TestMain(m *testing.M) {
	os.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	if do := os.Getenv(childVar); do != "" {
		child(do)
	}
	goleak.VerifyTestMain(m)
}

// A world is a workspace and a place for its copy.
type world struct {
	t    testing.TB
	root string
	dir  string
}

func newWorld(t testing.TB) *world {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, root: filepath.Join(base, "pond"), dir: filepath.Join(base, "state", "copies", "s1")}
	require.NoError(t, os.Mkdir(w.root, 0o755))
	return w
}

// command is git as a user would run it.
func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.org", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	return cmd
}

func gitIn(t testing.TB, dir string, args ...string) string {
	out, err := command(dir, args...).CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return string(out)
}

func (w *world) git(args ...string) string { return gitIn(w.t, w.root, args...) }

// repo makes the workspace a repository with one commit.
func (w *world) repo(args ...string) *world {
	w.git(append([]string{"init", "-q", "-b", "trunk"}, args...)...)
	w.write("reed.txt", "one\ntwo\n")
	w.write("lib/frog.go", "package frog\n")
	w.write("lib/toad.go", "package frog // toad\n")
	w.write("run.sh", "#!/bin/sh\n")
	require.NoError(w.t, os.Chmod(filepath.Join(w.root, "run.sh"), 0o755))
	w.write(".gitignore", "*.log\nbuild/\n.env\nnode_modules/\n")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "first")
	return w
}

func write(t testing.TB, dir, name, content string) {
	full := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(t, os.WriteFile(full, []byte(content), 0o644))
}

func (w *world) write(name, content string) { write(w.t, w.root, name, content) }

// trusting returns a guard that trusts everything that the workspace's repositories name.
func (w *world) trusting() *askgit.Guard {
	return &askgit.Guard{Home: w.dir + "-git", Root: w.root, Trust: func(_, _ string) bool { return true }}
}

func (w *world) make(o Options) *Copy {
	if o.Git == nil {
		o.Git = w.trusting()
	}
	c, err := Make(w.t.Context(), w.root, w.dir, o)
	require.NoError(w.t, err)
	return c
}

func read(t testing.TB, dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(b)
}

// status returns the output of git status.
func status(t testing.TB, dir string) string {
	return gitIn(t, dir, "status", "--porcelain=v2", "-uall", "-z", "--ignore-submodules=all")
}

// tree lists a folder in full: names, modes, contents and targets; with times, also times.
func tree(t testing.TB, dir string, times bool) string {
	var b strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		rel, _ := filepath.Rel(dir, p)
		fmt.Fprintf(&b, "%q %v", rel, info.Mode())
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			require.NoError(t, err)
			fmt.Fprintf(&b, " -> %q", target)
		case d.Type().IsRegular():
			data, err := os.ReadFile(p)
			require.NoError(t, err)
			fmt.Fprintf(&b, " %q", data)
		}
		// Git updates the times of existing objects that it would write, and of the index that it reads.
		if times && rel != "." && !strings.Contains(p, "/.git/objects/") && !strings.Contains(p, "sharedindex") {
			fmt.Fprintf(&b, " %v", info.ModTime().UnixNano())
		}
		b.WriteString("\n")
		return nil
	}))
	return b.String()
}

// onlyIn returns the lines of a that are not in b, cut short.
func onlyIn(a, b string) string {
	var out strings.Builder
	for line := range strings.Lines(a) {
		if !strings.Contains(b, line) {
			fmt.Fprintf(&out, "%.150s\n", line)
		}
	}
	return out.String()
}

// told returns changes as one line.
func told(list []Change) string {
	var b []string
	for _, c := range list {
		s := string(c.Kind) + " " + c.Path
		if c.Pending {
			s += " (pending)"
		}
		b = append(b, s)
	}
	return strings.Join(b, ", ")
}

func (w *world) changed(c *Copy) string {
	list, err := c.Changed(w.t.Context())
	require.NoError(w.t, err)
	return told(list)
}

func (w *world) takeOver(c *Copy) string {
	list, err := c.TakeOver(w.t.Context())
	require.NoError(w.t, err)
	require.True(w.t, slices.IsSortedFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) }))
	return told(list)
}

// age makes all files old enough for their stats to be relied on.
func age(t testing.TB, dir string) {
	old := time.Now().Add(-time.Hour)
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.Contains(p, ".git"+string(filepath.Separator)) {
			return os.Chtimes(p, old, old)
		}
		return err
	}))
}

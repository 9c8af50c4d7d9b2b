//go:build unix

package world

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Ages makes files older than the index will be, so that git trusts the index about them, and the daemon asks git for their
// former content.
func (w *World) Ages(names ...string) {
	w.T.Helper()
	old := time.Now().Add(-time.Hour)
	for _, name := range names {
		require.NoError(w.T, os.Chtimes(w.Path(name), old, old))
	}
}

// WithCommitted returns a world with a daemon, whose workspace has one file, which is committed and older than the index; and an editor that has it open.
func WithCommitted(t *testing.T, path, text string) (*World, *Editor) {
	t.Helper()
	w := New(t)
	w.Put(path, text)
	w.Ages(path)
	w.Commits()
	w.Rests()
	w.Start()
	return w, w.Opens()
}

// Scrambled changes some lines of a text, removes some, and inserts some.
func Scrambled(rnd *rand.Rand, text, word string) string {
	out := ""
	for i, line := range SplitAfter(text) {
		switch rnd.IntN(14) {
		case 0:
			out += fmt.Sprintf("%s line %d\n", word, i)
		case 1:
		case 2:
			out += line + fmt.Sprintf("%s new %d\n", word, i)
		default:
			out += line
		}
	}
	return out
}

// GitIn runs git in a folder, which is named from the workspace.
func (w *World) GitIn(dir string, args ...string) string {
	w.T.Helper()
	defer func(ws string) { w.Root = ws }(w.Root)
	w.Root = w.Path(dir)
	return w.Git(args...)
}

// RepositoryIn makes a repository with these files in a folder, which is named from the workspace.
func (w *World) RepositoryIn(dir string, files Tree) {
	w.T.Helper()
	for path, text := range files {
		w.Put(dir+"/"+path, text)
	}
	w.GitIn(dir, "init", "-q")
	w.GitIn(dir, "add", "-A")
	w.GitIn(dir, "commit", "-q", "-m", "first")
}

// Numbered returns a text of n lines, "line 1" and so on. change replaces some of them; "" removes a line.
func Numbered(n int, change map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if s, ok := change[i]; ok {
			b.WriteString(s)
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// A Tree is files by path; "(absent)" stands for no file.
type Tree map[string]string

// PutAll writes files of the workspace; "(absent)" removes one.
func (w *World) PutAll(files Tree) {
	for path, text := range files {
		if text != "(absent)" {
			w.Put(path, text)
		}
	}
}

// RequireTree requires these files of the workspace.
func (w *World) RequireTree(want Tree) {
	w.T.Helper()
	for path, text := range want {
		require.Equal(w.T, text, w.Get(path), path)
	}
}

// Changing returns the script of an agent that changes the files from before to after.
func Changing(before, after Tree) []string {
	var all [][]string
	i := 0
	for path, text := range after {
		i++
		if text == "(absent)" {
			all = append(all, Deletes(fmt.Sprint("d", i), path, before[path]))
		} else {
			old, ok := before[path]
			if !ok {
				old = "(absent)"
			}
			all = append(all, Edits(fmt.Sprint("e", i), path, old, text))
		}
	}
	return Lines(all...)
}

// Sorted returns a sorted copy.
func Sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

// SplitAfter splits a text into its lines, each with its end.
func SplitAfter(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Git runs git in the workspace.
func (w *World) Git(args ...string) string {
	w.T.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.Root, append(w.Env(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	require.NoError(w.T, err, "git %s: %s", args, out)
	return string(out)
}

// Commits makes the workspace a repository and commits all its files.
func (w *World) Commits() {
	w.T.Helper()
	w.Git("init", "-q")
	dir := w.Path(".git")
	if file, err := os.ReadFile(dir); err == nil { // it says where the repository is
		dir = strings.TrimSpace(strings.TrimPrefix(string(file), "gitdir: "))
	}
	config, err := os.OpenFile(filepath.Join(dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(w.T, err)
	_, err = config.WriteString("[user]\n\tname = a\n\temail = a@b\n[maintenance]\n\tauto = false\n")
	require.NoError(w.T, err)
	require.NoError(w.T, config.Close())
	w.Git("add", "-A")
	w.Git("commit", "-q", "-m", "first")
}

// HasBobsBranch makes a repository with a file f. In the branch bob a commit of somebody adds its second line. It returns that commit.
func (w *World) HasBobsBranch() (commit string) {
	w.T.Helper()
	w.Put("f", "one\ntwo\n")
	w.Commits()
	w.Git("checkout", "-q", "-b", "bob")
	w.Put("f", "one\nbob wrote this line\ntwo\n")
	w.Git("commit", "-q", "-a", "-m", "bob")
	commit = strings.TrimSpace(w.Git("rev-parse", "HEAD"))
	w.Git("checkout", "-q", "-")
	return commit
}

// Keys lists a map's keys, in no order.
func Keys[V any](m map[string]V) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

// Makes runs shell commands in the workspace, as a person would.
func (w *World) Makes(command string) {
	w.T.Helper()
	cmd := exec.Command("sh", "-ec", command)
	cmd.Dir = w.Root
	out, err := cmd.CombinedOutput()
	require.NoError(w.T, err, "%s: %s", command, out)
}

// Rests waits until the workspace's files are older than what the times of files can tell apart. If a turn began earlier, a file
// that moves would look like a new one that has got the number of the old one.
func (w *World) Rests() {
	w.T.Helper()
	newest := time.Time{}
	require.NoError(w.T, filepath.Walk(w.Root, func(_ string, info fs.FileInfo, err error) error {
		if err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		return err
	}))
	require.Eventually(w.T, func() bool { return time.Since(newest) > 50*time.Millisecond }, Patience, time.Millisecond)
}

// Ticks waits until the file system's clock, which lags behind by some milliseconds, has passed the present: what is written then is later than
// all that has happened until now.
func (w *World) Ticks() {
	w.T.Helper()
	now := time.Now()
	require.Eventually(w.T, func() bool {
		w.Put("../tick", "")
		info, err := os.Stat(w.Path("../tick"))
		return err == nil && info.ModTime().After(now)
	}, Patience, time.Millisecond)
}

// Listing lists the workspace's files with mode and content, and its links with their targets.
func (w *World) Listing() string {
	w.T.Helper()
	var b strings.Builder
	err := filepath.WalkDir(w.Root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(w.Root, path)
		switch {
		case err != nil || name == ".":
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			fmt.Fprintf(&b, "%s -> %s; ", filepath.ToSlash(name), target)
			return err
		case d.IsDir():
			fmt.Fprintf(&b, "%s/; ", filepath.ToSlash(name))
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %o %q; ", filepath.ToSlash(name), info.Mode().Perm(), data)
		return err
	})
	require.NoError(w.T, err)
	return b.String()
}

//go:build unix

package authorship

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestTrailersInAHook: the manual's prepare-commit-msg hook adds the lines that are about what git commits. With "commit -a" and "commit FILE" that
// is another index than the repository's, with "commit --amend" all that the amended commit adds, and with a merge what no branch has.
func TestTrailersInAHook(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"a": "one\n", "mine": "one\n", "b": "one\n"})
	w.Commits()
	w.Plays(world.Lines(world.Edits("1", "a", "one\n", "one\nan agent's line of text\n"), world.Edits("2", "b", "one\n", "one\nanother line of the agent's\n"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	manual, err := os.ReadFile(world.Top("cmd", "cursord", "README.md"))
	require.NoError(t, err)
	_, hook, _ := strings.Cut(string(manual), "```sh\n#!/bin/sh\namend=")
	hook, _, found := strings.Cut(hook, "```\n")
	require.True(t, found)
	require.NoError(t, os.WriteFile(w.Path(".git/hooks/prepare-commit-msg"), []byte("#!/bin/sh\namend="+hook), 0o755))
	commits := func(lines int, commit ...string) {
		t.Helper()
		w.Git(commit...)
		message := w.Git("log", "-1", "--format=%B")
		require.Equal(t, lines, strings.Count(message, "\nAssisted-by: cursor-agent"), "%s: %s", commit, message)
	}
	w.Put("mine", "one\ntwo\n")
	commits(0, "commit", "-q", "-m", "only mine", "mine")
	w.Git("add", "a")
	commits(1, "commit", "-q", "--amend", "--no-edit") // with what is staged
	commits(1, "commit", "-q", "--amend", "--no-edit", "--reset-author")
	commits(1, "commit", "-q", "-a", "-m", "all")
	commits(0, "commit", "-q", "--allow-empty", "-m", "nothing")
	w.Git("reset", "-q", "--soft", "HEAD~2")
	commits(1, "commit", "-q", "-m", "b again")
	commits(0, "commit", "-q", "--amend", "--allow-empty", "-m", "nothing is staged")
	commits(1, "commit", "-q", "--amend", "--no-edit")

	w.Git("checkout", "-q", "-b", "other", "HEAD~1")
	w.Put("mine", "one\ntwo\nthree\n")
	commits(0, "commit", "-q", "-a", "-m", "other")
	commits(0, "merge", "-q", "-")

	_, stderr, status := w.Cursord("why", "--commit", "nothing", "--trailer")
	require.NotZero(t, status)
	require.Contains(t, stderr, `there is no commit "nothing"`)
	_, stderr, status = w.Cursord("why", "--commit", "--amend", "--trailer")
	require.NotZero(t, status)
	require.Contains(t, stderr, "--amend is for --trailer without --commit")
	require.Error(t, e.Call("commit/why", world.Obj{"workspace": w.Root, "rev": "HEAD", "amend": true}, nil))
}

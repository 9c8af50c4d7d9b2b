//go:build unix

package authorship

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestTrailersInAHook: in a prepare-commit-msg hook, "cursord why --trailer" is about what git commits, which with "commit -a" and "commit
// FILE" is another index than the repository's.
func TestTrailersInAHook(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"a": "one\n", "mine": "one\n"})
	w.Commits()
	w.Plays(world.Lines(world.Edits("1", "a", "one\n", "one\nan agent's line of text\n"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	hook := []byte("#!/bin/sh\ncursord why --trailer >>\"$1\"\n")
	require.NoError(t, os.WriteFile(w.Path(".git/hooks/prepare-commit-msg"), hook, 0o755))
	w.Put("mine", "one\ntwo\n")
	for _, c := range []struct {
		commit []string
		agents bool
	}{
		{[]string{"commit", "-q", "-m", "only mine", "mine"}, false},
		{[]string{"commit", "-q", "-a", "-m", "all"}, true},
		{[]string{"commit", "-q", "--allow-empty", "-m", "nothing"}, false},
	} {
		w.Git(c.commit...)
		message := w.Git("log", "-1", "--format=%B")
		if c.agents {
			require.Contains(t, message, "\nAssisted-by: cursor-agent", c.commit)
		} else {
			require.NotContains(t, message, "Assisted-by", c.commit)
		}
	}
	_, stderr, status := w.Cursord("why", "--commit", "nothing", "--trailer")
	require.NotZero(t, status)
	require.Contains(t, stderr, `there is no commit "nothing"`)
}

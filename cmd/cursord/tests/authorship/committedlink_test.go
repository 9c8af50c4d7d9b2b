//go:build unix

package authorship

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// TestACommittedLinkIsAccepted: so is a link that is new, or that leads elsewhere; and a link has no lines for commit/why.
func TestACommittedLinkIsAccepted(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"a": "a\n", "b": "b\n"})
	require.NoError(t, os.Symlink("a", w.Path("link")))
	w.Commits()
	w.Plays(world.Lines([]string{world.InitLine}, world.Shells("s", "ln -sfn b link; ln -s a another"), []string{world.Succeeds("Done.")})...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	require.Len(t, e.Diffs(), 2)
	mark := len(e.All())
	w.Git("add", "-A")
	w.Git("commit", "-q", "-m", "two")
	for _, path := range []string{"link", "another"} {
		e.DiffOf(path, mark, path+" to be accepted", world.Settled)
	}
	require.Empty(t, e.Diffs())
	var why api.CommitWhy
	e.Must("commit/why", world.Obj{"workspace": w.Root}, &why)
	require.Empty(t, why.Files)
}

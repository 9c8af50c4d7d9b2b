//go:build unix

package authorship

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

// TestWhySeesACommitAtOnce: the lines of a commit that accepts them were pending for whoever asked right after it, until the next look at HEAD.
func TestWhySeesACommitAtOnce(t *testing.T) {
	t.Parallel()
	for _, asked := range []string{"file/why", "commit/why"} {
		t.Run(asked, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.PutAll(world.Tree{"a": beforeCommit, "b": beforeCommit})
			w.Commits()
			w.Start()
			e := w.Opens()
			const after = beforeCommit + "the agent wrote this\n"
			w.Plays(world.Lines(world.Edits("e", "a", beforeCommit, after), world.Edits("f", "b", beforeCommit, after))...)
			e.Turn(nil)
			state := func(path string) api.WhyState {
				var said rpc.WhyResult
				e.Must("file/why", world.Obj{"workspace": w.Root, "path": path, "lines": world.Obj{"from": 2, "to": 3}}, &said)
				return said.Lines[0].Source.State
			}
			require.Equal(t, api.WhyPending, state("a"))
			require.NotEmpty(t, e.Diffs(), "the first look at HEAD")
			w.Git("commit", "-q", "-m", "second", "a")
			if asked == "file/why" {
				require.Equal(t, api.WhyAccepted, state("a"))
			} else {
				var why api.CommitWhy
				e.Must("commit/why", world.Obj{"workspace": w.Root, "rev": "HEAD"}, &why)
				require.Equal(t, api.WhyAccepted, why.Files[0].Lines[0].Source.State)
			}
			require.Equal(t, api.WhyPending, state("b"))
		})
	}
}

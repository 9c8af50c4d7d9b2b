//go:build unix

package authorship

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

// TestLinesThatCommitsBring has an agent merge, pick, pull or check out what somebody else has committed. The lines come under review as the
// turn's. No prompt wrote them, so why names none; what the agent itself has written beside them is the agent's.
func TestLinesThatCommitsBring(t *testing.T) {
	t.Parallel()
	const as = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@example.org GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@example.org; "
	mine := world.Shells("m", as+"echo agents >> a; git commit -qam mine")
	for _, c := range []struct {
		name     string
		played   []string
		agents   []int // lines of a, from 0
		trailers int
	}{
		{"merge", world.Lines(mine, world.Shells("s", as+"git merge -q --no-edit other")), []int{6}, 0},
		{"forward", world.Shells("s", as+"git merge -q other"), nil, 0},
		{"checkout", world.Shells("s", as+"git checkout -q other; echo agents >> a"), []int{6}, 0},
		{"rebase", world.Lines(mine, world.Shells("s", as+"git rebase -q other")), []int{6}, 1},
		{"cherry-pick", world.Lines(mine, world.Shells("s", as+"git cherry-pick other")), []int{6}, 0},
		{
			"conflict", world.Lines(world.Shells("c", as+"sed -i s/one/agents/ a; git commit -qam mine"), world.Shells("s", as+"git merge -q other"),
				world.Shells("r", as+`sed -i -e '/^<<<</,/^====/d' -e 's/^>>>>.*/both/' a; git commit -qam both`)), []int{2}, 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("a", "one\n2\n3\n4\nlast\n")
			w.Commits()
			w.Git("checkout", "-q", "-b", "other")
			theirs := "one\ntheirs\n2\n3\n4\nlast\n"
			if c.name == "conflict" {
				theirs = "1\ntheirs\n2\n3\n4\nlast\n"
			}
			w.Put("a", theirs)
			w.Put("new", "theirs\n")
			w.Git("add", "-A")
			w.Git("commit", "-q", "-m", "theirs", "--date", "2020-01-01 00:00 +0000")
			w.Git("checkout", "-q", "-")
			w.Plays(c.played...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			require.Contains(t, e.Diffs(), "new", "it is under review")
			for range 2 {
				var said rpc.WhyResult
				e.Must("file/why", world.Obj{"workspace": w.Root, "path": "a"}, &said)
				var agents []int
				for _, l := range said.Lines {
					for i := l.From; i < l.To; i++ {
						if l.Source != nil {
							agents = append(agents, i)
						}
					}
				}
				require.Equal(t, c.agents, slices.Clip(agents), w.Get("a"))
				e.Must("file/why", world.Obj{"workspace": w.Root, "path": "new"}, &said)
				require.Len(t, said.Lines, 1)
				require.Nil(t, said.Lines[0].Source)
				var commit api.CommitWhy
				e.Must("commit/why", world.Obj{"workspace": w.Root, "rev": "HEAD"}, &commit)
				require.Len(t, commit.Trailers, c.trailers, "%+v", commit)
				e.Decides("diff/accept", world.Obj{"all": true})
			}
		})
	}
}

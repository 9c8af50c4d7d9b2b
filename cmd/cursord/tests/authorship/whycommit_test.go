//go:build unix

package authorship

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

// whose returns for each line that a commit adds to a file whose it is, as sourcesOf does.
func whose(e *world.Editor, root, rev, path string) (who string) {
	var why api.CommitWhy
	e.Must("commit/why", world.Obj{"workspace": root, "rev": rev}, &why)
	for _, f := range why.Files {
		for _, l := range f.Lines {
			for range l.To - l.From {
				switch {
				case f.Path != path:
				case l.Source == nil:
					who += "-"
				case l.Source.ByText:
					who += "?"
				default:
					who += "a"
				}
			}
		}
	}
	return who
}

const (
	beforeCommit = "first line\nlast line\n"
	inCommit     = "first line\nthe agent wrote this\n}\nand this line too\na person wrote this\nlast line\n"
)

// commitsLines has a turn write lines, and a person add one and commit.
func commitsLines(w *world.World, e *world.Editor) {
	w.Plays(world.Edits("e", "a", beforeCommit, "first line\nthe agent wrote this\n}\nand this line too\nlast line\n")...)
	e.Turn(nil)
	w.Put("a", inCommit)
	w.Git("commit", "-q", "-a", "-m", "second")
}

// TestWhyOfACommitIsFinal: what people and agents do to the file later, a restart and the end of the session change nothing of the answer.
func TestWhyOfACommitIsFinal(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a", beforeCommit)
	w.Commits()
	w.Start()
	e := w.Opens()
	commitsLines(w, e)
	commit := strings.TrimSpace(w.Git("rev-parse", "HEAD"))
	const now = "}\nfirst line\n"
	w.Put("a", now)
	w.Plays(world.Edits("e", "a", now, "the agent wrote this\na person wrote this\nquite another line\n")...)
	turn := e.Turn(nil)
	e.Decides("diff/accept", world.Obj{"all": true})
	require.Equal(t, "aaa-", whose(e, w.Root, commit, "a"))
	w.Git("commit", "-q", "-a", "-m", "third")
	w.Put("a", "nothing of all that\n")
	w.Git("commit", "-q", "-a", "-m", "fourth")
	w.Stop()
	w.Start()
	e = w.Opens()
	require.Equal(t, "aaa-", whose(e, w.Root, commit, "a"))
	require.Equal(t, "a", whose(e, w.Root, "HEAD~1", "a"), "made while nobody asked")
	require.Equal(t, "-", whose(e, w.Root, "HEAD", "a"))
	e.Must("session/delete", world.Obj{"sessionId": turn.SessionID}, nil)
	require.Equal(t, "aaa-", whose(e, w.Root, commit, "a"))
}

// TestWhyOfACommitOfAnAgent: the agent commits in a command what the same command has written.
func TestWhyOfACommitOfAnAgent(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a", beforeCommit)
	w.Commits()
	const as = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@example.org GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@example.org; "
	w.Plays(world.Shells("s", as+"echo the agent wrote this >> a; git commit -qam mine")...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	var why api.CommitWhy
	e.Must("commit/why", world.Obj{"workspace": w.Root, "rev": "HEAD"}, &why)
	require.Equal(t, api.WhyPending, why.Files[0].Lines[0].Source.State)
	e.Decides("diff/accept", world.Obj{"all": true})
	e.Must("commit/why", world.Obj{"workspace": w.Root, "rev": "HEAD"}, &why)
	require.Equal(t, api.WhyAccepted, why.Files[0].Lines[0].Source.State)
	w.Put("a", "mine\n")
	require.Equal(t, "a", whose(e, w.Root, "HEAD", "a"))
}

// TestWhyInALinkedWorkTree: it knows what the repository's other work tree knows of commits, also of those that were made while no daemon ran.
func TestWhyInALinkedWorkTree(t *testing.T) {
	t.Parallel()
	for _, asked := range []string{"commit/why", "file/why"} {
		t.Run(asked, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("a", beforeCommit)
			w.Commits()
			w.Start()
			e := w.Opens()
			commitsLines(w, e)
			linked := filepath.Join(filepath.Dir(w.Root), "linked")
			w.Git("worktree", "add", "-q", linked)
			if asked == "commit/why" {
				w.Stop()
				w.Start()
				e = w.Opens()
				require.Equal(t, "aaa-", whose(e, linked, "HEAD", "a"))
				return
			}
			var said rpc.WhyResult
			lines := func(text string, from, to int) (who string) {
				require.NoError(t, os.WriteFile(filepath.Join(linked, "a"), []byte(text), 0o644))
				e.Must("file/why", world.Obj{"workspace": linked, "path": "a", "lines": world.Obj{"from": from, "to": to}}, &said)
				for _, l := range said.Lines {
					for range l.To - l.From {
						if l.Source == nil {
							who += "-"
						} else {
							require.False(t, l.Source.ByText)
							who += "a"
						}
					}
				}
				return who
			}
			require.Equal(t, "-aaa--", lines(inCommit, 0, 6))
			require.Equal(t, "-aa", lines("mine\n"+inCommit, 1, 4))
			require.Equal(t, "--", lines("mine\nmine\n", 0, 2))
		})
	}
}

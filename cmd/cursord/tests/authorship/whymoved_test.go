//go:build unix

package authorship

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

// sourcesOf returns for each line of a file whose it is: a for the turn's, ? for a guess by the text, m for one that may be a person's, - for a person's.
func sourcesOf(w *world.World, e *world.Editor, path string) (who string) {
	var said rpc.WhyResult
	e.Must("file/why", world.Obj{"workspace": w.Root, "path": path}, &said)
	for _, l := range said.Lines {
		for range l.To - l.From {
			switch {
			case l.Source == nil:
				who += "-"
			case l.Source.MaybeYours:
				who += "m"
			case l.Source.ByText:
				who += "?"
			default:
				who += "a"
			}
		}
	}
	return who
}

// TestWhyOfACommitFromBeforeAMove: where git keeps no reflog, nobody notices commits. The file's history is at its new name, and knows the lines of
// the old commit by their text.
func TestWhyOfACommitFromBeforeAMove(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a", "first line\n")
	w.Commits()
	w.Git("config", "core.logAllRefUpdates", "false")
	require.NoError(t, os.RemoveAll(w.Path(".git/logs")))
	w.Start()
	e := w.Opens()
	w.Plays(world.Edits("e", "a", "first line\n", "first line\nthe agent wrote this\nand this line too\n")...)
	e.Turn(nil)
	w.Git("commit", "-q", "-a", "-m", "second")
	w.Git("mv", "a", "b")
	w.Git("commit", "-q", "-m", "third")
	require.Equal(t, "-aa", sourcesOf(w, e, "b"))
	w.Put("b", "first line\n  the agent wrote this\nand this line too\nmine\n")
	var why api.CommitWhy
	e.Must("commit/why", world.Obj{"workspace": w.Root, "rev": "HEAD~1"}, &why)
	require.Len(t, why.Files, 1)
	for _, l := range why.Files[0].Lines {
		require.NotNil(t, l.Source, "%+v", why)
	}
	require.Equal(t, []string{"Assisted-by: cursor-agent (a guess by the text)"}, why.Trailers)
}

// TestWhyOfAnAcceptedFileThatAPersonMoves: its lines keep their source, and a new file at the old name is a person's.
func TestWhyOfAnAcceptedFileThatAPersonMoves(t *testing.T) {
	t.Parallel()
	const before, after = "first line\nanother line\n", "first line\nthe agent wrote this\nanother line\n"
	for _, to := range []string{"b", "folder/b"} {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.PutAll(world.Tree{"a": before, "folder/x": ""})
			w.Commits()
			w.Start()
			e := w.Opens()
			w.Plays(world.Edits("e", "a", before, after)...)
			e.Turn(nil)
			e.Decides("diff/accept", world.Obj{"all": true})
			w.Git("commit", "-q", "-a", "-m", "second")
			require.Equal(t, "-a-", sourcesOf(w, e, "a"))
			w.Git("mv", "a", to)
			require.Equal(t, "-a-", sourcesOf(w, e, to))
			w.Put("a", "mine\nthe agent wrote this\n")
			require.Equal(t, "-a-", sourcesOf(w, e, to))
			require.Contains(t, []string{"--", "-?"}, sourcesOf(w, e, "a"))
		})
	}
}

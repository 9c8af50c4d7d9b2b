//go:build unix

package authorship

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// sourcesOf returns for each line of a file whose it is: a for the turn's, a? for a guess, - for a person's.
func sourcesOf(w *world.World, e *world.Editor, path string) (who string) {
	var said rpc.WhyResult
	e.Must("file/why", world.Obj{"workspace": w.Root, "path": path}, &said)
	for _, l := range said.Lines {
		for range l.To - l.From {
			switch {
			case l.Source == nil:
				who += "-"
			case l.Source.ByText:
				who += "?"
			default:
				who += "a"
			}
		}
	}
	return who
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

//go:build unix

package authorship

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestWhyOfAFileThatACommandMovesAndChanges: the lines that the command has not changed are of who wrote them in the file that is gone.
func TestWhyOfAFileThatACommandMovesAndChanges(t *testing.T) {
	t.Parallel()
	const persons = "alpha one\nbeta two\n}\ngamma three\ndelta four\n"
	for name, command := range map[string]string{
		"moved, changed":   "mv f g; sed -i 's/beta.*/BETA changed/' g",
		"changed, moved":   "sed -i 's/beta.*/BETA changed/' f; mkdir d; mv f g",
		"written as a new": "sed 's/beta.*/BETA changed/' f >g; rm f",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := world.WithCommitted(t, "f", persons)
			w.Plays(world.Lines(world.Edits("e", "f", persons, persons+"zeta six\n"))...)
			first := e.Turn(nil).ID
			e.Decides("diff/accept", world.Obj{"all": true})
			w.Plays(world.Lines(world.Shells("s", command))...)
			second := e.Turn(nil).ID
			for range 2 {
				var said rpc.WhyResult
				e.Must("file/why", world.Obj{"workspace": w.Root, "path": "g"}, &said)
				require.Equal(t, "-a---a", sourcesOf(w, e, "g"))
				require.Equal(t, second, said.Lines[1].Source.TurnID)
				require.Equal(t, first, said.Lines[3].Source.TurnID)
				e.Decides("diff/accept", world.Obj{"all": true})
			}
		})
	}
}

// TestWhyOfAnotherFileInThePlaceOfOne: lines that a new file shares with one that the same command removes stay the command's, if they are few.
func TestWhyOfAnotherFileInThePlaceOfOne(t *testing.T) {
	t.Parallel()
	w, e := world.WithCommitted(t, "f", "alpha one\nbeta two\ngamma three\ndelta four\nepsilon five\n")
	w.Plays(world.Lines(world.Shells("s", `rm f; printf 'new one\nbeta two\nnew three\n' >g`))...)
	e.Turn(nil)
	require.Equal(t, "aaa", sourcesOf(w, e, "g"))
}

// TestAFileThatAnAgentEditsAndMoves: it is one file under another name in the review, and its lines keep their sources.
func TestAFileThatAnAgentEditsAndMoves(t *testing.T) {
	t.Parallel()
	const before, after = "one\ntwo\nthree\n", "one\n2\nthree\n"
	edit := world.Edits("e", "a", before, after)
	for name, lines := range map[string][]string{
		"an edit, a move":      world.Lines(edit, world.Shells("s", "mv a b")),
		"an edit, to a folder": world.Lines(edit, world.Shells("s", "mkdir d; mv a d/b; ln -s d/b b")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("a", before)
			w.Ages("a")
			w.Commits()
			w.Start()
			e := w.Opens()
			w.Plays(lines...)
			e.Turn(nil)
			path := "b"
			found := e.Diffs()
			if _, ok := found["d/b"]; ok {
				path = "d/b"
			}
			require.Contains(t, found, path)
			require.NotContains(t, found, "a")
			require.Equal(t, "a", found[path].OldPath)
			require.Equal(t, "-a-", sourcesOf(w, e, path))
			var hunks []string // by name: a move so close to the edit is not surely the command's
			for _, h := range e.Diffs()[path].Hunks {
				hunks = append(hunks, h.ID)
			}
			e.Decides("diff/reject", world.Obj{"hunks": hunks})
			require.Equal(t, before, w.Get("a"))
			require.Equal(t, "(absent)", w.Get(path))
		})
	}
}

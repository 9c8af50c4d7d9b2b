//go:build unix

package authorship

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

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

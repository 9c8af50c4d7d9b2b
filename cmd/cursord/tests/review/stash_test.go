//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestStashedHunksComeBack: a person stashes pending hunks with lines of their own and pops them, with and without a restart
// of the daemon between. The hunks come back.
func TestStashedHunksComeBack(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		t.Run(map[bool]string{true: "with a restart", false: "while it runs"}[restart], func(t *testing.T) {
			w := world.New(t)
			v := world.Numbered(20, nil)
			w.PutAll(world.Tree{"f": v, "gone": "g\n", "emptied": "e\n"})
			w.Commits()
			mine := "mine\n" + v
			w.Put("f", mine)
			agents := "mine\n" + world.Numbered(20, map[int]string{5: "five\n", 15: "fifteen\n"})
			w.Plays(world.Lines(world.Edits("e", "f", mine, agents), world.Edits("n", "new", "", "new\n"), world.Deletes("d", "gone", "g\n"), world.Edits("m", "emptied", "e\n", ""))...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			before := e.Diffs()
			require.Equal(t, []string{"emptied", "f", "gone", "new"}, world.Sorted(world.Keys(before)))

			w.Git("stash", "-q", "-u")
			w.RequireTree(world.Tree{"f": v, "gone": "g\n", "new": "(absent)", "emptied": "e\n"})
			require.Empty(t, e.Diffs())
			if restart {
				w.Kill()
				w.Start()
				e = w.Opens()
				require.Empty(t, e.Diffs())
			}
			w.Git("stash", "pop", "-q")
			after := e.Diffs()
			require.Equal(t, world.Sorted(world.Keys(before)), world.Sorted(world.Keys(after)))
			for path, d := range before {
				require.Equal(t, d.Hunks, after[path].Hunks, path)
			}
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"f": mine, "gone": "g\n", "new": "(absent)", "emptied": "e\n"})
		})
	}
}

// TestADroppedStash: a person drops the stashed hunks. Everything that they write later is theirs.
func TestADroppedStash(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	v := world.Numbered(20, nil)
	w.Put("f", v)
	w.Commits()
	agents := world.Numbered(20, map[int]string{5: "five\n"})
	w.Plays(world.Lines(world.Edits("e", "f", v, agents))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	require.Len(t, e.Diffs()["f"].Hunks, 1)
	w.Git("stash", "-q")
	require.Empty(t, e.Diffs())
	w.Git("stash", "drop", "-q")
	w.Put("f", "mine\n"+v)
	require.Empty(t, e.Diffs())
	w.Put("f", agents)
	require.Empty(t, e.Diffs())
}

// TestStashedHunksComeBackBesideAnEdit: a person has edited the file after the agent, with hunks still pending. A stash puts both away and
// brings both back, with and without a restart of the daemon between.
func TestStashedHunksComeBackBesideAnEdit(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		w := world.New(t)
		v := world.Numbered(6, nil)
		w.Put("f", v)
		w.Commits()
		agents := world.Numbered(6, map[int]string{2: "two\n", 5: "five\n"})
		w.Plays(world.Lines(world.Edits("e", "f", v, agents))...)
		w.Start()
		e := w.Opens()
		e.Turn(nil)
		w.Put("f", world.Numbered(6, map[int]string{2: "two\n", 4: "mine\n", 5: "five\n"}))
		before := e.Diffs()["f"].Hunks
		require.Len(t, before, 2)
		w.Git("stash", "-q")
		require.Empty(t, e.Diffs())
		if restart {
			w.Kill()
			w.Start()
			e = w.Opens()
		}
		w.Git("stash", "pop", "-q")
		require.NotEmpty(t, e.Diffs())
		require.Equal(t, before, e.Diffs()["f"].Hunks)
		if !restart {
			w.Put("f", agents)
			require.Len(t, e.Diffs()["f"].Hunks, 2, "the person takes the edit back too")
		}
		e.Decides("diff/reject", world.Obj{"all": true})
		require.NotContains(t, w.Get("f"), "five")
	}
}

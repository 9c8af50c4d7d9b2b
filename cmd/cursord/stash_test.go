package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStashedHunksComeBack has a person put away what is pending, with lines of theirs, and take it out again, with and without
// a restart of the daemon between.
func TestStashedHunksComeBack(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		t.Run(map[bool]string{true: "with a restart", false: "while it runs"}[restart], func(t *testing.T) {
			w := newWorld(t)
			v := numbered(20, nil)
			w.putAll(tree{"f": v, "gone": "g\n"})
			w.commits()
			mine := "mine\n" + v
			w.put("f", mine)
			agents := "mine\n" + numbered(20, map[int]string{5: "five\n", 15: "fifteen\n"})
			w.plays(lines(edits("e", "f", mine, agents), edits("n", "new", "", "new\n"), deletes("d", "gone", "g\n"))...)
			w.start()
			e := w.opens()
			e.turn(nil)
			before := e.diffs()
			require.Equal(t, []string{"f", "gone", "new"}, sorted(keys(before)))

			w.git("stash", "-q", "-u")
			w.requireTree(tree{"f": v, "gone": "g\n", "new": "(absent)"})
			require.Empty(t, e.diffs())
			if restart {
				w.kill()
				w.start()
				e = w.opens()
				require.Empty(t, e.diffs())
			}
			w.git("stash", "pop", "-q")
			after := e.diffs()
			require.Equal(t, sorted(keys(before)), sorted(keys(after)))
			for path, d := range before {
				require.Equal(t, d.Hunks, after[path].Hunks, path)
			}
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(tree{"f": mine, "gone": "g\n", "new": "(absent)"})
		})
	}
}

// TestADroppedStash has a person put hunks away for good: what they write later is theirs.
func TestADroppedStash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := numbered(20, nil)
	w.put("f", v)
	w.commits()
	agents := numbered(20, map[int]string{5: "five\n"})
	w.plays(lines(edits("e", "f", v, agents))...)
	w.start()
	e := w.opens()
	e.turn(nil)
	require.Len(t, e.diffs()["f"].Hunks, 1)
	w.git("stash", "-q")
	require.Empty(t, e.diffs())
	w.git("stash", "drop", "-q")
	w.put("f", "mine\n"+v)
	require.Empty(t, e.diffs())
	w.put("f", agents)
	require.Empty(t, e.diffs())
}

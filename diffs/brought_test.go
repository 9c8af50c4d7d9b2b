package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinesOfACommitAreNotTheAgents: an agent merges somebody's commit. Its lines come under review as the turn's, but no prompt wrote them.
func TestLinesOfACommitAreNotTheAgents(t *testing.T) {
	const base, theirs, merged = "one\nlast\n", "one\ntheirs\nlast\n", "one\ntheirs\nmine\nlast\n"
	for _, accepts := range []bool{false, true} {
		r := New(file(base))
		r.Observe(file(merged), by("s", "1"))
		ours := func(s Source) bool { return s.TurnID == "1" }
		require.False(t, r.Copy().Brought("abc", theirs, "", func(Source) bool { return false }))
		require.False(t, r.Copy().Brought("abc", theirs, theirs, ours), "it was there before the commit")
		require.True(t, r.Brought("abc", theirs, "", ours))
		require.False(t, r.Brought("abc", theirs, "", ours), "it is known already")
		if accepts {
			_, err := r.Decide([]uint64{r.Hunks()[0].ID}, true, nil)
			require.NoError(t, err)
		} else {
			require.Equal(t, []Source{*by("s", "1")}, r.Hunks()[0].Sources)
		}
		for _, r := range []*Review{r, restored(t, r)} {
			require.Equal(t, "- - 1 - ", writersIn(r.Origins()))
			require.Equal(t, "abc", r.Origins()[1].Commit)
			require.Equal(t, "- - 1 - ", writersIn(r.OriginsOf(merged)))
			require.Equal(t, 1, r.Known())
			require.Len(t, r.Written("s"), 1)
			r.Observe(file("// head\n"+merged), by("s", "2"))
			require.Equal(t, "2 - - 1 - ", writersIn(r.Origins()))
			_, _, err := r.Rewind(Undone{Session: "s", Turns: []string{"1", "2"}})
			require.NoError(t, err)
			require.Equal(t, base, string(r.Current().Data), "a rewind takes the merge back")
		}
	}
}

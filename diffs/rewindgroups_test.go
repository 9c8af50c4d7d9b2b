package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewindOfLinesThatOthersReplaceInParts takes a session's turns back after others have replaced the lines of one of its changes in parts,
// at different times. What the change had replaced is beneath the part that was replaced last: an accept of the others is not about it.
func TestRewindOfLinesThatOthersReplaceInParts(t *testing.T) {
	for _, c := range []struct {
		name, base     string
		one, two, last string // as steps of "turn: text"; the first two are accepted
		undone         string
		now, baseline  string
	}{
		{
			"the last part with the session's own lines", "b0 b1", "s1: l1 l2 l3 l4", "o1: l1 l3 l5", "s2: l6; o2: l7",
			"s1 s2", "l7", "b0 b1 l5",
		},
		{
			"the session has removed the last part itself", "b0 b1", "s1: l1 l2 l3", "o1: l4 l5 l3", "s2: l4 l5",
			"s1 s2", "l4 l5 b0 b1", "l4 l5 b0 b1",
		},
		{
			"the last part replaced by the session, then by others", "b0 b1", "s1: l1 l2 l3; s2: l1 l2 l4", "o1: l6 l7 l4", "o2: l6 l8",
			"s1 s2", "l6 l8", "l6 l7 b0 b1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := func(words string) string { return strings.ReplaceAll(words, " ", "\n") + "\n" }
			r := New(file(text(c.base)))
			steps := func(all string) {
				for _, s := range strings.Split(all, "; ") {
					turn, words, _ := strings.Cut(s, ": ")
					r.Observe(file(text(words)), by(turn[:1], turn))
					r = restored(t, r)
				}
			}
			steps(c.one)
			steps(c.two)
			_, err := r.Decide(hunkIDs(r), true, nil)
			require.NoError(t, err)
			steps(c.last)
			_, _, err = r.Rewind(Undone{"s", strings.Fields(c.undone)})
			require.NoError(t, err)
			require.ElementsMatch(t, strings.Fields(c.now), strings.Fields(string(r.Current().Data)))
			require.ElementsMatch(t, strings.Fields(c.baseline), strings.Fields(string(r.Baseline().Data)))
		})
	}
}

// TestARejectKnowsWhoseLinesItBringsBack takes a turn back beneath an accepted line of others, and rejects what was written there since: the
// accepted line is still of its turn.
func TestARejectKnowsWhoseLinesItBringsBack(t *testing.T) {
	r := New(file("b0\nb1\n"))
	r.Observe(file("l1\nl2\nl3\n"), by("o", "o1"))
	r.Observe(file("l5\nl3\n"), by("s", "s1"))
	_, err := r.Decide(hunkIDs(r), true, nil)
	require.NoError(t, err)
	r.Observe(file("l5\n"), by("s", "s1"))
	_, _, err = r.Rewind(Undone{"o", []string{"o1"}})
	require.NoError(t, err)
	require.Equal(t, "l5\nb0\nb1\n", string(r.Baseline().Data))
	r = restored(t, r)
	r.Observe(file("l6\n"), by("o", "o2"))
	_, err = r.Decide(hunkIDs(r), false, nil)
	require.NoError(t, err)
	require.Equal(t, "l5\nb0\nb1\n", string(r.Current().Data))
	require.Equal(t, "s1", r.Origins()[0].Source.TurnID)
}

package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewindOfAnEditAndARemoval takes a turn back that has edited a file with changes of several turns, and has removed it then. What the edit
// had removed is pending again as that of its own turn.
func TestRewindOfAnEditAndARemoval(t *testing.T) {
	to := func(turn, text string) told { return told{turn: turn, text: text} }
	gone := func(turn string) told { return told{turn: turn, do: "gone"} }
	base := file("a\nb\nc\n")
	for _, c := range []struct {
		name string
		base Content
		was  []told // with turns 1 and 2
		acts []told // with turn 3
	}{
		{"a line of another turn", base, []told{to("1", "a\nA\nb\nc\n"), to("2", "a\nA\nB\nb\nc\n")}, []told{to("3", "a\nA\nb\nc\n"), gone("3")}},
		{"all lines of the turns", base, []told{to("1", "a\nA\nb\nc\n"), to("2", "a\nA\nB\nb\nc\n")}, []told{to("3", "a\nb\nc\n"), gone("3")}},
		{"a line, accepted", base, []told{to("1", "a\nA\nb\nc\n"), {do: "accept"}, to("2", "a\nA\nB\nb\nc\n")}, []told{to("3", "a\nA\nb\nc\n"), gone("3")}},
		{"a line that replaces one", base, []told{to("1", "a\nb\nc\nd\n"), to("2", "a\nB\nc\nd\n")}, []told{to("3", "a\nc\nd\n"), gone("3")}},
		{"two edits", base, []told{to("1", "a\nA\nb\nc\n"), to("2", "a\nA\nb\nB\nc\n")}, []told{to("3", "a\nA\nb\nc\n"), to("3", "a\nb\nc\n"), gone("3")}},
		{"a new file", Content{}, []told{to("1", "A\n"), to("2", "A\nB\n")}, []told{to("3", "A\n"), gone("3")}},
		{"a removal, made again", base, []told{to("1", "a\nA\nb\nc\n"), to("2", "a\nA\nB\nb\nc\n")}, []told{to("3", "a\nA\nb\nc\n"), gone("3"), to("3", "x\n")}},
		{"a removed line, brought back", base, []told{to("1", "a\nA\nb\nc\n"), to("2", "a\nA\nb\n")}, []told{to("3", "a\nA\nb\nc\n"), gone("3")}},
		{"a removed line", base, []told{to("1", "a\nA\nb\nc\n"), to("2", "A\nb\nc\n")}, []told{to("3", "A\nb\n"), gone("3")}},
		{"without a last line's end", file("a\nb"), []told{to("1", "a\nb\nA"), to("2", "a\nA\nB")}, []told{to("3", "a\nA"), gone("3")}},
		{"nothing but a removal", base, []told{to("1", "a\nA\nb\nc\n"), to("2", "a\nA\nB\nb\nc\n")}, []told{gone("3")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := toldTo(t, New(c.base), c.was)
			r := toldTo(t, began.Copy(), c.acts)
			requireRewound(t, began, r.Copy(), "3")
			_, _, err := r.Rewind(Undone{"s", []string{"3"}})
			require.NoError(t, err)
			require.Equal(t, writersIn(began.Origins()), writersIn(r.Origins()))
			for _, turn := range []string{"1", "2"} {
				require.Equal(t, afterAReject(t, began, turn), afterAReject(t, r, turn), "of turn %s", turn)
			}
		})
	}
}

// afterAReject returns the content after a reject of the hunks of a turn.
func afterAReject(t *testing.T, r *Review, turn string) string {
	r = r.Copy()
	var ids []uint64
	for _, h := range r.Hunks() {
		if h.FromTurn(turn) {
			ids = append(ids, h.ID)
		}
	}
	if len(ids) > 0 {
		_, err := r.Decide(ids, false, nil)
		require.NoError(t, err)
	}
	return string(r.Current().Data)
}

// TestRewindOfARemovalInStories has turns edit a text, of which some hunks are accepted, and a last turn edit and remove it. After the rewind of
// the last one, all is as before it: whose each line is, and what a reject of each turn leaves.
func TestRewindOfARemovalInStories(t *testing.T) {
	for seed := range storiesOf(t, 1000) {
		s := newSessionsStory(seed)
		turns, began := []string{"1", "2", "3"}[:1+s.rng.Intn(3)], New(file("b0\nb1\nb2\n"))
		for _, turn := range turns {
			began.Observe(file(s.edited(string(began.Current().Data))), by("s", turn))
			if ids := hunkIDs(began); s.rng.Intn(3) == 0 && len(ids) > 0 {
				_, err := began.Decide(ids[:1+s.rng.Intn(len(ids))], true, nil)
				require.NoError(t, err)
			}
		}
		r := began.Copy()
		for range s.rng.Intn(3) {
			r.Observe(file(s.edited(string(r.Current().Data))), by("s", "last"))
		}
		remove := by("s", "last")
		remove.ItemID = "remove"
		r.Observe(Content{}, remove)
		r = restored(t, r)
		_, _, err := r.Rewind(Undone{"s", []string{"last"}})
		require.NoError(t, err, seed)
		require.Equal(t, began.Current(), r.Current(), seed)
		require.Equal(t, began.Baseline(), r.Baseline(), seed)
		require.Equal(t, writersIn(began.Origins()), writersIn(r.Origins()), seed)
		for _, turn := range turns {
			require.Equal(t, afterAReject(t, began, turn), afterAReject(t, r, turn), "%d, turn %s", seed, turn)
		}
	}
}

package diffs

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewindBeneathADeletion takes a turn back whose change was accepted, and whose file another session has deleted since. The deletion is
// pending: a reject of it brings back what was there before both.
func TestRewindBeneathADeletion(t *testing.T) {
	for i, c := range []struct{ base, text, want string }{
		{"1\n2\n", "2\n", "1\n2\n"},
		{"1\n2\n", "1\n", "1\n2\n"},
		{"1\n2\n", "", "1\n2\n"},
		{"1\n2\n3\n4\n5\n", "2\n4\n", "1\n2\n3\n4\n5\n"},
		{"}\n1\n}\n2\n}\n", "}\n2\n}\n", "}\n1\n}\n2\n}\n"},
		{"1\n2\n", "1\nB\n", "1\n2\n"},
		{"1\n2\n", "1\n2\nnew\n", "1\n2\n"},
		{"1\n2\n3\n4\n", "2\nC\n4\n", "1\n2\n3\n4\n"},
		{"1\n2", "1\n", "1\n2"},
		{"1\n2", "2", "1\n2"},
		{"x\n1\nx\n2\nx\n", "1\n2\nx\n", "x\n1\nx\n2\nx\n"},
		{"x\n1\nx\n2\nx\n", "x\n1\n2\n", "x\n1\nx\n2\nx\n"},
	} {
		for _, accepted := range []bool{true, false} {
			for _, after := range []string{"reject", "accept", "rewind"} {
				t.Run(fmt.Sprint(i, accepted, after), func(t *testing.T) {
					r := New(file(c.base))
					r.Observe(file(c.text), by("a", "1"))
					if accepted {
						_, err := r.Decide(hunkIDs(r), true, nil)
						require.NoError(t, err)
					}
					r.Observe(Content{}, by("b", "2"))
					r = restored(t, r)
					was := r.Copy()
					d, _, err := r.Rewind(Undone{"a", []string{"1"}})
					require.NoError(t, err)
					require.False(t, r.Current().Exists)
					require.Equal(t, c.want, string(r.Baseline().Data))
					for _, h := range r.Hunks() {
						require.Equal(t, []Source{*by("b", "2")}, h.Sources)
					}
					r = restored(t, r)
					undone := r.Copy()
					require.NoError(t, undone.Undo(passed(t, d)))
					requireSame(t, was, undone)
					_, err = undone.Redo(passed(t, d))
					require.NoError(t, err)
					require.Equal(t, c.want, string(undone.Baseline().Data))

					switch after {
					case "rewind":
						_, _, err = r.Rewind(Undone{"b", []string{"2"}})
					default:
						_, err = r.Decide(hunkIDs(r), after == "accept", nil)
					}
					require.NoError(t, err)
					require.False(t, r.Pending())
					require.Equal(t, after != "accept", r.Current().Exists)
					if after != "accept" {
						require.Equal(t, c.want, string(r.Current().Data))
						require.Equal(t, c.want, string(restored(t, r).Current().Data))
					} else {
						_, _, err = r.Rewind(Undone{"b", []string{"2"}})
						require.NoError(t, err)
						require.Equal(t, c.want, string(r.Current().Data))
					}
				})
			}
		}
	}
}

// TestRewindBeneathADeletionOfLikeLines takes a turn back that has removed like lines, of which a person has accepted only one removal.
func TestRewindBeneathADeletionOfLikeLines(t *testing.T) {
	r := New(file("x\n1\n2\n3\n4\nx\n"))
	r = toldTo(t, r, []told{{turn: "1", text: "1\n2\n3\n4\nx\n"}, {do: "accept"}, {turn: "1", text: "1\n2\n3\n4\n"}, {turn: "2", do: "gone"}})
	_, left, err := r.Rewind(Undone{"s", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, Left{}, left)
	require.Equal(t, "x\n1\n2\n3\n4\nx\n", string(r.Baseline().Data))
	_, err = r.Decide(hunkIDs(r), false, nil)
	require.NoError(t, err)
	require.Equal(t, "x\n1\n2\n3\n4\nx\n", string(r.Current().Data))
}

// TestRewindBeneathADeletionStories plays random edits of a session, all accepted or none, before another session deletes the file. Without the
// session's edits, a reject of the deletion brings back the file from before them. If some are accepted, lines of the session may be beneath the
// deletion, too, because the history does not know which of its own lines an edit has removed; but no line of the file is lost.
func TestRewindBeneathADeletionStories(t *testing.T) {
	for seed := range storiesOf(t, 1000) {
		rng := rand.New(rand.NewSource(int64(seed)))
		accepts, some := seed%3 == 0, seed%3 == 1
		text := func() (lines string) {
			for range rng.Intn(6) {
				lines += fmt.Sprintln(rng.Intn(5))
			}
			return lines
		}
		base := text()
		r, story := New(file(base)), []string{base}
		for range 1 + rng.Intn(3) {
			next := text()
			r.Observe(file(next), by("a", "1"))
			if story = append(story, next); (accepts || some && rng.Intn(2) == 0) && r.Pending() {
				story = append(story, "accept")
				_, err := r.Decide(hunkIDs(r), true, nil)
				require.NoError(t, err)
			}
		}
		r.Observe(Content{}, by("b", "2"))
		_, _, err := r.Rewind(Undone{"a", []string{"1"}})
		if err != nil {
			require.ErrorIs(t, err, ErrNotFound)
		}
		_, err = r.Decide(hunkIDs(r), false, nil)
		require.NoError(t, err)
		if !some {
			require.Equal(t, file(base), r.Current(), "seed %d: %q", seed, story)
			continue
		}
		require.True(t, r.Current().Exists)
		for line := range strings.Lines(base) {
			require.GreaterOrEqual(t, strings.Count(string(r.Current().Data), line), strings.Count(base, line), "seed %d: %q", seed, story)
		}
	}
}

// TestRewindSaysThatAnotherHasReplacedTheFile takes a turn back whose removed line has no place any more: a person has accepted that another session
// has made something else of the file.
func TestRewindSaysThatAnotherHasReplacedTheFile(t *testing.T) {
	for _, now := range []Content{{}, {Exists: true, Target: "x"}, file("\x00")} {
		for _, accepted := range []bool{true, false} {
			r := New(file("1\n2\n"))
			accept := func() {
				_, err := r.Decide(hunkIDs(r), true, nil)
				require.NoError(t, err)
			}
			r.Observe(file("2\n"), by("a", "1"))
			accept()
			if r.Observe(now, by("b", "2")); accepted {
				accept()
			}
			_, left, _ := r.Rewind(Undone{"a", []string{"1"}})
			require.Equal(t, Left{Changed: accepted}, left, now)
			if !accepted {
				require.Equal(t, "1\n2\n", string(r.Baseline().Data))
			}
			_, _, err := r.Rewind(Undone{"b", []string{"2"}})
			require.NoError(t, err)
			require.Equal(t, "1\n2\n", string(r.Current().Data))
		}
	}
}

package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestARewindOfWhatCameAndWentIsRedone: a file that one turn has made, accepted, and a later turn has removed.
func TestARewindOfWhatCameAndWentIsRedone(t *testing.T) {
	for name, c := range map[string]Content{"a link": {Exists: true, Target: "a"}, "a file": file("x\n"), "an empty file": file("")} {
		t.Run(name, func(t *testing.T) {
			r := New(Content{})
			r.Observe(c, by("s", "1"))
			_, err := r.Decide([]uint64{r.Hunks()[0].ID}, true, nil)
			require.NoError(t, err)
			r.Observe(Content{}, by("s", "2"))
			require.True(t, r.Pending())
			d, _, err := r.Rewind(Undone{Session: "s", Turns: []string{"1", "2"}})
			require.NoError(t, err)
			require.False(t, r.Pending())
			require.NoError(t, r.Undo(d))
			require.True(t, r.Pending())
			_, err = r.Redo(d)
			require.NoError(t, err)
			require.False(t, r.Pending())
			require.False(t, r.Current().Exists)
		})
	}
}

// TestRewindWithoutAHistory rewinds what is pending of a file whose history was dropped for its size: the text stays, and no decision fails.
func TestRewindWithoutAHistory(t *testing.T) {
	for name, acts := range map[string][]act{
		"lines of one turn": {func(r *Review) { r.Observe(file("a\nB2\nc\n"), by("s", "2")) }},
		"lines over another turn's": {
			func(r *Review) { r.Observe(file("a\nB1\nc\n"), by("s", "1")) }, func(r *Review) { r.Observe(file("a\nB2\nnew\nc\n"), by("s", "2")) },
		},
		"beside a person's": {func(r *Review) { r.Observe(file("a\nB2\nc\n"), by("s", "2")) }, func(r *Review) { r.Observe(file("mine\na\nB2\nc\n"), nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(file("a\nb\nc\n"))
			for _, act := range acts {
				act(r)
			}
			before := r.Current()
			r.ForgetHistory()
			d, _, err := r.Rewind(Undone{Session: "s", Turns: []string{"2"}})
			require.NoError(t, err)
			require.Equal(t, before, r.Current(), "nobody knows what was there before")
			require.NoError(t, r.Undo(d))
			require.Equal(t, before, r.Current())
			accepted, err := r.Decide([]uint64{r.Hunks()[0].ID}, true, nil)
			require.NoError(t, err)
			require.NoError(t, r.Undo(accepted))
			require.Equal(t, before, r.Current())
		})
	}
}

// TestRewindOfARemovalInAFileThatAnotherSessionDeleted takes the removal of a line back after another session has deleted the file: the line has
// gone with the file then, and comes back with it. What is stored is read again.
func TestRewindOfARemovalInAFileThatAnotherSessionDeleted(t *testing.T) {
	for _, accept := range []bool{false, true} {
		for _, other := range []Content{{}, {Exists: true, Data: []byte("\x00"), Mode: 0o644}, {Exists: true, Target: "x"}} {
			r := New(file("a\nb\nc\n"))
			r.Observe(file("a\nc\n"), by("s", "1"))
			if accept {
				_, err := r.Decide(hunkIDs(r), true, nil)
				require.NoError(t, err)
			}
			r = restored(t, r)
			r.Observe(other, by("o", "1"))
			r = restored(t, r)
			was := r.Copy()
			d, _, err := r.Rewind(Undone{"s", []string{"1"}})
			require.NoError(t, err)
			r = restored(t, r)
			require.Equal(t, other, r.Current())
			again := r.Copy()
			_, _, err = again.Rewind(Undone{"o", []string{"1"}})
			require.NoError(t, err)
			require.Equal(t, "a\nb\nc\n", string(again.Current().Data))
			restored(t, again)
			require.NoError(t, r.Undo(passed(t, d)))
			requireAsBefore(t, was, r)
		}
	}
}

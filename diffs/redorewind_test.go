package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRedoAfterARewind undoes a rewind and a decision after it, and makes both again.
func TestRedoAfterARewind(t *testing.T) {
	r := New(file("one\nmy nine\nten\n"))
	r = toldTo(t, r, []told{{turn: "1", text: "one\nnine by t1\nten\n"}, {turn: "2", text: "one\nnine by t2\nten\n"}})
	rewind, _, err := r.Rewind(Undone{"s", []string{"2"}})
	require.NoError(t, err)
	accept, err := r.Decide(hunkIDs(r), true, nil)
	require.NoError(t, err)
	want := r.Copy()
	for range 3 {
		require.NoError(t, r.Undo(passed(t, accept)))
		r = restored(t, r)
		require.NoError(t, r.Undo(passed(t, rewind)))
		r = restored(t, r)
		rewind, err = r.Redo(passed(t, rewind))
		require.NoError(t, err)
		r = restored(t, r)
		accept, err = r.Redo(passed(t, accept))
		require.NoError(t, err)
		requireAsBefore(t, want, r)
	}
}

// TestRedoLeavesWhatOthersReplaceNow undoes an accept, and has another edit change the line before it is made again: the line from before both
// stays on the old side.
func TestRedoLeavesWhatOthersReplaceNow(t *testing.T) {
	r := New(file("one\nmine\nten\n"))
	r.Observe(file("one\nt1\nten\n"), by("s", "1"))
	d, err := r.Decide(hunkIDs(r), true, nil)
	require.NoError(t, err)
	require.NoError(t, r.Undo(d))
	r.Observe(file("one\nt2\nten\n"), by("s", "2"))
	_, err = r.Redo(d)
	require.ErrorIs(t, err, ErrOvertaken)
	require.Equal(t, "one\nmine\nten\n", string(r.Baseline().Data))
}

// TestRedoOfARewindAfterTyping undoes a rewind and the decision after it, has a person type elsewhere, and makes both again: the decision finds
// the lines that the rewind brings back.
func TestRedoOfARewindAfterTyping(t *testing.T) {
	for _, accept := range []bool{true, false} {
		r := New(file("one\nmy nine\nten\n"))
		r = toldTo(t, r, []told{{turn: "1", text: "one\nnine by t1\nten\n"}, {turn: "2", text: "one\nnine by t2\nten\n"}})
		rewind, _, err := r.Rewind(Undone{"s", []string{"2"}})
		require.NoError(t, err)
		d, err := r.Decide(hunkIDs(r), accept, nil)
		require.NoError(t, err)
		want := r.Copy()
		for _, typed := range []string{"a\n", "b\n"} {
			require.NoError(t, r.Undo(passed(t, d)))
			require.NoError(t, r.Undo(passed(t, rewind)))
			r.Observe(file(string(r.Current().Data)+typed), nil)
			want.Observe(file(string(want.Current().Data)+typed), nil)
			r = restored(t, r)
			undone := r.Copy()
			for range 2 {
				rewind, err = r.Redo(passed(t, rewind))
				require.NoError(t, err)
				r = restored(t, r)
				d, err = r.Redo(passed(t, d))
				require.NoError(t, err)
				requireAsBefore(t, want, r)
				require.NoError(t, r.Undo(passed(t, d)))
				require.NoError(t, r.Undo(passed(t, rewind)))
				requireAsBefore(t, undone, r)
			}
			rewind, err = r.Redo(passed(t, rewind))
			require.NoError(t, err)
			d, err = r.Redo(passed(t, d))
			require.NoError(t, err)
		}
	}
}

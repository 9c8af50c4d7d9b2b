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

// TestRedoBesideALineThatIsWrittenAgain accepts the removal of lines, which a later turn writes again, exactly. When the accept is undone, the
// lines are there as before both, and nothing of them is pending. Redone, the turn's lines are pending again.
func TestRedoBesideALineThatIsWrittenAgain(t *testing.T) {
	for _, c := range []struct{ name, base, one, two string }{
		{"alone", "a\nx\nb\n", "a\nb\n", "a\nx\nb\n"},
		{"beside a change", "a\nx\nb\n", "a\nb\n", "a\nx\ny\nb\n"},
		{"replaced", "a\nx\nb\n", "a\nz\nb\n", "a\nx\nb\n"},
		{"replaced, in part", "a\nx\nb\n", "a\nz\nw\nb\n", "a\nz\nx\nb\n"},
		{"two of them", "a\nx\ny\nb\n", "a\nb\n", "a\ny\nb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(file(c.base))
			r.Observe(file(c.one), by("s", "1"))
			d, err := r.Decide(hunkIDs(r), true, nil)
			require.NoError(t, err)
			d = passed(t, d)
			r = restored(t, r)
			r.Observe(file(c.two), by("s", "2"))
			r = restored(t, r)
			was := r.Copy()
			for range 2 {
				require.NoError(t, r.Undo(d))
				d = passed(t, d)
				r = restored(t, r)
				again, err := r.Redo(d)
				require.NoError(t, err)
				d = passed(t, again)
				r = restored(t, r)
				requireAsBefore(t, was, r)
			}
		})
	}
}

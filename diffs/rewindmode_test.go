package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUndoOfARewindOfADeletionWithAnotherMode: an agent deletes a file in a copy, and another session's accept then changes the mode of the
// file. The rewind of the deletion brings the file back with that mode, and its undo finds it so.
func TestUndoOfARewindOfADeletionWithAnotherMode(t *testing.T) {
	file := func(mode uint32) Content { return Content{Exists: true, Data: []byte("o1\n"), Mode: mode} }
	r := New(file(0o644))
	r.Observe(Content{}, by("s", "1"))
	r.ObserveBaseline(file(0o755))
	was := r.shape().sum()
	d, _, err := r.RewindAll(Undone{Session: "s", Turns: []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, uint32(0o755), r.Current().Mode)
	require.False(t, r.Pending())
	r.ObserveBaseline(file(0o755))
	r.Observe(r.Current(), nil)
	require.NoError(t, r.Undo(d))
	require.Equal(t, was, r.shape().sum())
}

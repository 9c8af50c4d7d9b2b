package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUndoOfAnAcceptedDeletionOfWhatAPersonKept: a person writes a file that an agent has deleted in a copy. An accept of the deletion keeps
// what the person wrote. After that, another session's accept rewrites it.
func TestUndoOfAnAcceptedDeletionOfWhatAPersonKept(t *testing.T) {
	text := func(s string) Content { return Content{Exists: true, Data: []byte(s)} }
	for name, c := range map[string]struct{ first, then, undone string }{
		"rewritten and back":  {"p1\n", "p1\n", "p1\n"},
		"other lines by then": {"p1\n", "p1\np2\n", "p1\np2\n"},
		"old lines, too":      {"o1\np1\n", "p1\n", "o1\np1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(text("o1\n"))
			r.Observe(Content{}, &Source{SessionID: "s"})
			r.ObserveBaseline(text(c.first))
			was := r.like()
			var ids []uint64
			for _, h := range r.Hunks() {
				ids = append(ids, h.ID)
			}
			d, err := r.Decide(ids, true, nil)
			require.NoError(t, err)
			require.Equal(t, "p1\n", string(r.Baseline().Data))
			r.ObserveBaseline(text("A1\nA2\n"))
			r.ObserveBaseline(text(c.then))
			require.NoError(t, r.Undo(d))
			require.Equal(t, c.undone, string(r.Baseline().Data))
			require.False(t, r.Current().Exists)
			require.Equal(t, Deleted, r.Kind())
			if c.first == c.undone {
				require.Equal(t, was, r.like())
			}
			again, err := r.Redo(d)
			require.NoError(t, err)
			require.True(t, again.Accept)
			require.Equal(t, c.then, string(r.Baseline().Data))
		})
	}
}

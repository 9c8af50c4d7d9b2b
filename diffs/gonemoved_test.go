package diffs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewindOfAMovedFileThatAPersonHasRemoved: with a file that is gone, a rewind takes no move back, and is none that an undo could take back. Once it
// counted as a change.
func TestRewindOfAMovedFileThatAPersonHasRemoved(t *testing.T) {
	for i, does := range []func(r *Review){
		func(r *Review) { r.Rename("f", "m", by("s", "1")) },
		func(r *Review) { r.Rename("f", "m", by("s", "1")); r.Observe(file("a\nB\nc\n"), by("s", "1")) },
		func(r *Review) { r.Observe(file("a\nB\nc\n"), by("s", "1")); r.Rename("f", "m", by("s", "1")) },
		func(r *Review) { r.Rename("f", "m", by("s", "1")); r.Observe(file("\x00"), by("s", "1")) },
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := New(file("a\nb\nc\n"))
			does(r)
			r.Observe(Content{}, nil)
			r = restored(t, r)
			was := r.Copy()
			_, left, err := r.Rewind(Undone{"s", []string{"1"}})
			require.ErrorIs(t, err, ErrNotFound)
			require.True(t, left.Gone)
			requireSame(t, was, r)
		})
	}
}

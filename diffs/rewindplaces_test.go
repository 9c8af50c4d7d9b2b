package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewindBringsBackBeneathSeveral takes lines back of which another session has replaced a part, accepted, and a third edit has changed
// that since: what the lines had replaced comes back.
func TestRewindBringsBackBeneathSeveral(t *testing.T) {
	r := New(file("b0\nb1\n"))
	r.Observe(file("l1\nl2\nl3\n"), by("o", "1"))
	r.Observe(file("l4\nl3\n"), by("s", "1"))
	_, err := r.Decide(hunkIDs(r), true, nil)
	require.NoError(t, err)
	r.Observe(file("l7\nl8\nl3\n"), by("s", "2"))
	r = restored(t, r)
	_, _, err = r.Rewind(Undone{"o", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, "b0\nb1\nl4\n", string(r.Baseline().Data))
}

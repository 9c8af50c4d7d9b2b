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

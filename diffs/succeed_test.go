package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAFileMovedOntoADeletedOne has a person move a file to where an agent has deleted another one: what is pending of both stays pending, as
// whose it was.
func TestAFileMovedOntoADeletedOne(t *testing.T) {
	for name, c := range map[string]struct {
		base, mine         Content
		was                Content
		accepted           bool
		want, kept, writes string
	}{
		"pending":         {base: file("p1\np2\n"), was: file("g1\n"), want: "g1\np1\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
		"accepted":        {base: file("p1\np2\n"), was: file("g1\n"), accepted: true, want: "g1\np1\nadded\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
		"without an end":  {base: file("p1\np2\n"), was: file("g1\ng2"), want: "g1\ng2\np1\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
		"a file made":     {was: file("g1\n"), want: "g1\n", kept: "p1\nadded\np2\n", writes: "1 1 1 "},
		"of one line":     {base: file("p1\np2\n"), was: file("p1\n"), want: "p1\np1\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
		"an empty one":    {base: file("p1\np2\n"), was: file(""), want: "p1\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
		"one not of text": {base: file("p1\np2\n"), was: file("\x00"), want: "p1\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
	} {
		t.Run(name, func(t *testing.T) {
			r, deleted := New(c.base), New(c.was)
			r.Observe(file("p1\nadded\np2\n"), by("s", "1"))
			if c.accepted {
				_, err := r.Decide(hunkIDs(r), true, nil)
				require.NoError(t, err)
			}
			deleted.Observe(Content{}, by("s", "2"))
			r.Rename("d", "g", nil)
			rev := r.Rev()
			r.Succeed(restored(t, deleted))
			require.GreaterOrEqual(t, r.Rev(), rev)
			r = restored(t, r)
			require.Equal(t, c.kept, string(r.Current().Data))
			require.Equal(t, c.writes, writersIn(r.Origins()))
			accepted := r.Copy()
			if accepted.Pending() {
				_, err := accepted.Decide(hunkIDs(accepted), true, nil)
				require.NoError(t, err)
			}
			require.Equal(t, c.kept, string(accepted.Current().Data))
			require.False(t, accepted.Pending())
			back := r.Copy()
			d, err := back.Decide(hunkIDs(back), false, nil)
			require.NoError(t, err)
			require.Equal(t, c.want, string(back.Current().Data))
			require.NoError(t, back.Undo(passed(t, d)))
			requireSame(t, r, back)
			_, _, err = back.Rewind(Undone{"s", []string{"1"}})
			require.NoError(t, err)
			require.NotContains(t, string(back.Current().Data), "added")
		})
	}
}

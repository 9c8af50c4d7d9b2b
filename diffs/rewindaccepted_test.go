package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewindLeavesAnAcceptedChangeAlone takes a turn back that has changed an earlier turn's line, which was accepted, and has written beside
// it since: the earlier line is not pending again, unless the accept is undone.
func TestRewindLeavesAnAcceptedChangeAlone(t *testing.T) {
	for _, c := range []struct {
		name, typed, later, want, baseline string
		undo                               bool
	}{
		{name: "accepted", want: "b0\nl2\n", baseline: "b0\nl2\n"},
		{name: "more lines above it", later: "b0\nl5\nl3\nl4\n", want: "b0\nl2\n", baseline: "b0\nl2\n"},
		{name: "changed again", later: "b0\nl4\n", want: "b0\nl2\n", baseline: "b0\nl2\n"},
		{name: "undone", undo: true, want: "b0\nl2\n", baseline: "b0\nb1\nb2\n"},
		{
			name: "undone after a person has typed", undo: true, typed: "p\nb0\nl3\n", later: "p\nb0\nl5\nl3\n",
			want: "p\nb0\nl2\n", baseline: "p\nb0\nb1\nb2\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(file("b0\nb1\nb2\n"))
			r.Observe(file("b0\nl2\n"), by("s", "1"))
			r.Observe(file("b0\nl3\n"), by("s", "2"))
			r = restored(t, r)
			d, err := r.Decide(hunkIDs(r), true, nil)
			require.NoError(t, err)
			r = restored(t, r)
			if c.typed != "" {
				r.Observe(file(c.typed), nil)
			}
			if c.undo {
				require.NoError(t, r.Undo(passed(t, d)))
				r = restored(t, r)
			}
			if c.later != "" {
				r.Observe(file(c.later), by("s", "2"))
				r = restored(t, r)
			}
			_, _, err = r.Rewind(Undone{"s", []string{"2"}})
			require.NoError(t, err)
			require.Equal(t, c.want, string(r.Current().Data))
			require.Equal(t, c.baseline, string(r.Baseline().Data))
		})
	}
}

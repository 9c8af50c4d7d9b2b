package hunks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestLeft: what a decision leaves is counted with the diffs that it has answered, before their notifications are taken.
func TestLeft(t *testing.T) {
	t.Parallel()
	of := func(path, state string, n int) *sessions.Diff {
		return &sessions.Diff{Path: path, State: state, Hunks: make([]sessions.Hunk, n)}
	}
	before := map[string]*sessions.Diff{"a": of("a", "pending", 2), "b": of("b", "pending", 1)}
	for _, one := range []struct {
		newest []*sessions.Diff
		want   string
	}{
		{nil, "3 hunks left in 2 files"},
		{[]*sessions.Diff{of("a", "pending", 1)}, "2 hunks left in 2 files"},
		{[]*sessions.Diff{of("a", "clean", 0)}, "1 hunk left in 1 file"},
		{[]*sessions.Diff{of("a", "clean", 0), of("b", "clean", 0)}, "none left"},
		{[]*sessions.Diff{of("b", "pending", 0)}, "2 hunks left in 1 file"},
		{[]*sessions.Diff{of("c", "pending", 3)}, "6 hunks left in 3 files"},
	} {
		require.Equal(t, one.want, Left(before, one.newest))
	}
}

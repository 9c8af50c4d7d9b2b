package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestACommitAgreesToWhatItBrings: a person commits a part of the agent's changes after another. Each commit agrees to the hunks
// that it has and the one before had not.
func TestACommitAgreesToWhatItBrings(t *testing.T) {
	text := func(first, last string) Content {
		return Content{Exists: true, Data: []byte(first + "\n" + strings.Repeat("same\n", 12) + last + "\n"), Mode: 0o644}
	}
	base, one, both := text("a", "z"), text("A", "z"), text("A", "Z")
	r := New(base)
	r.Observe(both, &Source{SessionID: "s", TurnID: "t", Via: ViaEdit})
	hunks := r.Hunks()
	require.Len(t, hunks, 2)
	for name, c := range map[string]struct {
		old, now Content
		ids      []uint64
	}{
		"nothing":    {base, base, nil},
		"the first":  {base, one, []uint64{hunks[0].ID}},
		"the second": {one, both, []uint64{hunks[1].ID}},
		"both":       {base, both, []uint64{hunks[0].ID, hunks[1].ID}},
		"once more":  {both, both, nil},
		"none left":  {both, base, nil},
	} {
		require.Equal(t, c.ids, r.Agreed(c.old, c.now), name)
	}
}

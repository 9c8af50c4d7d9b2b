package diffs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinesThatATurnCarriesToAnotherFile: a turn moves a file and changes a part of it at once. The lines stay of who wrote them, also when a
// stash or a checkout takes the new file away, with the old one back, and brings it back.
func TestLinesThatATurnCarriesToAnotherFile(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 3))
		var was, now, lines, want []string
		for i := range 12 {
			line := fmt.Sprintf("compute_value_%d = lookup_thing_%d()\n", i, i)
			if lines = append(lines, line); i < 9 {
				was = append(was, line)
			}
			switch n := random.IntN(10); {
			case n == 0 && i > 0:
			case n == 1 && i > 0:
				now, want = append(now, fmt.Sprintf("another_thing_of_the_turn_%d\n", i)), append(want, "2")
			case i < 9:
				now, want = append(now, line), append(want, "-")
			default:
				now, want = append(now, line), append(want, "1")
			}
		}
		from, to := New(file(strings.Join(was, ""))), New(Content{})
		from.Observe(file(strings.Join(lines, "")), by("s", "1"))
		_, err := from.Decide([]uint64{from.Hunks()[0].ID}, true, nil)
		require.NoError(t, err)
		from.Observe(Content{}, by("s", "2"))
		to.Observe(file(strings.Join(now, "")), by("s", "2"))
		if 4*strings.Count(strings.Join(want, ""), "2") > len(want) {
			continue
		}
		told := func(r *Review) []string { return strings.Fields(writersIn(r.Origins())) }
		require.True(t, to.TakeOver(from))
		require.False(t, to.TakeOver(from), "it was told already")
		for _, r := range []*Review{to, restored(t, to)} {
			require.Equal(t, want, told(r), "seed %d", seed)
			for _, w := range r.Written(func(Source) bool { return true }) {
				require.NotContains(t, want[w.From:w.From+len(w.Lines)], "-")
			}
			r.Observe(Content{}, nil)
			for i, w := range strings.Fields(writersIn(r.OriginsOf(strings.Join(lines, "")))) {
				require.True(t, w == "-" || w == "1?" && i >= 9, "seed %d, line %d: %s", seed, i, w)
			}
			r.Observe(file(strings.Join(now, "")), nil)
			require.Equal(t, want, told(r), "seed %d", seed)
		}
	}
}

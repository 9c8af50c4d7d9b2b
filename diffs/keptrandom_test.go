package diffs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinesBesideAChangeStayWhoseTheyWere: turns move, remove and bring back lines. Then somebody changes one line: of the others,
// those of a person stay a person's.
func TestLinesBesideAChangeStayWhoseTheyWere(t *testing.T) {
	for seed := range uint64(600) {
		random := rand.New(rand.NewPCG(seed, 2))
		var lines []string
		for i := range 8 {
			lines = append(lines, fmt.Sprintf("compute_value_%d = lookup_thing_%d()\n", i, i))
		}
		r, accepts, turn, story := New(file(strings.Join(lines, ""))), random.IntN(2) == 0, 1, ""
		observe := func(now []string, person bool) {
			if story += strings.Join(now, "") + "->\n"; person {
				r.Observe(file(strings.Join(now, "")), nil)
			} else {
				r.Observe(file(strings.Join(now, "")), by("s", fmt.Sprint(turn)))
				turn += random.IntN(2)
			}
			for accepts && r.Pending() {
				_, err := r.Decide([]uint64{r.Hunks()[0].ID}, true, nil)
				require.NoError(t, err)
			}
		}
		if random.IntN(2) == 0 {
			lines = slices.Insert(lines, random.IntN(9), "written_by_a_turn = first_turn()\n")
			observe(lines, false)
		}
		for range 1 + random.IntN(2) { // away and back
			from := random.IntN(len(lines) - 3)
			block, rest := slices.Clone(lines[from:from+3]), slices.Delete(slices.Clone(lines), from, from+3)
			switch random.IntN(3) {
			case 0:
				observe(rest, false)
			case 1:
				observe(slices.Insert(rest, random.IntN(len(rest)+1), block...), false)
			case 2:
				observe(nil, false)
			}
			observe(lines, false)
		}
		for range 3 {
			was := map[string]string{}
			told := func() []string { return strings.Fields(writersIn(r.Origins())) }
			for i, w := range told() {
				was[lines[i]] = w
			}
			from, to := random.IntN(len(lines)), random.IntN(len(lines))
			line := lines[from]
			switch now := slices.Delete(slices.Clone(lines), from, from+1); random.IntN(4) {
			case 0:
				if from-to != 1 && to-from != 1 { // which of two lines has moved is not to be told
					lines = slices.Insert(now, to, line)
				}
			case 1:
				line = fmt.Sprintf("new_line_of_somebody_%d\n", len(story))
				lines = slices.Insert(now, from, line)
			case 2:
				lines = now
			case 3:
				line = fmt.Sprintf("one_more_of_somebody_%d\n", len(story))
				lines = slices.Insert(slices.Clone(lines), to, line)
			}
			observe(lines, random.IntN(2) == 0)
			for i, w := range told() {
				if lines[i] != line && was[lines[i]] == "-" {
					require.Equal(t, "-", w, "seed %d, line %d:\n%s", seed, i, story)
				}
			}
		}
	}
}

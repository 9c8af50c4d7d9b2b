package diffs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shortLines returns some lines that may be anywhere, each of one of five letters from first on.
func shortLines(random *rand.Rand, first rune) string {
	var b strings.Builder
	for range random.IntN(7) {
		fmt.Fprintf(&b, "%c\n", first+rune(random.IntN(5)))
	}
	return b.String()
}

// TestTextsThatAgentsBringBackAreWhoseTheyWere: turns change a text in any way, and the last one brings a part back as it was, or all of it.
func TestTextsThatAgentsBringBackAreWhoseTheyWere(t *testing.T) {
	for seed := range uint64(800) {
		random := rand.New(rand.NewPCG(seed, 1))
		part := func() string { return shortLines(random, 'a') + "middle = 2\n" }
		r := New(file(part() + shortLines(random, 'v')))
		turn, story := 1, ""
		observe := func(text string) {
			story += "->\n" + text
			r.Observe(file(text), by("s", fmt.Sprint(turn)))
			turn++
			for _, h := range r.Hunks() {
				_, err := r.Decide([]uint64{h.ID}, true, nil)
				require.NoError(t, err)
			}
		}
		if random.IntN(2) == 0 {
			observe(part() + shortLines(random, 'v'))
		}
		was, want := string(r.Current().Data), writersIn(r.Origins())
		for range 1 + random.IntN(2) {
			observe(part() + shortLines(random, 'v'))
		}
		if random.IntN(2) == 0 {
			was = was[:strings.Index(was, "middle")+len("middle = 2\n")]
			want = want[:2*strings.Count(was, "\n")]
			observe(was + shortLines(random, 'v'))
		} else {
			observe(was)
		}
		got := writersIn(r.Origins())
		require.Equal(t, want, got[:min(len(want), len(got))], "seed %d:\n%s", seed, story)
	}
}

package nearest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTakeIsLikeALookAtAll: Take finds what a look at all lines finds.
func TestTakeIsLikeALookAtAll(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s Set[int]
		type one struct {
			key, at int
			taken   bool
		}
		var all []one
		at := 0
		for range rng.IntN(40) {
			at += rng.IntN(3)
			key := rng.IntN(3)
			s.Add(key, at, len(all))
			all = append(all, one{key: key, at: at})
		}
		for range 60 {
			key, to, odd := rng.IntN(4), rng.IntN(at+4)-2, rng.IntN(3)
			can := func(line int) bool { return odd == 0 || line%2 == odd-1 }
			want, far := -1, at+10
			for i, o := range all {
				if away := max(o.at-to, to-o.at); o.key == key && !o.taken && can(i) && away < far {
					want, far = i, away
				}
			}
			got, ok := s.Take(key, to, can)
			require.Equal(t, want >= 0, ok)
			if ok {
				require.Equal(t, want, got)
				all[got].taken = true
			}
		}
	}
}

package diffs

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinesDoNotKeepTheirTexts changes a large file one line at a time. Before, each line in the review or in a decision
// kept the whole text that it came with in memory.
func TestLinesDoNotKeepTheirTexts(t *testing.T) {
	const changes, size, bound = 100, 256 << 10, 4 << 20
	base := strings.Repeat(strings.Repeat("x", 63)+"\n", size/64)
	agent := &Source{SessionID: "s", TurnID: "t", Via: "edit"}
	all := func(r *Review) (ids []uint64) {
		for _, h := range r.Hunks() {
			ids = append(ids, h.ID)
		}
		return ids
	}
	decide := func(t *testing.T, r *Review, accept bool) Decision {
		d, err := r.Decide(all(r), accept, nil)
		require.NoError(t, err)
		return d
	}
	for _, c := range []struct {
		name string
		does func(t *testing.T, r *Review, text string) []Decision
	}{
		{"typed", func(_ *testing.T, r *Review, text string) []Decision {
			r.Observe(Content{Exists: true, Data: []byte(text)}, nil)
			return nil
		}},
		{"pending", func(_ *testing.T, r *Review, text string) []Decision {
			r.Observe(Content{Exists: true, Data: []byte(text)}, agent)
			return nil
		}},
		{"rejected", func(t *testing.T, r *Review, text string) []Decision {
			r.Observe(Content{Exists: true, Data: []byte(text)}, agent)
			return []Decision{decide(t, r, false)}
		}},
		{"deleted, and that accepted, in a file that was there anew", func(t *testing.T, r *Review, text string) []Decision {
			r.Observe(Content{}, nil)
			r.Observe(Content{Exists: true, Data: []byte(text)}, nil)
			_, rest, _ := strings.Cut(text, "\n")
			r.Observe(Content{Exists: true, Data: []byte(rest)}, agent)
			return []Decision{decide(t, r, true)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(Content{Exists: true, Data: []byte(base)})
			var log []Decision
			before := heap()
			for i := range changes {
				now := string(r.Current().Data)
				if !r.Current().Exists {
					now = base
				}
				log = append(log, c.does(t, r, fmt.Sprintf("line %d\n", i)+now)...)
			}
			require.Less(t, heap()-before, int64(bound))
			runtime.KeepAlive(log)
			runtime.KeepAlive(r)
		})
	}
}

// heap returns the bytes in use on the heap.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

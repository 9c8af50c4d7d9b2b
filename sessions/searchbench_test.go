package sessions

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/sessions/internal/pagefile"
)

var searchItems = flag.Int("search.items", 20_000, "stored `items` in BenchmarkSearch")

// BenchmarkSearch measures how much longer stores take with the index, how large it is, and how long the first page of a
// search takes: for a word that is nowhere, one that is once, far back, a rare pair, a common word, a beginning that many
// words have, and a phrase; and for a word that is nowhere without an index.
func BenchmarkSearch(b *testing.B) {
	n := *searchItems
	fill := func(set settings) (*Store, string, time.Duration, int64, time.Duration) {
		path := b.TempDir() + "/db"
		s, _, err := open(path, Options{}, set)
		require.NoError(b, err)
		rnd := rand.New(rand.NewSource(1))
		zipf := rand.NewZipf(rnd, 1.1, 4, 60_000)
		room := make(chan struct{}, 256)
		seq, bytes := uint64(0), int64(0)
		next := func() uint64 { seq++; return seq }
		began := time.Now()
		for i := 0; i < n; i += 100 {
			session := fmt.Sprintf("session%06d", i)
			at := Time{time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)}
			ops := []Op{Put{Object: &Session{ID: session, Workspace: "/w", Title: "a title", UpdatedAt: at, Seq: next()}}}
			for j := range 10 {
				turn := fmt.Sprintf("%s-%d", session, j)
				ops = append(ops, Put{Object: &Turn{ID: turn, SessionID: session, Workspace: "/w", Prompt: "do it", Status: TurnCompleted, CreatedAt: at, Seq: next()}})
				for k := range 10 {
					var text strings.Builder
					for range 45 {
						fmt.Fprintf(&text, "%s ", pronounced(int(zipf.Uint64())))
					}
					if i == 0 && j == 0 && k == 0 {
						text.WriteString("unique")
					}
					bytes += int64(text.Len())
					ops = append(ops, Put{Object: &Item{ID: ItemID(turn, k), TurnID: turn, SessionID: session, Workspace: "/w", Index: k, Kind: ItemAssistant,
						Status: ItemCompleted, Text: text.String(), StartedAt: at, EndedAt: &at, Seq: next()}})
				}
			}
			room <- struct{}{}
			s.Submit("/w", ops, func(error) { <-room })
		}
		for range cap(room) {
			room <- struct{}{}
		}
		wrote := time.Since(began)
		for s.indexer.Waits() {
			time.Sleep(10 * time.Millisecond)
		}
		return s, path, wrote, bytes, time.Since(began)
	}
	size := func(path string) float64 {
		info, err := os.Stat(path)
		require.NoError(b, err)
		return float64(info.Size())
	}
	bare := defaults()
	bare.small = 1 << 40
	without, _, bareWrote, _, _ := fill(bare)
	took := func(s *Store, query string) float64 {
		var times []float64
		for range 11 {
			began := time.Now()
			_, _, err := s.Search(b.Context(), "", query, "", 50)
			require.NoError(b, err)
			times = append(times, float64(time.Since(began).Microseconds())/1000)
			if times[0] > 1000 {
				break
			}
		}
		slices.Sort(times)
		return times[len(times)/2]
	}
	scan := took(without, "nowhere")
	require.NoError(b, without.Close())
	s, path, wrote, bytes, indexed := fill(defaults())
	defer s.Close()
	keys := 0.0
	require.NoError(b, s.scan(inSpace("/w", bucketIndex), nil, asStored, func(k, v []byte) error {
		keys += float64(len(k) + len(v) + pagefile.ElemSize)
		return nil
	}))
	for b.Loop() {
	}
	b.ReportMetric(scan, "ms-scan")
	for name, query := range map[string]string{
		"nowhere": "nowhere", "once": "unique", "pair": pronounced(3000) + " " + pronounced(4000), "common": pronounced(1),
		"beginning": pronounced(1)[:1], "phrase": `"` + pronounced(100) + " " + pronounced(120) + `"`,
	} {
		b.ReportMetric(took(s, query), "ms-"+name)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(bareWrote.Seconds(), "s-written-bare")
	b.ReportMetric(wrote.Seconds(), "s-written")
	b.ReportMetric(indexed.Seconds(), "s-indexed")
	b.ReportMetric(100*keys/float64(bytes), "%-index/text")
	b.ReportMetric(size(path)/float64(bytes), "file/text")
	b.ReportMetric(float64(m.HeapInuse)/1e6, "MB-heap")
}

// pronounced is a word for a number.
func pronounced(n int) string {
	var w strings.Builder
	for n += 20; n > 0; n /= 20 {
		w.WriteByte("bcdfghklmnprstvwxzjq"[n%20])
		w.WriteByte("aeiou"[n%5])
	}
	return w.String()
}

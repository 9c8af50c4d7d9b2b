package agent

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatIsCutComparesAsIfItWereThere decodes random streams with a memory of a few words and with an unbounded one: the
// events are the same.
func TestWhatIsCutComparesAsIfItWereThere(t *testing.T) {
	const keep = 40
	cuts := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 0))
		little, all := NewDecoder(), NewDecoder()
		little.said.keep = keep
		n, largest := 0, 0
		word := func() string { n++; return fmt.Sprintf("%d,", n) }
		since, whole := "", ""
		quoted := func(text, more string) string {
			return fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"text","text":%q}]}%s}`, text, more)
		}
		for range 200 {
			var line string
			switch k := rng.IntN(30); {
			case k < 24:
				var b strings.Builder
				for range rng.IntN(30) {
					b.WriteString(word())
				}
				since += b.String()
				line = quoted(b.String(), `,"timestamp_ms":1`)
			case k == 24:
				line = quoted(since, "") // repeats the text
			case k == 25:
				line = quoted(since[:rng.IntN(len(since)+1)], `,"model_call_id":"m"`)
			case k == 26:
				line = quoted(since[rng.IntN(len(since)+1):], `,"model_call_id":"m"`)
			case k == 27:
				line = quoted(whole+since+word(), `,"model_call_id":"m"`)
			case k == 28:
				line = `{"type":"retry","subtype":"starting","is_resume":false}`
			default:
				line = quoted(since+word(), `,"model_call_id":"m"`)
			}
			want, got := all.Line([]byte(line)), little.Line([]byte(line))
			require.Equal(t, want, got, "seed %d: %.300s", seed, line)
			whole, since = string(all.said.kept[:all.said.mark]), string(all.said.kept[all.said.mark:])
			largest = max(largest, len(little.said.kept))
			if little.said.before || little.said.behind {
				cuts++
			}
		}
		require.LessOrEqual(t, largest, 6*keep+200)
	}
	require.Greater(t, cuts, 2_000)
}

// TestAResultIsCut: an agent says more than a result can hold.
func TestAResultIsCut(t *testing.T) {
	d := NewDecoder()
	line := func(text string) []byte {
		return []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]},"timestamp_ms":1}`)
	}
	d.Line(line("x"))
	piece := line(strings.Repeat("ö", 4<<20))
	for range 3 {
		d.Line(piece)
	}
	text := d.Text()
	require.True(t, strings.HasSuffix(text, "ö…(25165825 bytes)"), "%q", text[len(text)-40:])
	require.True(t, strings.HasPrefix(text, "xö"))
	require.Less(t, len(text), maxKept+40)
}

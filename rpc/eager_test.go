package rpc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeltasWrittenAtOnce fills a socket without a reader: deltas that were written at once, in part and later arrive whole
// and in order, also when immediate writes begin again.
func TestDeltasWrittenAtOnce(t *testing.T) {
	for _, framing := range []Framing{FramingLines, FramingHeaders} {
		client, server := socketPair(t)
		box := newOutbox(server, framing)
		reader := NewFrameReader(client, HardCap)
		want, got := map[string]string{}, map[string]string{}
		for round := range 3 {
			for i := range 200 {
				item := fmt.Sprint("item", i%3)
				text := fmt.Sprint(round, ".", i, " ") + strings.Repeat("é\n", i*8)
				require.True(t, box.notify(delta(item, len(want[item]), text), nil))
				want[item] += text
			}
			require.NoError(t, box.send(fmt.Appendf(nil, `{"id":%d}`, round)))
			for answered := false; !answered; {
				body, err := reader.Read()
				require.NoError(t, err)
				var m struct {
					ID     *int
					Params DeltaParams
				}
				require.NoError(t, json.Unmarshal(body, &m))
				if answered = m.ID != nil; answered {
					require.Equal(t, round, *m.ID)
					continue
				}
				require.Equal(t, len(got[m.Params.ItemID]), m.Params.Offset)
				got[m.Params.ItemID] += m.Params.Text
			}
			require.Equal(t, want, got)
		}
		client.Close()
		for i := range 3 { // the first write notices that the client has gone
			require.True(t, box.notify(delta("late", i, "x"), nil))
		}
		<-box.done
		box.finish(nil)
	}
}

// TestDeltasGoOnlyOnceTheFramingIsKnown: no delta is written before the client has chosen a framing.
func TestDeltasGoOnlyOnceTheFramingIsKnown(t *testing.T) {
	client, server := socketPair(t)
	box := newOutbox(server, FramingUnknown)
	for i, text := range []string{"one ", "two"} {
		require.True(t, box.notify(delta("i", 4*i, text), nil))
	}
	box.setFraming(FramingLines)
	body, err := NewFrameReader(client, HardCap).Read()
	require.NoError(t, err)
	require.Equal(t, "i+0 one two", told(t, body))
	box.finish(nil)
	client.Close()
}

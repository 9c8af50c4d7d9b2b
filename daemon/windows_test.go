package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// TestTheFirstOfTwoCallsKnowsWhatWasThere has two calls open that write one file, when somebody looks: what the second
// found is the first one's work.
func TestTheFirstOfTwoCallsKnowsWhatWasThere(t *testing.T) {
	held := func(text string) map[string]image {
		return map[string]image{"f": {Content: diffs.Content{Exists: true, Data: []byte(text)}}}
	}
	ws := windows{paths: map[string][]*window{}}
	one, two := ws.open([]string{"f"}, diffs.Source{ItemID: "1"}), ws.open([]string{"f"}, diffs.Source{ItemID: "2"})
	ws.hold(one, held("before"))
	ws.hold(two, held("by the first"))
	before, ok := ws.claim(nil, "f")
	require.True(t, ok)
	require.Equal(t, "before", string(before.Data))
	for _, w := range []*window{nil, one, two} {
		_, ok := ws.claim(w, "f")
		require.False(t, ok, "once")
	}
}

package diffs

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A tracked is a text whose memory the test watches: gone is true once it was freed.
type tracked struct{ gone atomic.Bool }

// track returns a tracked copy of text.
func track(text string) (string, *tracked) {
	t := &tracked{}
	text = strings.Clone(text)
	runtime.AddCleanup(unsafe.StringData(text), func(t *tracked) { t.gone.Store(true) }, t)
	return text, t
}

func (t *tracked) isGone() bool {
	runtime.GC()
	return t.gone.Load()
}

// TestNothingHoldsAWholeText: a review takes in texts of many lines that change one line each, and decides on them. Neither
// the review nor the log of decisions holds a part of such a text, because a part would keep all of it in memory.
func TestNothingHoldsAWholeText(t *testing.T) {
	lines := make([]string, 4000)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d of a text that is long enough to matter\n", i)
	}
	text := func() string { return strings.Join(lines, "") }
	person := func(*Review) int32 { return 0 }
	agent := func(r *Review) int32 { return r.sources.edit(Source{SessionID: "s", TurnID: "t", Via: ViaEdit}) }

	for _, c := range []struct {
		name   string
		by     func(*Review) int32
		decide []bool
		undone bool
	}{
		{"pending", agent, nil, false},
		{"accepted", agent, []bool{true}, false},
		{"rejected", agent, []bool{false}, false},
		{"accepted and undone", agent, []bool{true}, true},
		{"rejected and undone", agent, []bool{false}, true},
		{"a person's", person, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(Content{Exists: true, Data: []byte(text())})
			old := lines[2000]
			lines[2000] = "changed " + c.name + "\n"
			now, held := track(text())
			lines[2000] = old
			r.observe(true, body{text: now}, c.by(r))
			now = ""

			var log []Decision
			for _, accept := range c.decide {
				hunks := r.Hunks()
				require.Len(t, hunks, 1)
				d, err := r.Decide([]uint64{hunks[0].ID}, accept, nil)
				require.NoError(t, err)
				log = append(log, d)
			}
			if c.undone {
				require.NoError(t, r.Undo(log[0]))
			}
			require.Eventually(t, held.isGone, 10*time.Second, time.Millisecond, "something holds the text")
			runtime.KeepAlive(r)
			runtime.KeepAlive(log)
		})
	}
}

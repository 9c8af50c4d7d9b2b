package clock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	const s = int64(time.Second)
	// From 100 s on the clock is set back by 30 s, noticed at 101; from 200 on it is an hour ahead, noticed at 210.
	list := []span{{to: 101 * s}, {from: 99 * s, to: 210 * s, lead: -30 * s}, {from: 200 * s, lead: 3570 * s}}
	for name, c := range map[string]struct {
		list       []span
		shown, now int64
		want       int64
	}{
		"nobody has set it":                {list: list[:1], shown: 50, now: 60, want: 50},
		"… and it is ahead of us":          {list: list[:1], shown: 90, now: 60, want: 90},
		"long before":                      {list: list[:2], shown: -5000, now: 102, want: -5000},
		"before it was set back":           {list: list[:2], shown: 60, now: 102, want: 60},
		"… and not lived twice yet":        {list: list[:2], shown: 90, now: 102, want: 90},
		"since":                            {list: list[:2], shown: 71, now: 102, want: 101},
		"lived twice":                      {list: list[:2], shown: 90, now: 125, want: 120},
		"set back, and ahead of us":        {list: list[:2], shown: 150, now: 125, want: 180},
		"set back, and then ahead":         {list: list, shown: 3785, now: 220, want: 215},
		"set ahead, before that":           {list: list, shown: 160, now: 220, want: 190},
		"set ahead, before all":            {list: list, shown: 60, now: 220, want: 60},
		"what no clock has shown":          {list: list, shown: 2000, now: 220, want: 200},
		"set ahead, and ahead of us still": {list: list, shown: 4000, now: 220, want: 430},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want*s, find(c.list, c.shown*s, c.now*s))
		})
	}
}

// TestJumps sets the clock ahead and back more often than jumps are remembered.
func TestJumps(t *testing.T) {
	var lead time.Duration
	ahead = func(int64) time.Duration { return lead }
	t.Cleanup(func() {
		ahead, lead = nil, 0
		spans.Store(nil)
	})
	spans.Store(nil)
	began := Now()
	require.InDelta(t, began, At(time.Now()), float64(time.Second))
	for i, by := range []time.Duration{0, time.Hour, -time.Hour, time.Second, time.Millisecond, -24 * time.Hour} {
		for n := range 1 + kept*(i%2) {
			lead = by + time.Duration(n)*time.Minute
			shown := Shown(time.Now().UnixNano())
			now := Now()
			require.InDelta(t, now, Moment(shown), float64(time.Second), "%v", lead)
			require.GreaterOrEqual(t, now, began)
			require.Less(t, now-began, int64(10*time.Second))
		}
	}
	require.LessOrEqual(t, len(*spans.Load()), kept+1)
}

func BenchmarkMoment(b *testing.B) {
	for b.Loop() {
		Moment(1)
	}
}

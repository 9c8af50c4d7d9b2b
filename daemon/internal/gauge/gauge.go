// Package gauge keeps times that are measured again and again, for people who ask how the daemon is doing.
package gauge

import (
	"sync/atomic"
	"time"

	"cursord/daemon/api"
)

// A Gauge keeps the latest of a time that is measured repeatedly, and the longest of the last minute or two.
type Gauge struct {
	last   atomic.Int64 // ns
	worst  [2]atomic.Int64
	minute atomic.Int64 // the minute of the process's life since which the first of them counts
}

// minutes are counted from here, by the monotonic clock.
var minutesFrom = time.Now()

// Measured takes in a time.
func (g *Gauge) Measured(d time.Duration) {
	g.turn()
	g.last.Store(int64(d))
	for w := &g.worst[0]; ; {
		old := w.Load()
		if int64(d) <= old || w.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

// turn begins a new minute if the present one is over.
func (g *Gauge) turn() {
	now := int64(time.Since(minutesFrom) / time.Minute)
	then := g.minute.Load()
	if now == then || !g.minute.CompareAndSwap(then, now) {
		return
	}
	worst := g.worst[0].Swap(0)
	if now > then+1 {
		worst = 0
	}
	g.worst[1].Store(worst)
}

// Status returns both times.
func (g *Gauge) Status() api.Span {
	g.turn()
	ms := func(ns int64) float64 { return float64(ns/1000) / 1000 }
	return api.Span{Last: ms(g.last.Load()), Worst: ms(max(g.worst[0].Load(), g.worst[1].Load()))}
}

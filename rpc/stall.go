package rpc

import (
	"io"
	"sync/atomic"
	"time"
)

// writeChunk is what a client must take within the stall limit, in bytes, not to count as one that does not read.
const writeChunk = 32 << 10

// stallLooks is how often a guard looks at a write within its limit.
const stallLooks = 8

// A stallGuard writes in chunks and calls stalled when one of them takes too long. Its timer runs over many writes: to
// start and stop one for each would cost as much as the write of a delta. It counts the looks at which a write was still
// the same: while somebody stops this process there are none, and the client may have read all the time.
type stallGuard struct {
	w       io.Writer
	every   time.Duration
	stalled func()
	timer   *time.Timer
	writes  atomic.Uint64 // odd during one
	armed   atomic.Bool   // the timer runs

	// Of look.
	seen   uint64 // the write
	waited int    // how many looks ago it was first seen
}

func newStallGuard(w io.Writer, limit time.Duration, stalled func()) *stallGuard {
	g := &stallGuard{w: w, every: limit / stallLooks, stalled: stalled}
	g.timer = time.AfterFunc(time.Hour, g.look)
	g.timer.Stop()
	return g
}

// look is what the timer does.
func (g *stallGuard) look() {
	now := g.writes.Load()
	switch {
	case now%2 == 0:
		g.armed.Store(false)
		if g.writes.Load() == now || !g.armed.CompareAndSwap(false, true) { // else one has begun that found it armed
			return
		}
	case now != g.seen:
		g.seen, g.waited = now, 0
	default:
		if g.waited++; g.waited >= stallLooks {
			g.stalled()
			return
		}
	}
	g.timer.Reset(g.every)
}

func (g *stallGuard) stop() { g.timer.Stop() }

func (g *stallGuard) Write(p []byte) (int, error) {
	total := 0
	for len(p) > 0 {
		g.writes.Add(1)
		if g.armed.CompareAndSwap(false, true) {
			g.timer.Reset(g.every)
		}
		n, err := g.w.Write(p[:min(len(p), writeChunk)])
		g.writes.Add(1)
		total += n
		if err != nil {
			return total, err
		}
		p = p[n:]
	}
	return total, nil
}

package rpc

import (
	"io"
	"sync/atomic"
	"time"
)

// writeChunk is what a client must take within the stall limit, in bytes, not to count as one that does not read.
const writeChunk = 32 << 10

// A stallGuard writes in chunks and calls stalled when one of them takes too long. Its timer runs over many writes: to
// start and stop one for each would cost as much as the write of a delta.
type stallGuard struct {
	w       io.Writer
	limit   time.Duration
	stalled func()
	made    time.Time
	timer   *time.Timer
	since   atomic.Int64 // when the present write began, after made; 0: there is none
	armed   atomic.Bool  // the timer runs
}

func newStallGuard(w io.Writer, limit time.Duration, stalled func()) *stallGuard {
	g := &stallGuard{w: w, limit: limit, stalled: stalled, made: time.Now()}
	g.timer = time.AfterFunc(time.Hour, g.look)
	g.timer.Stop()
	return g
}

// look is what the timer does.
func (g *stallGuard) look() {
	g.armed.Store(false) // before since is read: a write that begins now arms the timer itself
	since := g.since.Load()
	if since == 0 {
		return
	}
	if left := g.limit - (time.Since(g.made) - time.Duration(since)); left > 0 {
		g.arm(left)
	} else {
		g.stalled()
	}
}

func (g *stallGuard) arm(d time.Duration) {
	if g.armed.CompareAndSwap(false, true) {
		g.timer.Reset(d)
	}
}

func (g *stallGuard) stop() { g.timer.Stop() }

func (g *stallGuard) Write(p []byte) (int, error) {
	total := 0
	for len(p) > 0 {
		g.since.Store(max(1, int64(time.Since(g.made))))
		g.arm(g.limit)
		n, err := g.w.Write(p[:min(len(p), writeChunk)])
		g.since.Store(0)
		total += n
		if err != nil {
			return total, err
		}
		p = p[n:]
	}
	return total, nil
}

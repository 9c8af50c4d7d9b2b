package outbox

import (
	"io"
	"slices"
	"sync"

	"cursord/rpc"
	"cursord/rpc/nowait"
)

// maxEager is the size of the longest message that is written by its sender.
const maxEager = 4000

// An Outbox writes messages to one editor. Before Start, Send writes by itself; then a goroutine writes.
type Outbox struct {
	w    io.Writer
	done chan struct{}

	mu      sync.Mutex
	more    *sync.Cond
	framing rpc.Framing        // guarded by mu; nothing is written while it is unknown
	queue   []*letter          // guarded by mu
	started bool               // guarded by mu
	keyed   map[string]*letter // guarded by mu; in queue, by key
	closed  bool               // guarded by mu
	group   int                // guarded by mu; counts the messages without a key
	broken  bool               // guarded by mu; a write has failed: messages are dropped
	size    int                // guarded by mu; of the bodies in queue and of those that are being written, in bytes
	room    *sync.Cond
	writing bool           // guarded by mu; the goroutine writes
	now     *nowait.Writer // to w, guarded by mu while the goroutine does not write
	frame   []byte         // guarded by mu; scratch memory
}

type letter struct {
	key   string
	body  []byte // nil: a later one has replaced it
	rest  []byte // of a message that was partly written
	group int
}

// New returns an outbox that writes to w.
func New(w io.Writer) *Outbox {
	b := &Outbox{w: w, now: nowait.NewWriter(w), done: make(chan struct{}), keyed: map[string]*letter{}}
	b.more, b.room = sync.NewCond(&b.mu), sync.NewCond(&b.mu)
	return b
}

// Start has a goroutine write from now on. Close ends it.
func (b *Outbox) Start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started = true
	go b.run()
}

// SetFraming says how messages are framed. Only the first framing counts that is not rpc.FramingUnknown.
func (b *Outbox) SetFraming(f rpc.Framing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.framing == rpc.FramingUnknown {
		b.framing = f
		b.more.Signal()
	}
}

// Send sends the body of a message. A body with a key, other than "", replaces one with that key that has not been written yet; it
// stays behind all messages without a key that were sent before it. After Close, and after the editor is gone, bodies are dropped.
func (b *Outbox) Send(key string, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.broken {
		return
	}
	if !b.started {
		if _, err := b.w.Write(rpc.AppendFrame(nil, b.framing, body)); err != nil {
			b.broken = true
		}
		return
	}
	if b.sendsNow(body) {
		return
	}
	if l := b.keyed[key]; l != nil {
		b.size -= len(l.body)
		if l.group == b.group {
			l.body = body
			b.size += len(body)
			return
		}
		l.body = nil // messages without a key came since: this one goes behind them
	}
	l := &letter{key: key, body: body, group: b.group}
	if key != "" {
		b.keyed[key] = l
	} else {
		b.group++
	}
	b.queue = append(b.queue, l)
	b.size += len(body)
	b.more.Signal()
}

// sendsNow writes a small message itself if nothing waits and the editor has room for it: it then comes sooner than through the
// goroutine. It is called with b.mu held, and does not wait.
func (b *Outbox) sendsNow(body []byte) bool {
	if b.writing || len(b.queue) > 0 || b.framing == rpc.FramingUnknown || len(body) > maxEager {
		return false
	}
	b.frame = rpc.AppendFrame(b.frame[:0], b.framing, body)
	n := b.now.Write(b.frame)
	if rest := b.frame[n:]; n > 0 && len(rest) > 0 {
		b.queue = append(b.queue, &letter{rest: slices.Clone(rest), group: b.group})
		b.group++
		b.size += len(rest)
		b.more.Signal()
	}
	return n > 0
}

// Wait waits until at most limit bytes wait for the editor. It is for a sender whose messages cannot replace each other and who can
// wait. It returns false after Close, and once the editor is gone.
func (b *Outbox) Wait(limit int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.size > limit && !b.closed && !b.broken {
		b.room.Wait()
	}
	return !b.closed && !b.broken
}

// Close writes all that was sent and waits for that.
func (b *Outbox) Close() {
	b.mu.Lock()
	b.closed = true
	b.more.Signal()
	b.room.Broadcast()
	started := b.started
	b.mu.Unlock()
	if started {
		<-b.done
	}
}

func (b *Outbox) run() {
	defer close(b.done)
	var frames []byte
	for {
		b.mu.Lock()
		for !b.closed && (len(b.queue) == 0 || b.framing == rpc.FramingUnknown) {
			b.more.Wait()
		}
		if len(b.queue) == 0 || b.framing == rpc.FramingUnknown {
			b.mu.Unlock()
			return
		}
		frames = frames[:0]
		n, written := 0, 0
		for ; n < len(b.queue) && len(frames) < 64<<10; n++ {
			l := b.queue[n]
			if l.body != nil {
				frames = rpc.AppendFrame(frames, b.framing, l.body)
				delete(b.keyed, l.key)
			}
			frames = append(frames, l.rest...)
			written += len(l.body) + len(l.rest)
			b.queue[n] = nil
		}
		if b.queue = b.queue[n:]; len(b.queue) == 0 {
			b.queue = nil
		}
		b.writing = true
		b.mu.Unlock()
		_, err := b.w.Write(frames)
		b.mu.Lock()
		b.writing = false
		b.size -= written
		if err != nil {
			b.broken, b.queue = true, nil
		}
		b.room.Broadcast()
		b.mu.Unlock()
		if cap(frames) > 1<<20 {
			frames = nil
		}
	}
}

package lsp

import (
	"io"
	"sync"

	"cursord/rpc"
)

// An outbox writes messages to the editor, in order, once it is started from a goroutine of its own: who hands one in does
// not wait any more. Of notifications with one key the latest counts, so that an editor that does not read costs no memory
// without bound.
type outbox struct {
	w    io.Writer
	done chan struct{}

	mu      sync.Mutex
	more    *sync.Cond
	framing rpc.Framing        // guarded by mu; nothing is written while it is unknown
	queue   []*letter          // guarded by mu
	started bool               // guarded by mu
	keyed   map[string]*letter // guarded by mu; those that wait
	closed  bool               // guarded by mu
	broken  bool               // guarded by mu: what comes is dropped
}

type letter struct {
	key  string
	body []byte
}

func newOutbox(w io.Writer) *outbox {
	b := &outbox{w: w, done: make(chan struct{}), keyed: map[string]*letter{}}
	b.more = sync.NewCond(&b.mu)
	return b
}

func (b *outbox) start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started = true
	go b.run()
}

func (b *outbox) setFraming(f rpc.Framing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.framing == rpc.FramingUnknown {
		b.framing = f
		b.more.Signal()
	}
}

// send hands in a message. With a key it takes the place of one with that key that still waits.
func (b *outbox) send(key string, body []byte) {
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
	if l := b.keyed[key]; l != nil {
		l.body = body
		return
	}
	l := &letter{key: key, body: body}
	if key != "" {
		b.keyed[key] = l
	}
	b.queue = append(b.queue, l)
	b.more.Signal()
}

// close lets what was handed in be written, and waits for that.
func (b *outbox) close() {
	b.mu.Lock()
	b.closed = true
	b.more.Signal()
	started := b.started
	b.mu.Unlock()
	if started {
		<-b.done
	}
}

func (b *outbox) run() {
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
		n := 0
		for ; n < len(b.queue) && len(frames) < 64<<10; n++ {
			frames = rpc.AppendFrame(frames, b.framing, b.queue[n].body)
			delete(b.keyed, b.queue[n].key)
			b.queue[n] = nil
		}
		if b.queue = b.queue[n:]; len(b.queue) == 0 {
			b.queue = nil
		}
		b.mu.Unlock()
		if _, err := b.w.Write(frames); err != nil {
			b.mu.Lock()
			b.broken, b.queue = true, nil
			b.mu.Unlock()
		}
		if cap(frames) > 1<<20 {
			frames = nil
		}
	}
}

package rpc

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"cursord/daemon"
	"cursord/daemon/api"
	"cursord/sessions"
)

const (
	maxReplies = 256 << 20 // waiting bytes of answers above which the connection is given up
	maxNotes   = 4 << 20   // waiting bytes of notifications at which subscriptions fall behind
	notesLow   = 1 << 20   // waiting bytes of notifications at which they go on
	noteWeight = 256       // what a notification counts beside its object or text, in bytes
	maxBatch   = 64        // frames in one write
	maxEager   = 16 << 10  // largest text of a delta that is written at once, in bytes
)

// Why nothing more can be sent; outbox.send returns these.
var (
	errOutboxClosed  = errors.New("connection is closed")
	errUnreadReplies = errors.New("too many answers wait for a client that does not read")
)

// An outbox holds the messages for one client, in the order in which they were handed in. Handing in never waits. One goroutine
// writes. The client may read as slowly as it likes, because what waits for it is bounded.
type outbox struct {
	w       io.WriteCloser
	most    int           // how many bytes of answers may wait: maxReplies, but for tests
	done    chan struct{} // closed when the writer has ended
	wake    chan struct{} // holds a token when there is work for the writer
	drained chan struct{} // closed by the writer when the outbox finishes and nothing is left

	batch []*frame // owned by the writer

	eager     *eagerWriter // guarded by mu while idle; nil if the connection has none
	mu        sync.Mutex
	framing   Framing // the writer waits until this is known
	queue     []*frame
	replies   int                  // waiting bytes of answers
	notes     int                  // waiting bytes of notifications
	growing   map[string]*frame    // by item: its last waiting delta, to which later ones are appended
	idle      bool                 // the writer waits, and everything before is written
	behind    map[resumer]struct{} // resumed once there is room
	finishing bool
	finished  bool  // drained is closed
	err       error // why nothing more can be sent
}

// A resumer is called when there is room for notifications again.
type resumer interface{ resume() }

// A frame is a message that waits: a reply with its body, or a notification, which is encoded when it is written.
type frame struct {
	body []byte
	note *daemon.Notification
	from resumer // resumed when the notification has been written; may be nil
	text []byte  // for a merged delta: its whole text, of which note has the first part
	rest []byte  // the unwritten bytes of a notification that was partly written
	size int
}

// newOutbox returns an outbox that writes to w, and starts its writer. It closes w when a write fails.
func newOutbox(w io.WriteCloser, framing Framing) *outbox {
	b := &outbox{
		w: w, most: maxReplies, framing: framing,
		eager: newEagerWriter(w),
		done:  make(chan struct{}), wake: make(chan struct{}, 1), drained: make(chan struct{}),
		growing: map[string]*frame{}, behind: map[resumer]struct{}{},
	}
	go b.run()
	return b
}

// setFraming sets the framing, so that the writer can begin.
func (b *outbox) setFraming(f Framing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.framing == FramingUnknown && f != FramingUnknown {
		b.framing = f
		b.wakeWriter()
	}
}

// send hands in a message that must not be dropped.
func (b *outbox) send(body []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	if b.replies+len(body) > b.most {
		b.failLocked(errUnreadReplies)
		return b.err
	}
	b.replies += len(body)
	b.queue = append(b.queue, &frame{body: body, size: len(body)})
	b.wakeWriter()
	return nil
}

// forget removes r from those to be resumed; a call that is already under way may still come.
func (b *outbox) forget(r resumer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.behind, r)
}

// notify hands in a notification. It returns false if too much waits already; from, unless nil, is resumed once there is room. from is also resumed
// after a notification that had to wait, when that is written and there is room for more. After the connection's end notify accepts everything and
// drops it.
func (b *outbox) notify(n *daemon.Notification, from resumer) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return true
	}
	if b.notes >= maxNotes {
		b.resumeLaterLocked(from)
		return false
	}
	if n.Delta != nil && (b.mergeLocked(n.Delta) || b.writeEagerlyLocked(n)) {
		return true
	}
	f := &frame{note: n, from: from, size: noteWeight + len(n.JSON)}
	if n.Delta != nil {
		f.size += len(n.Delta.Text)
		b.growing[n.Delta.ItemID] = f
	} else if n.Kind == sessions.KindItem {
		delete(b.growing, n.ID)
	}
	b.notes += f.size
	b.queue = append(b.queue, f)
	b.wakeWriter()
	return true
}

// resumeLaterLocked notes that from, unless nil, is to be resumed. b.mu must be held.
func (b *outbox) resumeLaterLocked(from resumer) {
	if from != nil {
		b.behind[from] = struct{}{}
	}
}

// mergeLocked appends d to the waiting delta of its item, if there is one and d continues it. b.mu must be held.
func (b *outbox) mergeLocked(d *daemon.Delta) bool {
	f := b.growing[d.ItemID]
	if f == nil {
		return false
	}
	first := f.note.Delta
	if f.text == nil {
		f.text = append(make([]byte, 0, 2*(len(first.Text)+len(d.Text))), first.Text...)
	}
	if d.Offset != first.Offset+len(f.text) || len(f.text)+len(d.Text) > api.MaxDelta {
		return false
	}
	f.text = append(f.text, d.Text...)
	f.size += len(d.Text)
	b.notes += len(d.Text)
	return true
}

// writeEagerlyLocked writes a delta at once if nothing waits before it, which saves the detour through the writer. What the socket has no room
// for goes to the queue. It never waits, and returns false if it has taken nothing. b.mu must be held.
func (b *outbox) writeEagerlyLocked(n *daemon.Notification) bool {
	if b.eager == nil || !b.idle || len(b.queue) > 0 || b.framing == FramingUnknown || len(n.Delta.Text) > maxEager {
		return false
	}
	out := AppendFrame(b.eager.next[:0], b.framing, n.Encoded(encodeNotification))
	b.eager.next = out
	sent := b.eager.write(out)
	if sent == len(out) {
		return true
	}
	rest := slices.Clone(out[sent:])
	b.queue = append(b.queue, &frame{note: n, rest: rest, size: len(rest)})
	b.notes += len(rest)
	b.wakeWriter()
	return true
}

// wakeWriter tells the writer that there may be work for it.
func (b *outbox) wakeWriter() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// fail ends the outbox and drops what waits.
func (b *outbox) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failLocked(err)
}

func (b *outbox) failLocked(err error) {
	if b.err != nil {
		return
	}
	b.err = err
	b.queue, b.growing = nil, map[string]*frame{}
	b.replies, b.notes = 0, 0
	b.wakeWriter()
	// Closing a connection may wait for its writer, which may wait for b.mu.
	go b.w.Close()
}

// gaveUp reports whether the connection was given up because of unread answers.
func (b *outbox) gaveUp() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err == errUnreadReplies
}

// finish waits until everything that was handed in has been written, and ends the outbox. Once hurry is closed it waits for
// at most flushLimit.
func (b *outbox) finish(hurry <-chan struct{}) {
	b.mu.Lock()
	b.finishing = true
	b.mu.Unlock()
	b.wakeWriter()
	written := func(more <-chan struct{}, limit <-chan time.Time) bool {
		select {
		case <-b.drained:
		case <-b.done:
		case <-more:
			return false
		case <-limit:
		}
		return true
	}
	timer := time.NewTimer(flushLimit)
	defer timer.Stop()
	if !written(hurry, nil) {
		timer.Reset(flushLimit)
		written(nil, timer.C)
	}
	b.fail(errOutboxClosed)
	// A write to a blocking file does not end when the file is closed.
	timer.Reset(time.Second)
	select {
	case <-b.done:
	case <-timer.C:
	}
}

// nextBatch waits for frames and returns those of the next write, or false if there will be none.
func (b *outbox) nextBatch() ([]*frame, bool) {
	for {
		b.mu.Lock()
		switch {
		case b.err != nil:
			b.mu.Unlock()
			return nil, false
		case len(b.queue) > 0 && b.framing != FramingUnknown:
			b.idle = false
			n := min(len(b.queue), maxBatch)
			batch := append(b.batch[:0], b.queue[:n]...)
			clear(b.queue[:n]) // frees what was sent
			if b.queue = b.queue[n:]; len(b.queue) == 0 {
				b.queue = nil
			}
			b.batch = batch
			for _, f := range batch {
				if f.note != nil && f.note.Delta != nil && b.growing[f.note.Delta.ItemID] == f {
					delete(b.growing, f.note.Delta.ItemID)
				}
			}
			b.mu.Unlock()
			return batch, true
		case b.finishing && !b.finished:
			b.finished = true
			close(b.drained)
		}
		b.idle = true
		b.mu.Unlock()
		<-b.wake
	}
}

// run is the writer.
func (b *outbox) run() {
	defer close(b.done)
	w := bufio.NewWriterSize(b.w, 64<<10)
	var header []byte
	for {
		batch, ok := b.nextBatch()
		if !ok {
			return
		}
		for _, f := range batch {
			// Errors stay in w until Flush.
			if f.rest != nil {
				_, _ = w.Write(f.rest)
				continue
			}
			body := f.encoded()
			if b.framing == FramingLines {
				_, _ = w.Write(body)
				_ = w.WriteByte('\n')
			} else {
				header = appendHeader(header[:0], len(body))
				_, _ = w.Write(header)
				_, _ = w.Write(body)
			}
		}
		if err := w.Flush(); err != nil {
			b.fail(err)
			return
		}
		for _, r := range b.written(batch) {
			r.resume()
		}
	}
}

// written takes a batch off the counts and returns the resumers for which there is room.
func (b *outbox) written(batch []*frame) []resumer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil
	}
	for i, f := range batch {
		if f.note != nil {
			b.notes -= f.size
			b.resumeLaterLocked(f.from)
		} else {
			b.replies -= f.size
		}
		batch[i] = nil
	}
	if b.notes > notesLow || len(b.behind) == 0 {
		return nil
	}
	room := slices.Collect(maps.Keys(b.behind))
	clear(b.behind)
	return room
}

// encoded returns the message to write.
func (f *frame) encoded() []byte {
	switch {
	case f.note == nil:
		return f.body
	case f.text != nil:
		return encodeDelta(f.note.Workspace, f.note.Delta, f.text)
	default:
		return f.note.Encoded(encodeNotification)
	}
}

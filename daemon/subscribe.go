package daemon

import (
	"encoding/json"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// A Subscription feeds a Sink with one workspace's notifications. A live subscription gets what is published. One that is
// behind continues from its cursor when its owner calls Resume: a slow reader costs a read of the newest states, never a
// queue.
type Subscription struct {
	w       *workspace
	sink    Sink
	client  api.ClientID
	summary bool
	every   time.Duration // how long deltas of an item are collected

	behind   atomic.Bool
	resuming atomic.Bool
	resumed  atomic.Uint32 // how often Resume was called

	mu     sync.Mutex // keeps calls of the sink and Close apart
	closed bool       // guarded by mu

	// Owned by the loop.
	started  bool
	cursor   uint64           // the sink has taken everything up to here, or snapshot has it
	snapshot []sessions.Entry // the rest of a bounded snapshot, by seq; JSON is empty until it is sent
	texts    map[string]int   // how many bytes of each growing text item were sent; the client knows these items
	held     map[string]*Notification
	later    []func()    // functions that wait until nothing is missing
	timer    *time.Timer // for held
	timing   bool
}

// Subscribe makes sink a subscriber of a workspace. It calls reply first; then sink gets what changed since o.After, and
// then live notifications.
func (d *Daemon) Subscribe(root string, o SubscribeOptions, sink Sink, reply func(api.Subscribed, error)) *Subscription {
	w, err := d.workspace(root)
	if err != nil {
		reply(api.Subscribed{}, err)
		return nil
	}
	defer w.release()
	if d.killed.Waiting(w.root) {
		w.review.Wait() // what killed turns have changed comes before their ends
	}
	const longest = math.MaxInt64 / int64(time.Millisecond)
	every := time.Duration(min(int64(o.DeltaIntervalMS), longest)) * time.Millisecond
	s := &Subscription{
		w: w, sink: sink, client: o.Client, summary: o.DiffSummaries, every: every,
		texts: map[string]int{}, held: map[string]*Notification{},
	}
	s.behind.Store(true)
	ok := w.do(func() {
		start := func(reset bool) {
			s.cursor = w.published
			var err error
			if reset || o.After == nil {
				s.snapshot, err = w.snapshot()
			} else {
				s.cursor = *o.After
				s.knows(*o.After)
			}
			if err != nil {
				reply(api.Subscribed{}, api.StoreError(err))
				return
			}
			w.subs[s] = struct{}{}
			w.subscribers.Store(int32(len(w.subs)))
			reply(api.Subscribed{Workspace: w.root, Seq: w.published, Epoch: d.store.Epoch(), Reset: reset}, nil)
			s.started = true
			s.advance()
		}
		switch {
		case o.After == nil:
			start(false)
		case *o.After > w.seq || o.Epoch != "" && o.Epoch != d.store.Epoch():
			start(true)
		case !w.renumber(*o.After, func(err error) { start(err != nil) }):
			start(false)
		}
	})
	if !ok {
		reply(api.Subscribed{}, api.ErrStopped)
		return nil
	}
	return s
}

// Behind reports whether the subscription waits for Resume.
func (s *Subscription) Behind() bool { return s.behind.Load() }

// Resume lets a subscription that is behind continue, from the newest state of each object; the sink's owner calls it when
// there is room again. It does nothing if the subscription is not behind.
func (s *Subscription) Resume() {
	s.resumed.Add(1)
	if !s.behind.Load() || s.resuming.Swap(true) {
		return
	}
	s.w.do(func() {
		s.resuming.Store(false)
		s.advance()
	})
}

// Close ends the subscription; the sink gets nothing once Close has returned.
func (s *Subscription) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	go s.w.do(func() {
		if s.timer != nil {
			s.timer.Stop()
		}
		delete(s.w.subs, s)
		s.w.touch()
		s.w.subscribers.Store(int32(len(s.w.subs)))
		s.caughtUp()
	})
}

// afterAll runs f once a client has got everything that was published: at once, unless its subscription is behind.
func (w *workspace) afterAll(client api.ClientID, f func()) {
	for s := range w.subs {
		if client != 0 && s.client == client && s.behind.Load() {
			s.later = append(s.later, f)
			return
		}
	}
	f()
}

// caughtUp runs what afterAll has kept.
func (s *Subscription) caughtUp() {
	for _, f := range s.later {
		f()
	}
	s.later = nil
}

// push gives a live subscriber a notification.
func (s *Subscription) push(n *Notification) {
	if s.behind.Load() {
		return
	}
	if n.only != 0 && n.only != s.client {
		s.cursor = max(s.cursor, n.Seq)
		return
	}
	_, known := s.texts[n.ID]
	switch {
	case n.Delta != nil && !known:
		return // its item, which has this text, is about to be sent
	case n.again && known:
		s.cursor = max(s.cursor, n.Seq)
		return
	case n.again:
		n = s.w.notification(sessions.Entry{Kind: n.Kind, ID: n.ID, Seq: n.Seq, JSON: n.JSON})
	}
	if n.Delta != nil && s.every > 0 {
		s.hold(n)
		return
	}
	if n.Kind == sessions.KindItem && n.Delta == nil {
		if s.flush(n.ID); s.behind.Load() {
			return // it comes with the catch-up, after its text
		}
	}
	if s.give(n) {
		s.cursor = max(s.cursor, n.Seq)
	}
}

// give offers n to the sink and counts what the sink took; a full sink leaves the subscription behind.
func (s *Subscription) give(n *Notification) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if n.Kind == sessions.KindDiff {
		n = s.viewed(n)
	}
	if s.summary && n.Kind == sessions.KindDiff {
		n = summarise(n)
	}
	resumed := s.resumed.Load()
	if !s.sink(n) {
		s.fallBehind()
		if s.resumed.Load() != resumed { // Resume was called before the subscription was behind
			go s.Resume()
		}
		return false
	}
	switch {
	case n.Delta != nil:
		s.texts[n.ID] = n.Delta.Offset + len(n.Delta.Text)
	case n.Kind == sessions.KindItem:
		if t := s.w.texts[n.ID]; t != nil && !t.over(n.Seq) {
			s.texts[n.ID] = n.textLen
		} else {
			delete(s.texts, n.ID)
		}
	}
	return true
}

func (s *Subscription) fallBehind() {
	s.behind.Store(true)
	clear(s.held)
}

// hold keeps a delta back, joined to one that is already held.
func (s *Subscription) hold(n *Notification) {
	if h := s.held[n.ID]; h != nil && len(h.Delta.Text)+len(n.Delta.Text) > api.MaxDelta {
		if s.flush(n.ID); s.behind.Load() {
			return // it comes with the catch-up
		}
	} else if h != nil {
		d := *h.Delta
		d.Text += n.Delta.Text
		s.held[n.ID] = &Notification{Workspace: n.Workspace, Kind: n.Kind, ID: n.ID, Delta: &d}
		return
	}
	s.held[n.ID] = n
	if s.timing {
		return
	}
	s.timing = true
	s.timer = time.AfterFunc(s.every, func() {
		s.w.do(func() {
			s.timing = false
			for id := range s.held {
				s.flush(id)
			}
		})
	})
}

func (s *Subscription) flush(item string) {
	if h := s.held[item]; h != nil {
		delete(s.held, item)
		s.give(h)
	}
}

// summarise returns a diff's notification without the hunks.
func summarise(n *Notification) *Notification {
	var fields map[string]json.RawMessage
	if json.Unmarshal(n.JSON, &fields) != nil {
		return n
	}
	delete(fields, "hunks")
	return &Notification{Workspace: n.Workspace, Kind: n.Kind, ID: n.ID, Seq: n.Seq, JSON: wire.Encode(fields)}
}

package daemon

import (
	"encoding/json"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cursord/sessions"
)

// A Subscription feeds a Sink with one workspace's notifications. It is either live, and gets what is published, or
// behind, and goes on from its cursor when its owner calls Resume: a slow reader costs a read of the newest states,
// never a queue.
type Subscription struct {
	w       *workspace
	sink    Sink
	client  ClientID
	summary bool
	every   time.Duration // merge deltas of an item for this long

	behind   atomic.Bool
	resuming atomic.Bool

	mu     sync.Mutex // serialises the sink with Close
	closed bool       // guarded by mu

	// Owned by the loop.
	started  bool
	cursor   uint64           // everything up to here was taken by the sink, or is in snapshot
	snapshot []sessions.Entry // what is left of a bounded snapshot, by seq; JSON is empty until it is sent
	texts    map[string]int   // bytes sent of each text item that grows
	held     map[string]*Notification
	later    []func()    // what waits until nothing is missing
	timer    *time.Timer // for held
	timing   bool
}

// Bounds of a piece of a catch-up: what the loop may do for one subscriber before it serves others.
const (
	pieceEntries   = 256
	snapshotLatest = 20 // sessions in a snapshot that neither run nor wait
)

// Subscribe makes sink a subscriber of a workspace. reply comes first; then what changed since o.After, then live
// notifications.
func (d *Daemon) Subscribe(root string, o SubscribeOptions, sink Sink, reply func(Subscribed, error)) *Subscription {
	w, err := d.workspace(root)
	if err != nil {
		reply(Subscribed{}, err)
		return nil
	}
	const longest = math.MaxInt64 / int64(time.Millisecond)
	every := time.Duration(min(int64(o.DeltaIntervalMS), longest)) * time.Millisecond
	s := &Subscription{
		w: w, sink: sink, client: o.Client, summary: o.DiffSummaries, every: every,
		texts: map[string]int{}, held: map[string]*Notification{},
	}
	s.behind.Store(true)
	ok := w.do(func() {
		reset := o.After != nil && (*o.After > w.seq || o.Epoch != "" && o.Epoch != d.store.Epoch())
		start := func() {
			s.cursor = w.published
			var err error
			if reset || o.After == nil {
				s.snapshot, err = w.snapshot()
			} else {
				s.cursor = *o.After
			}
			if err != nil {
				reply(Subscribed{}, storeError(err))
				return
			}
			w.subs[s] = struct{}{}
			w.subscribers.Store(int32(len(w.subs)))
			reply(Subscribed{Workspace: w.root, Seq: w.published, Epoch: d.store.Epoch(), Reset: reset}, nil)
			s.started = true
			s.advance()
		}
		if reset || o.After == nil || !w.renumber(*o.After, start) {
			start()
		}
	})
	if !ok {
		reply(Subscribed{}, errStopped)
		return nil
	}
	return s
}

// renumber gives a new seq to the items whose text grew after a client saw them, so that they are among what changed
// since; then runs in the loop once that is stored. It returns false, without running then, where there are none.
func (w *workspace) renumber(after uint64, then func()) bool {
	var c commit
	for _, t := range w.texts {
		if t.announced && !t.ended && t.published > 0 && t.item.Seq <= after {
			item := *t.item
			w.put(&c, &item, nil)
			t.item = &item
		}
	}
	if len(c.ops) == 0 {
		return false
	}
	seq := w.seq
	c.notes = nil // those who are live have the text
	c.replies = append(c.replies, func(error) {
		w.published = max(w.published, seq)
		then()
	})
	w.submit(&c)
	return true
}

// Behind reports whether the subscription waits for Resume.
func (s *Subscription) Behind() bool { return s.behind.Load() }

// Resume goes on with a subscription that is behind, from the newest state of each object; the sink's owner calls it
// when there is room again. On one that is not behind it does nothing.
func (s *Subscription) Resume() {
	if !s.behind.Load() || s.resuming.Swap(true) {
		return
	}
	s.w.do(func() {
		s.resuming.Store(false)
		s.advance()
	})
}

// Close ends the subscription; the sink gets nothing after Close has returned.
func (s *Subscription) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	go s.w.do(func() {
		if s.timer != nil {
			s.timer.Stop()
		}
		delete(s.w.subs, s)
		s.w.subscribers.Store(int32(len(s.w.subs)))
		s.caughtUp()
	})
}

// afterAll runs f once a client has been given all that was published: at once, unless it is behind.
func (w *workspace) afterAll(client ClientID, f func()) {
	for s := range w.subs {
		if client != 0 && s.client == client && s.behind.Load() {
			s.later = append(s.later, f)
			return
		}
	}
	f()
}

// caughtUp runs what has waited for that.
func (s *Subscription) caughtUp() {
	for _, f := range s.later {
		f()
	}
	s.later = nil
}

// push gives a live subscriber what was published.
func (s *Subscription) push(n *Notification) {
	if s.behind.Load() {
		return
	}
	if n.only != 0 && n.only != s.client {
		s.cursor = max(s.cursor, n.Seq)
		return
	}
	if n.Delta != nil && s.every > 0 {
		s.hold(n)
		return
	}
	if n.Kind == sessions.KindItem && n.Delta == nil {
		if s.flush(n.ID); s.behind.Load() {
			return // it comes with the catch-up, behind its text
		}
	}
	if s.give(n) {
		s.cursor = max(s.cursor, n.Seq)
	}
}

// give offers n to the sink and keeps count of what it took; a full sink leaves the subscription behind.
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
	if !s.sink(n) {
		s.fallBehind()
		return false
	}
	switch {
	case n.Delta != nil:
		s.texts[n.ID] = n.Delta.Offset + len(n.Delta.Text)
	case n.Kind == sessions.KindItem:
		if t := s.w.texts[n.ID]; t != nil && !t.ended {
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

// advance catches up by one piece, and makes the subscription live when nothing is missing.
func (s *Subscription) advance() {
	if !s.behind.Load() || !s.started {
		return
	}
	w := s.w
	sent := false
	for n := 0; len(s.snapshot) > 0; n++ {
		if n == pieceEntries {
			if !sent { // nothing is on its way whose arrival would resume
				go s.Resume()
			}
			return
		}
		ref := s.snapshot[0]
		e, err := w.d.store.Entry(w.root, ref.Kind, ref.ID)
		// What has changed since comes with the changes behind the cursor.
		if err == nil && e.Seq <= s.cursor {
			if !s.give(w.notification(e)) {
				return
			}
			sent = true
		}
		s.snapshot = s.snapshot[1:]
	}
	entries, err := w.d.store.Changes(w.root, s.cursor, pieceEntries)
	if err != nil {
		w.log.Error("catch-up failed", "err", err)
		return
	}
	for _, e := range entries {
		if e.Seq > w.published {
			break // on its way to the live subscribers
		}
		n := w.notification(e)
		if !s.fill(n) || !s.give(n) {
			return
		}
		s.cursor = e.Seq
	}
	if len(entries) > 0 && entries[len(entries)-1].Seq < w.published && w.more(s.cursor) {
		return
	}
	// Text that grew while the pieces were sent.
	for id, t := range w.texts {
		sent, known := s.texts[id]
		if known && t.published > sent {
			for n := range t.deltas(w.root, sent, t.published) {
				if !s.give(n) {
					return
				}
			}
		}
	}
	s.behind.Store(false)
	s.caughtUp()
}

// fill gives, ahead of an item in a catch-up, the text of it that the client does not have yet: what it has been told
// of an item always adds up.
func (s *Subscription) fill(n *Notification) bool {
	sent, known := s.texts[n.ID]
	if n.Kind != sessions.KindItem || !known {
		return true
	}
	var item sessions.Item
	if decode(n.JSON, &item) != nil || len(item.Text) <= sent {
		return true
	}
	t := liveText{item: &item, text: []byte(item.Text)}
	for n := range t.deltas(s.w.root, sent, len(t.text)) {
		if !s.give(n) {
			return false
		}
	}
	return true
}

// forget makes subscribers take an item as new: what they were told of its text does not count any more.
func (w *workspace) forget(item string) {
	for s := range w.subs {
		delete(s.texts, item)
	}
}

// more reports whether anything published lies behind the cursor.
func (w *workspace) more(cursor uint64) bool {
	e, err := w.d.store.Changes(w.root, cursor, 1)
	return err == nil && len(e) > 0 && e[0].Seq <= w.published
}

// notification tells a stored entry; an item that grows has all text sent so far.
func (w *workspace) notification(e sessions.Entry) *Notification {
	n := &Notification{Workspace: w.root, Kind: e.Kind, ID: e.ID, Seq: e.Seq, JSON: e.JSON, Removed: e.Removed}
	if t := w.texts[e.ID]; e.Kind == sessions.KindItem && t != nil && t.announced && t.published > 0 {
		item := *t.item
		item.Text = string(t.text[:t.published])
		n.JSON, n.textLen = encode(&item), t.published
	}
	return n
}

// snapshot lists a bounded picture of the present, in seq order: sessions that run or wait and the latest others,
// their last turn, the items of running turns, and pending diffs.
func (w *workspace) snapshot() ([]sessions.Entry, error) {
	var refs []sessions.Entry
	add := func(o sessions.Object) {
		if o.Sequence() <= w.published {
			kind, id := o.Key()
			refs = append(refs, sessions.Entry{Kind: kind, ID: id, Seq: o.Sequence()})
		}
	}
	latest, _, err := w.d.store.Sessions(w.root, "", snapshotLatest)
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	for _, s := range latest {
		listed[s.ID] = true
	}
	for id := range w.sessions {
		if listed[id] {
			continue
		}
		if s, err := w.d.store.Session(id); err == nil {
			latest = append(latest, s)
		}
	}
	for _, s := range latest {
		add(s)
		t, err := w.d.store.LastTurn(s.ID)
		if err != nil {
			continue
		}
		add(t)
	}
	for id, t := range w.turns {
		if t.status() == sessions.TurnQueued {
			continue
		}
		turn, err := w.d.store.Turn(id)
		if err != nil {
			continue // on its way to the disk: it will come live
		}
		if !slices.ContainsFunc(refs, func(e sessions.Entry) bool { return e.Kind == sessions.KindTurn && e.ID == id }) {
			add(turn)
		}
		items, err := w.d.store.TurnItems(id)
		if err != nil {
			return nil, err
		}
		for _, e := range items {
			refs = append(refs, sessions.Entry{Kind: e.Kind, ID: e.ID, Seq: e.Seq})
		}
	}
	diffs, err := w.d.store.PendingDiffs(w.root)
	if err != nil {
		return nil, err
	}
	for _, d := range diffs {
		add(d)
	}
	slices.SortFunc(refs, func(a, b sessions.Entry) int {
		switch {
		case a.Seq < b.Seq:
			return -1
		case a.Seq > b.Seq:
			return 1
		}
		return 0
	})
	return refs, nil
}

// hold keeps a delta back and adds to the one that is held already.
func (s *Subscription) hold(n *Notification) {
	if h := s.held[n.ID]; h != nil && len(h.Delta.Text)+len(n.Delta.Text) > MaxDelta {
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

// summarise returns a diff's notification without its hunks.
func summarise(n *Notification) *Notification {
	var fields map[string]json.RawMessage
	if json.Unmarshal(n.JSON, &fields) != nil {
		return n
	}
	delete(fields, "hunks")
	return &Notification{Workspace: n.Workspace, Kind: n.Kind, ID: n.ID, Seq: n.Seq, JSON: encode(fields)}
}

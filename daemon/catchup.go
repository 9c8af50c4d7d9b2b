package daemon

import (
	"encoding/json"
	"slices"
	"time"

	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// Bounds of a piece of a catch-up: how much the loop does for one subscriber before it serves others.
const (
	pieceEntries   = 256
	snapshotLatest = 20          // idle sessions in a snapshot
	catchUpAgain   = time.Second // the pause after the store could not be read
)

// advance catches up by one piece, and makes the subscription live once nothing is missing.
func (s *Subscription) advance() {
	if !s.behind.Load() || !s.started {
		return
	}
	w := s.w
	sent := false
	for n := 0; len(s.snapshot) > 0; n++ {
		if n == pieceEntries {
			if !sent { // nothing is under way that would call Resume
				go s.Resume()
			}
			return
		}
		ref := s.snapshot[0]
		e, err := w.d.store.Entry(w.root, ref.Kind, ref.ID)
		// An object that has changed since comes with the changes after the cursor.
		if err == nil && e.Seq <= s.cursor && !w.renewed(e) {
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
		time.AfterFunc(catchUpAgain, s.Resume)
		return
	}
	for _, e := range entries {
		if e.Seq > w.published {
			break // the live subscribers are about to get it
		}
		if !w.renewed(e) {
			n := w.notification(e)
			if !s.fill(n) || !s.give(n) {
				return
			}
			sent = true
		}
		s.cursor = e.Seq
	}
	if len(entries) > 0 && entries[len(entries)-1].Seq < w.published && w.more(s.cursor) {
		if !sent {
			go s.Resume()
		}
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

// fill sends the client the text of an item that it lacks, before the item itself: everything that it gets of an item adds
// up.
func (s *Subscription) fill(n *Notification) bool {
	sent, known := s.texts[n.ID]
	if n.Kind != sessions.KindItem || !known {
		return true
	}
	var item sessions.Item
	if json.Unmarshal(n.JSON, &item) != nil || len(item.Text) <= sent {
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

// resetText makes subscribers that are behind take an item as new: the text that they have of it no longer counts.
func (w *workspace) resetText(item string) {
	for s := range w.subs {
		if s.behind.Load() {
			delete(s.texts, item)
		}
	}
}

// dropHeld drops a held text that was withdrawn.
func (w *workspace) dropHeld(item string) {
	for s := range w.subs {
		delete(s.held, item)
	}
}

// renewed reports whether e is a withdrawn text whose newer form is about to be published.
func (w *workspace) renewed(e sessions.Entry) bool {
	t := w.texts[e.ID]
	return e.Kind == sessions.KindItem && t != nil && !t.announced && e.Seq < t.item.Seq
}

// more reports whether anything was published after the cursor.
func (w *workspace) more(cursor uint64) bool {
	e, err := w.d.store.Changes(w.root, cursor, 1)
	return err == nil && len(e) > 0 && e[0].Seq <= w.published
}

// notification returns a stored entry as a notification; a growing item has all text sent so far.
func (w *workspace) notification(e sessions.Entry) *Notification {
	n := &Notification{Workspace: w.root, Kind: e.Kind, ID: e.ID, Seq: e.Seq, JSON: e.JSON, Removed: e.Removed}
	if item := w.texts[e.ID].sent(); e.Kind == sessions.KindItem && item != nil {
		n.JSON, n.textLen = wire.Encode(item), len(item.Text)
	}
	return n
}

// snapshot lists the present in seq order, within bounds: sessions that run or wait and the latest others, their last turns,
// the items of running turns, pending approvals and pending diffs.
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
			continue // it is about to be stored, and will come live
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
	for _, q := range w.questions {
		add(q.approval)
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

// renumber gives a new seq to the items whose text grew after a client saw them, so that they are among its changes. then
// runs in the loop once that is stored, or has failed. If there are none, renumber returns false and does not call then.
func (w *workspace) renumber(after uint64, then func(error)) bool {
	var grown []*liveText
	for _, t := range w.texts {
		pending := t.item.Seq > w.published // it is about to get another seq
		if t.announced && !t.ended && t.published > 0 && (t.item.Seq <= after || pending) {
			grown = append(grown, t)
		}
	}
	if len(grown) == 0 {
		return false
	}
	if err := w.d.store.Trouble(); err != nil {
		then(err)
		return true
	}
	var c commit
	for _, t := range grown {
		item := *t.item
		w.put(&c, &item, nil)
		t.item = &item
		c.notes[len(c.notes)-1].again = true
	}
	gaveUp := false
	c.replies = append(c.replies, func(err error) {
		if gaveUp = err != nil; gaveUp {
			then(err)
		}
	})
	c.after = append(c.after, func() {
		if !gaveUp {
			then(nil)
		}
	})
	w.submit(&c)
	return true
}

// knows notes which items without text the client knows, because those are not sent again.
func (s *Subscription) knows(after uint64) {
	for id, t := range s.w.texts {
		if t.announced && t.published == 0 && t.item.Seq <= after {
			s.texts[id] = 0
		}
	}
}

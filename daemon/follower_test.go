package daemon

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// A follower is a client with room for a few notifications. It reads at random moments.
type follower struct {
	f       *feed
	rng     *rand.Rand
	room    int
	options SubscribeOptions
	sub     *Subscription

	mu    sync.Mutex
	queue []any // guarded by mu; *Notification and api.Subscribed; the notifications of a subscription follow its api.Subscribed

	// The client's state.
	epoch string
	seq   uint64
	whole bool // whether it has been sent all objects
	have  map[string]*had
	fresh map[string]bool // text items that were sent in this subscription
}

// had is the follower's copy of an object.
type had struct {
	kind sessions.Kind
	id   string
	seq  uint64
	json []byte
	text string
	over bool
}

func newFollower(f *feed, rng *rand.Rand) *follower {
	r := &follower{f: f, rng: rng, room: 1 + rng.IntN(30), have: map[string]*had{}}
	if rng.IntN(3) == 0 {
		r.options.DeltaIntervalMS = 1 + rng.IntN(5)
	}
	r.options.DiffSummaries = rng.IntN(3) == 0
	return r
}

func (r *follower) sink() Sink {
	return func(n *Notification) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.queue) >= r.room {
			return false
		}
		r.queue = append(r.queue, n)
		return true
	}
}

// subscribes begins a subscription, which replaces an earlier one.
func (r *follower) subscribes() {
	if r.sub != nil {
		r.sub.Close()
	}
	o := r.options
	switch k := r.rng.IntN(6); {
	case r.epoch == "" && k < 2:
		zero := uint64(0)
		o.After = &zero
	case r.epoch != "" && k < 5:
		seq := r.seq
		o.After, o.Epoch = &seq, r.epoch
	case k == 5:
		o.After, o.Epoch = new(uint64), "another"
	}
	answered := make(chan struct{})
	r.sub = r.f.w.d.Subscribe(r.f.w.root, o, r.sink(), func(a api.Subscribed, err error) {
		if err != nil {
			r.f.t.Errorf("subscribe: %v", err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.queue = append(r.queue, begun{a, o.After})
		close(answered)
	})
	<-answered
}

type begun struct {
	api.Subscribed
	after *uint64
}

// reads subscribes and reads, at random, until the end.
func (r *follower) reads() {
	r.f.waits(r.rng.IntN(60))
	r.subscribes()
	for {
		over := r.f.waits(r.rng.IntN(4))
		switch k := r.rng.IntN(60); {
		case over:
		case k == 0:
			r.subscribes()
			continue
		case k == 1:
			r.f.waits(r.rng.IntN(60))
			continue
		case k == 2:
			r.drains()
			r.sub.Close()
			r.f.waits(r.rng.IntN(40))
			r.subscribes()
			continue
		}
		if over {
			<-r.f.settled
		}
		r.drains()
		if over && r.done() {
			r.sub.Close()
			return
		}
	}
}

// drains reads some waiting messages, or all.
func (r *follower) drains() {
	most := r.rng.IntN(2 * r.room)
	for {
		r.mu.Lock()
		if len(r.queue) == 0 || most == 0 {
			r.mu.Unlock()
			break
		}
		m := r.queue[0]
		r.queue = r.queue[1:]
		r.mu.Unlock()
		most--
		if why := r.takes(m); why != "" {
			r.f.t.Errorf("%s: %s", why, inWords(m))
		}
	}
	r.sub.Resume()
}

// done reports whether all messages have come.
func (r *follower) done() (done bool) {
	r.f.w.in(r.f.t, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		done = len(r.queue) == 0 && !r.sub.Behind() && len(r.sub.held) == 0
	})
	return done || r.f.t.Failed()
}

// takes adds a message to the follower's copy, and returns an error text if it does not fit.
func (r *follower) takes(m any) string {
	if b, ok := m.(begun); ok {
		r.fresh = map[string]bool{}
		if r.epoch = b.Epoch; b.after == nil || b.Reset {
			r.have, r.whole, r.seq = map[string]*had{}, false, 0
		} else {
			r.whole = r.whole || *b.after == 0
			r.seq = *b.after
		}
		return ""
	}
	n := m.(*Notification)
	key := string(n.Kind) + " " + n.ID
	h := r.have[key]
	if d := n.Delta; d != nil {
		switch {
		case h == nil:
			return "a delta before its item"
		case h.over:
			return "a delta behind its item's end"
		case d.Offset != len(h.text):
			return fmt.Sprintf("a delta not at %d", len(h.text))
		case !r.fresh[key] && h.text != "":
			return "a delta ahead of its item in a catch-up"
		}
		h.text += d.Text
		return counts(h.text)
	}
	if n.Seq <= r.seq {
		return fmt.Sprintf("a seq behind %d", r.seq)
	}
	r.seq = n.Seq
	if n.Removed {
		delete(r.have, key)
		return ""
	}
	now := &had{kind: n.Kind, id: n.ID, seq: n.Seq, json: n.JSON}
	r.have[key] = now
	var item sessions.Item
	if n.Kind != sessions.KindItem {
		return ""
	}
	if err := json.Unmarshal(n.JSON, &item); err != nil {
		return err.Error()
	}
	if item.Kind != sessions.ItemAssistant && item.Kind != sessions.ItemThinking {
		return ""
	}
	now.text, now.over = item.Text, item.Status != sessions.ItemRunning
	first := !r.fresh[key]
	r.fresh[key] = true
	switch anew := h == nil || h.text == "" || !strings.HasPrefix(now.text, h.text[:strings.IndexByte(h.text, ',')+1]); {
	case !first && h != nil && h.over && item.Text != "":
		return "a text that has ended is sent again"
	case first && h != nil && !anew && !strings.HasPrefix(now.text, h.text):
		return fmt.Sprintf("a text that does not go on %q", h.text)
	case !first && !anew && now.text != h.text:
		return fmt.Sprintf("a text that is not its deltas' %q", h.text)
	case !first && h != nil && h.text == "" && now.text != "" && h.json == nil:
		return "text without deltas"
	}
	return counts(now.text)
}

func inWords(m any) string {
	n, ok := m.(*Notification)
	switch {
	case !ok:
		return fmt.Sprint(m)
	case n.Delta != nil:
		return fmt.Sprintf("%s+%d %s", n.ID, n.Delta.Offset, n.Delta.Text)
	}
	return fmt.Sprintf("%d %s", n.Seq, n.JSON)
}

// counts checks that a text consists of consecutive numbers, and returns an error text if not.
func counts(text string) string {
	at := 0
	for n, word := range strings.Split(strings.TrimSuffix(text, ","), ",") {
		var number int
		if _, err := fmt.Sscan(word, &number); text != "" && (err != nil || n > 0 && number != at+1) {
			return "not in turn: " + text
		}
		at = number
	}
	return ""
}

// compares compares the follower's copy with the store.
func (r *follower) compares() {
	t, w := r.f.t, r.f.w
	t.Helper()
	want := map[string]*had{}
	for after := uint64(0); ; {
		entries, err := w.d.store.Changes(w.root, after, 1000)
		require.NoError(t, err)
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			after = e.Seq
			if !e.Removed {
				want[string(e.Kind)+" "+e.ID] = &had{seq: e.Seq, json: e.JSON}
			}
		}
	}
	if r.whole {
		require.ElementsMatch(t, keysOf(want), keysOf(r.have))
	}
	for key, h := range r.have {
		require.NotNil(t, want[key], "%s is not there any more", key)
		n := &Notification{Kind: h.kind, JSON: want[key].json}
		if r.options.DiffSummaries && h.kind == sessions.KindDiff {
			n = summarise(n)
		}
		require.Equal(t, string(n.JSON), string(h.json), "%s, seq %d", key, h.seq)
		require.Equal(t, want[key].seq, h.seq, key)
		require.True(t, h.kind != sessions.KindItem || h.text == "" || h.over, "%s has not ended", key)
	}
}

func keysOf(m map[string]*had) (keys []string) {
	for key := range maps.Keys(m) {
		keys = append(keys, key)
	}
	return keys
}

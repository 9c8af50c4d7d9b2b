package daemon

import (
	"encoding/json"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestNothingIsSentAcrossAGap: a client is full for a moment when held text is due. The item behind that text must wait for
// it.
func TestNothingIsSentAcrossAGap(t *testing.T) {
	full := true
	var sent []*Notification
	s := &Subscription{
		w:     &workspace{texts: map[string]*liveText{}},
		every: time.Hour,
		texts: map[string]int{"i": 0}, held: map[string]*Notification{},
		sink: func(n *Notification) bool {
			if full {
				full = false
				return false
			}
			sent = append(sent, n)
			return true
		},
	}
	s.push(&Notification{Kind: sessions.KindItem, ID: "i", Delta: &Delta{ItemID: "i", Text: "text"}})
	s.push(&Notification{Kind: sessions.KindItem, ID: "i", Seq: 7})
	require.Empty(t, sent)
	require.True(t, s.Behind())
	require.Zero(t, s.cursor)
	s.timer.Stop()
}

// A notebook is a client that keeps all its notifications.
type notebook struct {
	mu   sync.Mutex
	sent []*Notification // guarded by mu
	full func() bool     // called in the loop; nil means never full
}

func (b *notebook) take(n *Notification) bool {
	if b.full != nil && b.full() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = append(b.sent, n)
	return true
}

// subscribes returns once the answer has come.
func (b *notebook) subscribes(t *testing.T, w *workspace, o SubscribeOptions) (*Subscription, api.Subscribed) {
	t.Helper()
	answer := make(chan api.Subscribed, 1)
	s := w.d.Subscribe(w.root, o, b.take, func(a api.Subscribed, err error) {
		if err != nil {
			t.Errorf("subscribe: %v", err)
		}
		answer <- a
	})
	select {
	case a := <-answer:
		return s, a
	case <-time.After(patience):
		t.Fatal("no answer to subscribe")
	}
	return nil, api.Subscribed{}
}

// text returns the client's text of an item, as deltas and changes make it, and fails where they do not fit together.
func (b *notebook) text(t *testing.T, id string) (text string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	known := false
	for _, n := range b.sent {
		switch {
		case n.ID != id || n.Kind != sessions.KindItem:
		case n.Delta != nil:
			require.True(t, known, "a delta before its item: %q", n.Delta.Text)
			require.Equal(t, len(text), n.Delta.Offset)
			text += n.Delta.Text
		default:
			var item sessions.Item
			require.NoError(t, json.Unmarshal(n.JSON, &item))
			require.True(t, !known || strings.HasPrefix(item.Text, text) || !strings.HasPrefix(item.Text, text[:1]),
				"%q goes on as %q", text, item.Text)
			known, text = true, item.Text
		}
	}
	return text
}

// seqs lists the seqs of the client's notifications.
func (b *notebook) seqs() (seqs []uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.sent {
		if n.Delta == nil {
			seqs = append(seqs, n.Seq)
		}
	}
	return seqs
}

// growing returns a turn whose agent has said "one ", and the published item with that text.
func (w *workspace) growing(t *testing.T) (turn *liveTurn, item string) {
	t.Helper()
	turn = w.aTurn(t)
	w.says(turn, agent.Text{Text: "one "})
	w.settled(t)
	return turn, sessions.ItemID(turn.turn.ID, 0)
}

func (w *workspace) lastSeq(t *testing.T) (seq uint64) {
	t.Helper()
	w.in(t, func() { seq = w.published })
	return seq
}

// TestNoDeltaBeforeItsItem: a client catches up just when an item has got another seq on the disk, because of another
// client, and that seq is not published yet. The client gets the item before its deltas.
func TestNoDeltaBeforeItsItem(t *testing.T) {
	w := openSpace(t, nil)
	turn, item := w.growing(t)
	var b notebook
	after := w.lastSeq(t)
	w.in(t, func() {
		ahead := w.seq
		require.True(t, w.renumber(after, func(error) {}))
		require.Eventually(t, func() bool {
			e, err := w.d.store.Entry(w.root, sessions.KindItem, item)
			return err == nil && e.Seq > ahead
		}, patience, time.Millisecond)
		s := &Subscription{w: w, sink: b.take, texts: map[string]int{}, held: map[string]*Notification{}}
		s.behind.Store(true)
		w.subs[s], s.started = struct{}{}, true
		s.advance()
		require.False(t, s.Behind())
	})
	w.says(turn, agent.Text{Text: "two "})
	w.settled(t)
	require.Equal(t, "one two ", b.text(t, item))
	w.ends(turn)
	w.settled(t)
	require.Equal(t, "one two ", b.text(t, item))
}

// TestRoomAtTheMomentOfFallingBehind makes room for a client just when it was found full: the subscription must go on.
func TestRoomAtTheMomentOfFallingBehind(t *testing.T) {
	w := openSpace(t, nil)
	turn, item := w.growing(t)
	full := false
	var s *Subscription
	b := notebook{full: func() bool {
		if !full {
			return false
		}
		full = false
		s.Resume() // as a connection does once it has written everything
		return true
	}}
	s, _ = b.subscribes(t, w, SubscribeOptions{})
	w.in(t, func() { full = true })
	w.says(turn, agent.Text{Text: "two "})
	require.Eventually(t, func() bool { return b.text(t, item) == "one two " }, patience, time.Millisecond)
}

// TestCatchUpWhileNothingCanBeStored: clients come back in the middle of a text whose item can get no new seq. They begin
// anew, and get the whole text.
func TestCatchUpWhileNothingCanBeStored(t *testing.T) {
	var gate commitGate
	w := openSpace(t, gate.commit)
	turn, item := w.growing(t)
	after := w.lastSeq(t)
	open := gate.close()
	w.says(turn, agent.Text{Text: "two "})
	begun := make(chan struct{})
	var late, later notebook
	go func() {
		defer close(begun)
		_, a := late.subscribes(t, w, SubscribeOptions{After: &after})
		assert.True(t, a.Reset)
		assert.Equal(t, after, a.Seq, "a seq that is on the disk")
	}()
	require.Eventually(t, func() bool { return w.d.store.Backlog() > 0 }, patience, time.Millisecond)
	broken := error(syscall.EIO)
	gate.fail.Store(&broken)
	open()
	<-begun
	require.Error(t, w.d.store.Trouble())
	_, a := later.subscribes(t, w, SubscribeOptions{After: &after})
	require.True(t, a.Reset)
	require.Equal(t, after, a.Seq)
	w.says(turn, agent.Text{Text: "three"})
	for _, b := range []*notebook{&late, &later} {
		require.Eventually(t, func() bool { return b.text(t, item) == "one two three" }, patience, time.Millisecond)
	}
	gate.fail.Store(nil)
	w.ends(turn)
	w.settled(t)
	for _, b := range []*notebook{&late, &later} {
		require.Equal(t, "one two three", b.text(t, item))
		require.IsIncreasing(t, b.seqs())
	}
}

// TestWithdrawnTextIsNotSent: a client falls behind when text that was held for it has been withdrawn. It must not get later
// text as a continuation of the withdrawn one.
func TestWithdrawnTextIsNotSent(t *testing.T) {
	w := openSpace(t, nil)
	turn, item := w.growing(t)
	offered, refuse := 0, 0
	b := notebook{full: func() bool {
		offered++
		return offered == refuse
	}}
	s, _ := b.subscribes(t, w, SubscribeOptions{DeltaIntervalMS: 1e9})
	for refused := range 3 {
		w.says(turn, agent.Text{Text: "two "})
		w.in(t, func() { offered, refuse = 0, refused+1 })
		w.says(turn, agent.Withdraw{})
		w.settled(t)
		w.says(turn, agent.Text{Text: "the same, in other words"})
		w.settled(t)
		w.in(t, func() { refuse = 0 })
		s.Resume()
		w.says(turn, agent.Withdraw{}, agent.Text{Text: "one "})
		w.settled(t)
	}
	w.ends(turn)
	w.settled(t)
	require.Equal(t, "one ", b.text(t, item))
}

// TestHeldTextGoesAheadOfItsEnd: the agent withdraws a text whose end is about to be published. The held part is sent before
// that end, which has the whole text.
func TestHeldTextGoesAheadOfItsEnd(t *testing.T) {
	w := openSpace(t, nil)
	turn, item := w.growing(t)
	var b notebook
	b.subscribes(t, w, SubscribeOptions{DeltaIntervalMS: 1e9})
	w.settled(t)
	w.says(turn, agent.Text{Text: "two "})
	w.says(turn, agent.Thinking{Text: "no"}, agent.Withdraw{})
	w.settled(t)
	require.Equal(t, "", b.text(t, item))
	text := ""
	for _, n := range b.sent {
		var now sessions.Item
		switch {
		case n.ID != item || n.Kind != sessions.KindItem:
		case n.Delta != nil:
			text += n.Delta.Text
		default:
			require.NoError(t, json.Unmarshal(n.JSON, &now))
			require.Contains(t, []string{text, "one ", ""}, now.Text)
			text = now.Text
		}
	}
	w.ends(turn)
	w.settled(t)
}

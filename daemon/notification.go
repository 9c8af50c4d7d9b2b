package daemon

import (
	"iter"
	"sync"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/sessions"
)

// A Notification is one thing that a subscriber is sent: the new state of an object, or, where Delta is set, text
// to append. It is shared by all subscribers and must not be changed.
type Notification struct {
	Workspace string
	Kind      sessions.Kind // of the object; sessions.KindItem for a delta
	ID        string        // the object's id; a diff's is its path
	Seq       uint64        // 0 for a delta
	JSON      []byte        // the object's encoding; nil when Removed and for a delta
	Removed   bool          // the object, always a session, was deleted
	Delta     *Delta

	only      api.ClientID // if not 0, nothing has happened for others
	again     bool         // the same item under another seq: for those who do not know it
	textLen   int          // of a growing item in a catch-up: the bytes of text that JSON has
	published func()       // called by the loop once the subscribers have it, before the next one; may be nil

	once  sync.Once
	frame []byte
}

// MaxDelta is the most text in a Delta, in bytes.
const MaxDelta = 256 << 10

// DeltaParts yields what text has from an offset on, in parts of at most MaxDelta that end between characters, each with
// its offset.
func DeltaParts[T string | []byte](text T, from int) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for from < len(text) {
			end := min(from+MaxDelta, len(text))
			for end < len(text) && !utf8.RuneStart(text[end]) {
				end--
			}
			if !yield(from, text[from:end]) {
				return
			}
			from = end
		}
	}
}

// A Delta is text to append to an item.
type Delta struct {
	SessionID, TurnID, ItemID string
	Kind                      sessions.ItemKind
	Offset                    int // bytes of UTF-8 that the item's text has before Text
	Text                      string
}

// Encoded returns encode(n), called once for all subscribers of n; there is one wire encoding.
func (n *Notification) Encoded(encode func(*Notification) []byte) []byte {
	n.once.Do(func() { n.frame = encode(n) })
	return n.frame
}

// A Sink takes the notifications of one subscription, in order, from the workspace's loop: it must not block.
// It returns false when it is full; n is then not taken, and the subscription is behind until Resume.
type Sink func(n *Notification) bool

// SubscribeOptions are the parameters of workspace/subscribe.
type SubscribeOptions struct {
	After           *uint64      // nil: a bounded snapshot of the present
	Epoch           string       // the store that After is from, if the client knows
	DeltaIntervalMS int          // merge deltas to at most one an interval and item; 0: at once
	DiffSummaries   bool         // leave hunks out of diffs
	Client          api.ClientID // sees the files that it holds unsaved as they are there
}

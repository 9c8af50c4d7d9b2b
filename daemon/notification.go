package daemon

import (
	"sync"

	"cursord/daemon/api"
	"cursord/sessions"
)

// A Notification is sent to subscribers: the new state of an object or, if Delta is set, text to append. All subscribers
// share it, and nobody may change it.
type Notification struct {
	Workspace string
	Kind      sessions.Kind // of the object; sessions.KindItem for a delta
	ID        string        // the object's id; a diff's is its path
	Seq       uint64        // 0 for a delta
	JSON      []byte        // the object's encoding; nil when Removed and for a delta
	Removed   bool          // the object, a session or a turn, was deleted
	Delta     *Delta

	only      api.ClientID // if not 0, only this client gets it
	stored    bool         // JSON is in the store once the commit is; a newer form has a notification of its own
	again     bool         // the item is unchanged but has a new seq: it is for those who do not know it
	textLen   int          // for a growing item in a catch-up: how many bytes of text JSON has
	published func()       // called by the loop once subscribers have it, before the next one; may be nil

	once  sync.Once
	frame []byte
}

// A Delta is text to append to an item.
type Delta struct {
	SessionID, TurnID, ItemID string
	Kind                      sessions.ItemKind
	Offset                    int // how many bytes of UTF-8 the item's text has before Text
	Text                      string
}

// Encoded returns encode(n), which it calls once for all subscribers of n.
func (n *Notification) Encoded(encode func(*Notification) []byte) []byte {
	n.once.Do(func() { n.frame = encode(n) })
	return n.frame
}

// A Sink takes the notifications of one subscription, in order, from the workspace's loop; it must not block. It returns
// false if it is full: it has then not taken n, and the subscription is behind until Resume.
type Sink func(n *Notification) bool

// SubscribeOptions are the parameters of workspace/subscribe.
type SubscribeOptions struct {
	After           *uint64      // nil: a bounded snapshot of the present
	Epoch           string       // the store that After belongs to, if the client knows
	DeltaIntervalMS int          // send at most one delta per interval and item; 0: send at once
	DiffSummaries   bool         // send diffs without hunks
	Client          api.ClientID // the client, which sees files as it holds them unsaved
}

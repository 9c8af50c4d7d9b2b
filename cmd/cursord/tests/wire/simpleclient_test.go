//go:build unix

package wire

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

// A simpleClient keeps a map of items by the two rules at the beginning of rpc/PROTOCOL.md, and by nothing else.
type simpleClient struct {
	w     *world.World
	items map[string]*sessions.Item
	seq   uint64
	epoch string
	ended bool // whether its turn has ended
}

// follows subscribes from the client's seq, takes up to most notifications, fewer at the turn's end, and drops the
// connection with everything on its way.
func (c *simpleClient) follows(turn string, most int) {
	c.w.T.Helper()
	e := c.w.Joins()
	params := world.Obj{"workspace": c.w.Root}
	if c.epoch != "" {
		params["after"], params["epoch"] = c.seq, c.epoch
	}
	for _, item := range c.items {
		if item.Status == sessions.ItemRunning {
			item.Text = ""
		}
	}
	var subscribed struct{ Epoch string }
	e.Must("workspace/subscribe", params, &subscribed)
	c.epoch = subscribed.Epoch
	taken := 0
	e.Until("the end, or enough", func(n world.Notification) bool {
		if taken++; taken > most || c.ended {
			return true
		}
		c.seq = max(c.seq, n.Seq)
		switch n.Method {
		case "item/changed":
			item := *n.Item
			c.items[item.ID] = &item
		case "item/delta":
			item := c.items[n.ItemID]
			require.NotNil(c.w.T, item, "a delta of an item that is not known")
			require.Equal(c.w.T, len(item.Text), n.Offset, "the offset of a delta")
			item.Text += n.Text
		case "turn/changed":
			c.ended = n.Turn.ID == turn && n.Turn.Status.Final()
		}
		return c.ended
	})
	require.NoError(c.w.T, e.Client.Close())
}

// is compares the client's map with the daemon's stored session.
func (c *simpleClient) is(session string) {
	c.w.T.Helper()
	var stored struct{ Items []*sessions.Item }
	c.w.Joins().Must("session/read", world.Obj{"sessionId": session}, &stored)
	require.NotEmpty(c.w.T, stored.Items)
	for _, item := range stored.Items {
		require.Contains(c.w.T, c.items, item.ID)
		require.Equal(c.w.T, item.Text, c.items[item.ID].Text)
		require.Equal(c.w.T, item.Status, c.items[item.ID].Status)
	}
}

// TestASimpleClientMissesNothing loses its connection over and over while an agent thinks and talks; with odd seeds the
// daemon is killed too. A client that keeps the two rules ends with the daemon's state.
func TestASimpleClientMissesNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			w := world.New(t)
			crashes, words := seed%2 == 1, 120
			if crashes {
				words = 6000 // the kill comes before the end
			}
			var script []string
			for i := range words {
				said := fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"wörd %d "}]},"timestamp_ms":%d}`, i, i+1)
				if i/20%2 == 0 {
					said = fmt.Sprintf(`{"type":"thinking","subtype":"delta","text":"thöught %d ","timestamp_ms":%d}`, i, i+1)
				}
				script = append(script, said, `{"fake":"sleep","ms":2}`)
			}
			w.Plays(append(script, world.Done)...)
			w.Start()
			e := w.Joins()
			e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": true}, nil)
			var begun rpc.TurnStartResult
			e.Must("turn/start", world.Obj{"workspace": w.Root, "prompt": "talk"}, &begun)
			c := &simpleClient{w: w, items: map[string]*sessions.Item{}}
			for range 12 {
				if !c.ended {
					c.follows(begun.Turn.ID, 1+random.IntN(8))
				}
			}
			if crashes {
				w.Kill()
				w.Start()
			}
			if !c.ended {
				c.follows(begun.Turn.ID, 1<<30)
			}
			c.is(begun.Session.ID)
		})
	}
}

//go:build unix

package wire

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestSubscriptions replaces a subscription, gets summaries of diffs, and ends it.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	watcher := w.Joins()
	watcher.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "diffs": "summary"}, nil)
	watcher.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "diffs": "summary"}, nil)
	w.Plays(world.Talk()...)
	w.Put("made.txt", "before\n")
	turn := e.Turn(nil)
	watcher.Ends(turn.ID)
	count := 0
	for _, n := range watcher.All() {
		if n.Turn != nil && n.Turn.Status.Final() {
			count++
		}
		if n.Diff != nil {
			require.Nil(t, n.Diff.Hunks)
			require.Equal(t, 1, n.Diff.Added)
		}
	}
	require.Equal(t, 1, count, "a subscription replaces the one before")
	watcher.Must("workspace/unsubscribe", world.Obj{"workspace": w.Root}, nil)
	seen := len(watcher.All())
	w.Plays(world.Talk()...)
	e.Turn(nil)
	watcher.Must("daemon/status", world.Obj{}, nil)
	require.Len(t, watcher.All(), seen)
	for _, params := range []world.Obj{{"workspace": w.Root, "after": -1}, {"workspace": w.Root, "deltaInterval": -1}, {"workspace": w.Root, "diffs": "some"}, {}} {
		require.Equal(t, -32602, watcher.Fails("workspace/subscribe", params).Code)
	}
}

// TestSubscribeAtTheStart subscribes while a turn is being stored.
func TestSubscribeAtTheStart(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	for i := range 30 {
		id := fmt.Sprintf("turn-%d", i)
		c := dialWire(w)
		c.send(world.Request(1, "turn/start", world.Obj{"workspace": w.Root, "prompt": "x", "turnId": id}),
			world.Request(2, "workspace/subscribe", world.Obj{"workspace": w.Root}), world.Request(3, "turn/wait", world.Obj{"turnId": id}))
		for _, m := range c.until(answers(3)) {
			require.Nil(t, m.Error)
		}
		c.conn.Close()
		e.Ends(id)
	}
}

// TestLargeTextComesInParts: an agent's line is longer than the longest delta, as the first of its item and later. A client
// gets it in parts, with and without an interval of deltas.
func TestLargeTextComesInParts(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Huge = true
	w.Start()
	first, second := "a"+strings.Repeat("ö€😀", 80_000), strings.Repeat("😀€ö", 60_000)
	for name, interval := range map[string]int{"at once": 0, "put together": 60_000} {
		t.Run(name, func(t *testing.T) {
			gate := fmt.Sprint("go", interval)
			w.Plays(world.InitLine, world.Piece(first), `{"fake":"wait","path":"`+gate+`"}`, world.Piece(second), world.Piece(second), world.Succeeds(""))
			e := w.Opens()
			defer w.In(t, e)()
			c := dialWire(w)
			c.send(world.Request(1, "workspace/subscribe", world.Obj{"workspace": w.Root, "deltaInterval": interval}))
			c.until(answers(1))
			turn := e.Asks(nil)
			e.Until("the first line", func(n world.Notification) bool { return n.TurnID == turn.ID && n.Offset+len(n.Text) == len(first) })
			w.Put(gate, "")
			e.Ends(turn.ID)
			text := ""
			for _, m := range c.until(func(m message) bool {
				return m.Params.Turn != nil && m.Params.Turn.ID == turn.ID && m.Params.Turn.Status.Final()
			}) {
				if m.Method == "item/delta" {
					require.Equal(t, len(text), m.Params.Offset)
					require.LessOrEqual(t, len(m.Params.Text), api.MaxDelta)
					text += m.Params.Text
				}
			}
			require.True(t, first+second+second == text, "the deltas add up")
			require.True(t, text == e.Items(turn.ID)[0].Text, "to the item's text")
		})
	}
}

// TestHugeBacklog: a client does not read during a huge turn. Afterwards it must get every final state.
func TestHugeBacklog(t *testing.T) {
	world.TooLargeForRace(t)
	w := world.New(t)
	w.Huge = true
	w.Start()
	e := w.Opens()
	slow := dialWire(w)
	slow.send(world.Request(1, "workspace/subscribe", world.Obj{"workspace": w.Root}))
	big := strings.Repeat("x", 4000)
	w.Plays(world.InitLine, `{"fake":"repeat","n":2000,"lines":3}`, world.Piece("{{i}} "+big),
		`{"type":"tool_call","subtype":"started","call_id":"c{{i}}","tool_call":{"readToolCall":{"args":{"path":"f{{i}}"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"c{{i}}","tool_call":{"readToolCall":{"args":{"path":"f{{i}}"},"result":{"success":{"content":"`+big+`"}}}}}`,
		world.Succeeds(""))
	e.Turn(world.Obj{"turnId": "big"})
	last := map[string]*sessions.Item{}
	seq := uint64(0)
	all := slow.until(func(m message) bool { return m.Params.Turn != nil && m.Params.Turn.Status.Final() })
	for _, m := range all {
		if m.Params.Seq > 0 {
			require.Greater(t, m.Params.Seq, seq)
			seq = m.Params.Seq
		}
		if m.Params.Item != nil {
			last[m.Params.Item.ID] = m.Params.Item
		}
	}
	require.Len(t, last, 4000)
	for _, it := range last {
		require.Equal(t, sessions.ItemCompleted, it.Status)
	}
	w.RequireLittleMemory()
}

// TestHugeTextForASlowClient: a client falls behind while items grow. Its deltas still add up, and the answer of turn/wait
// still comes last.
func TestHugeTextForASlowClient(t *testing.T) {
	world.TooLargeForRace(t)
	w := world.New(t)
	w.Huge = true
	w.Start()
	e := w.Opens()
	slow := dialWire(w)
	slow.send(world.Request(1, "workspace/subscribe", world.Obj{"workspace": w.Root}))
	big := strings.Repeat("x", 40_000)
	w.Plays(world.InitLine, `{"fake":"repeat","n":500}`, world.Piece("{{i}} "+big), `{"fake":"wait","path":"go"}`,
		`{"fake":"repeat","n":500}`, world.Piece("{{i}} "+big), world.Succeeds(""))
	turn := e.Asks(world.Obj{"turnId": "big"})
	slow.send(world.Request(2, "turn/wait", world.Obj{"turnId": "big"}))
	total := 0
	e.Until("the first half", func(n world.Notification) bool { total += len(n.Text); return total > 20_000_000 })
	w.Put("go", "")
	e.Ends(turn.ID)

	text, whole, final := map[string][]byte{}, map[int]string{}, false
	slow.until(func(m message) bool {
		switch {
		case m.Method == "item/delta":
			require.Equal(t, len(text[m.Params.ItemID]), m.Params.Offset)
			require.LessOrEqual(t, len(m.Params.Text), api.MaxDelta)
			text[m.Params.ItemID] = append(text[m.Params.ItemID], m.Params.Text...)
		case m.Params.Item != nil:
			it := m.Params.Item
			if whole[it.Index] = it.Text; it.Status == sessions.ItemRunning {
				require.Equal(t, len(it.Text), len(text[it.ID]))
			}
			require.True(t, it.Status == sessions.ItemRunning || strings.HasPrefix(it.Text, string(text[it.ID])))
		case m.Params.Turn != nil:
			final = m.Params.Turn.Status.Final()
		case string(m.ID) == "2":
			require.True(t, final, "turn/wait is answered after the end is told")
			return true
		}
		return false
	})
	var said, want strings.Builder
	for _, i := range slices.Sorted(maps.Keys(whole)) {
		said.WriteString(whole[i])
	}
	for i := range 1000 {
		fmt.Fprintf(&want, "%d %s", i%500, big)
	}
	require.True(t, said.String() == want.String())
}

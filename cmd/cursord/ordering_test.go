package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon"
	"cursord/sessions"
)

// A wire is a script's connection: lines out, lines in, in the order in which they come.
type wire struct {
	t    testing.TB
	conn net.Conn
	on   io.Writer // conn, with its messages looked at
	in   *bufio.Reader
}

func (w *world) wire() *wire {
	w.t.Helper()
	conn, err := net.Dial("unix", w.socket())
	require.NoError(w.t, err)
	w.t.Cleanup(func() { conn.Close() })
	checked := w.checked(conn)
	return &wire{w.t, conn, checked, bufio.NewReaderSize(checked, 1<<20)}
}

// message is any line that the daemon sends.
type message struct {
	ID     json.RawMessage
	Method string
	Params told
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func (c *wire) send(lines ...string) {
	c.t.Helper()
	_, err := c.on.Write([]byte(strings.Join(lines, "\n") + "\n"))
	require.NoError(c.t, err)
}

func (c *wire) next() (m message) {
	c.t.Helper()
	require.NoError(c.t, c.conn.SetReadDeadline(time.Now().Add(patience)))
	line, err := c.in.ReadBytes('\n')
	require.NoError(c.t, err)
	require.NoError(c.t, json.Unmarshal(line, &m), "%.300s", line)
	m.Params.Method = m.Method
	return m
}

// until returns all messages up to the first that fits.
func (c *wire) until(fits func(message) bool) (all []message) {
	c.t.Helper()
	for {
		m := c.next()
		if all = append(all, m); fits(m) {
			return all
		}
	}
}

func request(id int, method string, params obj) string {
	b, _ := json.Marshal(obj{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return string(b)
}

func answers(id int) func(message) bool {
	return func(m message) bool { return string(m.ID) == fmt.Sprint(id) }
}

func notifications(all []message) (list []told) {
	for _, m := range all {
		if m.Method != "" {
			list = append(list, m.Params)
		}
	}
	return list
}

// talk is a run that says something of each kind.
func talk() []string {
	return []string{initLine, userLine, thinks("Hm"), thoughtEnd, piece("I "), piece("look."), flush("I look."), started("c", readArgs),
		`{"fake":"write","path":"made.txt","text":"{{prompt}}\n"}`, completed("c", readDone), piece("Done."), says("Done.", ""), succeeds("I look.Done.")}
}

// TestOrderOnOneConnection pipelines subscribe, start and wait, and looks at what comes in which order.
func TestOrderOnOneConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.opens()
	for i := range 20 {
		w.plays(talk()...)
		id := fmt.Sprintf("turn-%d", i)
		c := w.wire()
		c.send(request(1, "workspace/subscribe", obj{"workspace": w.ws, "after": 0}))
		c.until(answers(1))
		start := obj{"workspace": w.ws, "prompt": fmt.Sprint(i), "turnId": id}
		c.send(request(2, "turn/start", start), request(3, "turn/wait", obj{"turnId": id}), request(4, "turn/start", start))
		all := c.until(answers(3))
		index := func(fits func(message) bool) int { return slices.IndexFunc(all, fits) }
		response, wait, again := index(answers(2)), index(answers(3)), index(answers(4))
		require.Nil(t, all[response].Error)
		if wait < 0 || all[wait].Error != nil {
			t.Fatalf("turn/wait: %+v", all[wait])
		}
		if again >= 0 { // the same call again is the same turn
			var was, is struct{ Turn struct{ ID string } }
			require.NoError(t, json.Unmarshal(all[response].Result, &was))
			require.NoError(t, json.Unmarshal(all[again].Result, &is))
			require.Equal(t, was, is)
		}
		first := index(func(m message) bool {
			return m.Params.Turn != nil && m.Params.Turn.ID == id || m.Params.Item != nil && m.Params.Item.TurnID == id
		})
		require.Less(t, response, first, "the response comes before the turn's notifications")
		final := index(func(m message) bool {
			return m.Params.Turn != nil && m.Params.Turn.ID == id && m.Params.Turn.Status.Final()
		})
		require.Positive(t, final)
		require.Less(t, final, wait, "turn/wait is answered after the end is told")
		require.Equal(t, "session/changed", all[final-1].Method)
		require.Equal(t, sessions.SessionIdle, all[final-1].Params.Session.State)
		audit(t, notifications(all))
		c.conn.Close()
	}
}

// TestEverybodySeesTheSame has two editors and a script on one workspace, one of which starts turns and goes away.
func TestEverybodySeesTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e, other := w.opens(), w.opens()
	script := w.wire()
	script.send(request(1, "workspace/subscribe", obj{"workspace": w.ws}))
	script.until(answers(1))
	w.plays(slices.Insert(talk(), 6, `{"fake":"wait","path":"go"}`)...)
	turn := e.asks(nil)
	e.until("some text", func(n told) bool { return n.Method == "item/delta" && n.Text == "look." || n.Text == "I look." })
	e.c.Close()
	w.put("go", "")
	other.ends(turn.ID)
	seen := notifications(script.until(func(m message) bool { return m.Params.Turn != nil && m.Params.Turn.Status.Final() }))
	audit(t, seen)
	audit(t, other.all())
	strip := func(all []told) (seqs []uint64) {
		for _, n := range all {
			if n.Seq > 0 && (n.Turn == nil || n.Turn.ID == turn.ID) {
				seqs = append(seqs, n.Seq)
			}
		}
		return seqs
	}
	require.Equal(t, strip(other.all()), strip(seen))
	require.Equal(t, []string{"I look.", "Done."}, other.said(turn.ID, sessions.ItemAssistant))
}

// TestCatchUp reconnects at every seq that was ever told, and must get every object that changed since, once.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e := w.opens()
	var subscribed struct {
		Seq   uint64
		Epoch string
		Reset bool
	}
	for range 3 {
		w.plays(talk()...)
		e.turn(nil)
	}
	var gone struct{ Session *sessions.Session }
	e.must("session/create", obj{"workspace": w.ws, "title": "gone"}, &gone)
	e.must("session/delete", obj{"sessionId": gone.Session.ID}, nil)
	e.until("the removal", func(n told) bool { return n.Removed })
	newest := map[string]uint64{}
	key := func(n told) string {
		switch {
		case n.Removed:
			return "session"
		case n.Session != nil:
			return n.Session.ID
		case n.Turn != nil:
			return n.Turn.ID
		case n.Item != nil:
			return n.Item.ID
		}
		return n.Diff.Path
	}
	var top uint64
	for _, n := range e.all() {
		if n.Seq > 0 {
			newest[key(n)] = n.Seq
			top = n.Seq
		}
	}
	delete(newest, gone.Session.ID)
	c := w.wire()
	for after := range top + 1 {
		c.send(request(1, "workspace/subscribe", obj{"workspace": w.ws, "after": after}))
		first := c.next()
		require.NoError(t, json.Unmarshal(first.Result, &subscribed))
		require.Equal(t, top, subscribed.Seq)
		require.False(t, subscribed.Reset)
		var want []uint64
		for _, seq := range newest {
			if seq > after {
				want = append(want, seq)
			}
		}
		slices.Sort(want)
		var got []uint64
		for range want {
			n := c.next()
			got = append(got, n.Params.Seq)
			require.Equal(t, newest[key(n.Params)], n.Params.Seq)
			if n.Params.Item != nil {
				require.NotEqual(t, sessions.ItemRunning, n.Params.Item.Status)
			}
		}
		require.Equal(t, want, got)
	}
	for _, tt := range []struct {
		name   string
		params obj
		reset  bool
	}{
		{"from the future", obj{"after": top + 1}, true},
		{"of another store", obj{"after": top, "epoch": "another"}, true},
		{"of this store", obj{"after": top, "epoch": subscribed.Epoch}, false},
		{"without after", obj{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := w.joins()
			tt.params["workspace"] = w.ws
			other.must("workspace/subscribe", tt.params, &subscribed)
			require.Equal(t, tt.reset, subscribed.Reset)
			if tt.reset || tt.params["after"] == nil {
				other.until("the snapshot's last", func(n told) bool { return n.Turn != nil && n.Turn.Seq == newest[n.Turn.ID] })
			}
		})
	}
	// A uri, a path with dots and a link name the same workspace.
	for _, name := range []string{"file://" + w.ws, w.ws + "/../ws/", w.path("./.")} {
		c.send(request(1, "workspace/subscribe", obj{"workspace": name, "after": top}))
		require.Contains(t, string(c.next().Result), `"`+w.ws+`"`)
	}
}

// TestMidStream subscribes at many moments of a growing text.
func TestMidStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e := w.opens()
	lines := []string{initLine}
	var whole strings.Builder
	for i := range 120 {
		lines = append(lines, piece(fmt.Sprintf("%d,", i)), `{"fake":"sleep","ms":4}`)
		fmt.Fprintf(&whole, "%d,", i)
	}
	w.plays(append(lines, waits("end"), says(whole.String(), ""), succeeds(whole.String()))...)
	turn := e.asks(nil)
	e.until("text", func(n told) bool { return n.Method == "item/delta" })
	last := func(n told) bool { return n.Method == "item/delta" && strings.HasSuffix(n.Text, "119,") }
	item := sessions.ItemID(turn.ID, 0)
	var late []*editor
	for i := range 40 {
		all := e.all()
		if slices.ContainsFunc(all, last) {
			break
		}
		params := obj{"workspace": w.ws}
		switch i % 4 {
		case 1:
			params["after"] = 0
		case 2:
			for _, n := range slices.Backward(all) {
				if n.Seq > 0 {
					params["after"] = n.Seq
					break
				}
			}
		case 3:
			params["deltaInterval"] = 20
		}
		o := w.joins()
		o.must("workspace/subscribe", params, nil)
		o.until("the text so far", func(n told) bool { return n.Item != nil && n.Item.ID == item })
		late = append(late, o)
		seen := len(e.all())
		e.until("more", func(n told) bool { return len(e.all()) > seen+1 || last(n) })
	}
	w.put("../end", "")
	require.Equal(t, sessions.TurnCompleted, e.ends(turn.ID).Status)
	for i, o := range late {
		o.ends(turn.ID)
		text, n, deltas := "", 0, 0
		for _, m := range o.all() {
			switch {
			case m.Item != nil && m.Item.ID == item && n == 0:
				text, n = m.Item.Text, 1
			case m.Item != nil && m.Item.ID == item:
				require.Equal(t, m.Item.Text, text)
			case m.Method == "item/delta" && m.ItemID == item:
				require.Equal(t, len(text), m.Offset, "editor %d", i)
				text += m.Text
				deltas++
			}
		}
		require.Equal(t, whole.String(), text)
		if i == 3 {
			require.Less(t, deltas, 60, "merged deltas")
		}
	}
	audit(t, e.all())
}

// TestSubscriptions replaces, merges, summarises and ends them.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e := w.opens()
	watcher := w.joins()
	watcher.must("workspace/subscribe", obj{"workspace": w.ws, "diffs": "summary"}, nil)
	watcher.must("workspace/subscribe", obj{"workspace": w.ws, "diffs": "summary"}, nil)
	w.plays(talk()...)
	w.put("made.txt", "before\n")
	turn := e.turn(nil)
	watcher.ends(turn.ID)
	count := 0
	for _, n := range watcher.all() {
		if n.Turn != nil && n.Turn.Status.Final() {
			count++
		}
		if n.Diff != nil {
			require.Nil(t, n.Diff.Hunks)
			require.Equal(t, 1, n.Diff.Added)
		}
	}
	require.Equal(t, 1, count, "a subscription replaces the one before")
	watcher.must("workspace/unsubscribe", obj{"workspace": w.ws}, nil)
	seen := len(watcher.all())
	w.plays(talk()...)
	e.turn(nil)
	watcher.must("daemon/status", obj{}, nil)
	require.Len(t, watcher.all(), seen)
	for _, params := range []obj{{"workspace": w.ws, "after": -1}, {"workspace": w.ws, "deltaInterval": -1}, {"workspace": w.ws, "diffs": "some"}, {}} {
		require.Equal(t, -32602, watcher.fails("workspace/subscribe", params).Code)
	}
}

// TestSubscribeAtTheStart subscribes while a turn is on its way to the disk.
func TestSubscribeAtTheStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e := w.opens()
	for i := range 30 {
		id := fmt.Sprintf("turn-%d", i)
		c := w.wire()
		c.send(request(1, "turn/start", obj{"workspace": w.ws, "prompt": "x", "turnId": id}),
			request(2, "workspace/subscribe", obj{"workspace": w.ws}), request(3, "turn/wait", obj{"turnId": id}))
		for _, m := range c.until(answers(3)) {
			require.Nil(t, m.Error)
		}
		c.conn.Close()
		e.ends(id)
	}
}

// TestLargeTextComesInParts has an agent say more in one line than a delta may hold, before its item is known to anybody
// and after, to clients that take each delta and that have them put together.
func TestLargeTextComesInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	first, second := "a"+strings.Repeat("ö€😀", 80_000), strings.Repeat("😀€ö", 60_000)
	for name, interval := range map[string]int{"at once": 0, "put together": 60_000} {
		t.Run(name, func(t *testing.T) {
			gate := fmt.Sprint("go", interval)
			w.plays(initLine, piece(first), `{"fake":"wait","path":"`+gate+`"}`, piece(second), piece(second), succeeds(""))
			e := w.opens()
			defer w.in(t, e)()
			c := w.wire()
			c.send(request(1, "workspace/subscribe", obj{"workspace": w.ws, "deltaInterval": interval}))
			c.until(answers(1))
			turn := e.asks(nil)
			e.until("the first line", func(n told) bool { return n.TurnID == turn.ID && n.Offset+len(n.Text) == len(first) })
			w.put(gate, "")
			e.ends(turn.ID)
			text := ""
			for _, m := range c.until(func(m message) bool {
				return m.Params.Turn != nil && m.Params.Turn.ID == turn.ID && m.Params.Turn.Status.Final()
			}) {
				if m.Method == "item/delta" {
					require.Equal(t, len(text), m.Params.Offset)
					require.LessOrEqual(t, len(m.Params.Text), daemon.MaxDelta)
					text += m.Params.Text
				}
			}
			require.True(t, first+second+second == text, "the deltas add up")
			require.True(t, text == e.items(turn.ID)[0].Text, "to the item's text")
		})
	}
}

// TestHugeBacklog does not read while others do; it must end with every final state.
func TestHugeBacklog(t *testing.T) {
	huge(t)
	w := newWorld(t)
	w.start()
	e := w.opens()
	slow := w.wire()
	slow.send(request(1, "workspace/subscribe", obj{"workspace": w.ws}))
	big := strings.Repeat("x", 4000)
	w.plays(initLine, `{"fake":"repeat","n":4000,"lines":3}`, piece("{{i}} "+big),
		`{"type":"tool_call","subtype":"started","call_id":"c{{i}}","tool_call":{"readToolCall":{"args":{"path":"f{{i}}"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"c{{i}}","tool_call":{"readToolCall":{"args":{"path":"f{{i}}"},"result":{"success":{"content":"`+big+`"}}}}}`,
		succeeds(""))
	e.turn(obj{"turnId": "big"})
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
	require.Len(t, last, 8000)
	for _, it := range last {
		require.Equal(t, sessions.ItemCompleted, it.Status)
	}
	w.requireLittleMemory()
}

// TestHugeTextForASlowClient has a client fall behind while an item grows: what it was told of the item still adds up,
// and the answer of turn/wait still comes last.
func TestHugeTextForASlowClient(t *testing.T) {
	huge(t)
	w := newWorld(t)
	w.start()
	e := w.opens()
	slow := w.wire()
	slow.send(request(1, "workspace/subscribe", obj{"workspace": w.ws}))
	big := strings.Repeat("x", 40_000)
	w.plays(initLine, `{"fake":"repeat","n":500}`, piece("{{i}} "+big), `{"fake":"wait","path":"go"}`,
		`{"fake":"repeat","n":500}`, piece("{{i}} "+big), succeeds(""))
	turn := e.asks(obj{"turnId": "big"})
	slow.send(request(2, "turn/wait", obj{"turnId": "big"}))
	total := 0
	e.until("the first half", func(n told) bool { total += len(n.Text); return total > 20_000_000 })
	w.put("go", "")
	e.ends(turn.ID)

	text, whole, final := map[string]string{}, map[int]string{}, false
	slow.until(func(m message) bool {
		switch {
		case m.Method == "item/delta":
			require.Equal(t, len(text[m.Params.ItemID]), m.Params.Offset)
			require.LessOrEqual(t, len(m.Params.Text), daemon.MaxDelta)
			text[m.Params.ItemID] += m.Params.Text
		case m.Params.Item != nil:
			it := m.Params.Item
			if whole[it.Index] = it.Text; it.Status == sessions.ItemRunning {
				require.Equal(t, len(it.Text), len(text[it.ID]))
			}
			require.True(t, it.Status == sessions.ItemRunning || strings.HasPrefix(it.Text, text[it.ID]))
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

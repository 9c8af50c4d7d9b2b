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

func (w *World) wire() *wire {
	w.T.Helper()
	conn, err := net.Dial("unix", w.Socket())
	require.NoError(w.T, err)
	w.T.Cleanup(func() { conn.Close() })
	checked := w.Checked(conn)
	return &wire{w.T, conn, checked, bufio.NewReaderSize(checked, 1<<20)}
}

// message is any line that the daemon sends.
type message struct {
	ID     json.RawMessage
	Method string
	Params Notification
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
	require.NoError(c.t, c.conn.SetReadDeadline(time.Now().Add(Patience)))
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

func Request(id int, method string, params Obj) string {
	b, _ := json.Marshal(Obj{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return string(b)
}

func answers(id int) func(message) bool {
	return func(m message) bool { return string(m.ID) == fmt.Sprint(id) }
}

func notifications(all []message) (list []Notification) {
	for _, m := range all {
		if m.Method != "" {
			list = append(list, m.Params)
		}
	}
	return list
}

// Talk is a run that says something of each kind.
func Talk() []string {
	return []string{InitLine, UserLine, Thinks("Hm"), ThoughtEnd, Piece("I "), Piece("look."), Flush("I look."), Started("c", ReadArgs),
		`{"fake":"write","path":"made.txt","text":"{{prompt}}\n"}`, Completed("c", ReadDone), Piece("Done."), Says("Done.", ""), Succeeds("I look.Done.")}
}

// TestOrderOnOneConnection pipelines subscribe, start and wait, and looks at what comes in which order.
func TestOrderOnOneConnection(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Start()
	w.Opens()
	for i := range 20 {
		w.Plays(Talk()...)
		id := fmt.Sprintf("turn-%d", i)
		c := w.wire()
		c.send(Request(1, "workspace/subscribe", Obj{"workspace": w.Root, "after": 0}))
		c.until(answers(1))
		start := Obj{"workspace": w.Root, "prompt": fmt.Sprint(i), "turnId": id}
		c.send(Request(2, "turn/start", start), Request(3, "turn/wait", Obj{"turnId": id}), Request(4, "turn/start", start))
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
		Audit(t, notifications(all))
		c.conn.Close()
	}
}

// TestEverybodySeesTheSame has two editors and a script on one workspace, one of which starts turns and goes away.
func TestEverybodySeesTheSame(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Start()
	e, other := w.Opens(), w.Opens()
	script := w.wire()
	script.send(Request(1, "workspace/subscribe", Obj{"workspace": w.Root}))
	script.until(answers(1))
	w.Plays(slices.Insert(Talk(), 6, `{"fake":"wait","path":"go"}`)...)
	turn := e.Asks(nil)
	e.Until("some text", func(n Notification) bool { return n.Method == "item/delta" && n.Text == "look." || n.Text == "I look." })
	e.Client.Close()
	w.Put("go", "")
	other.Ends(turn.ID)
	seen := notifications(script.until(func(m message) bool { return m.Params.Turn != nil && m.Params.Turn.Status.Final() }))
	Audit(t, seen)
	Audit(t, other.All())
	strip := func(all []Notification) (seqs []uint64) {
		for _, n := range all {
			if n.Seq > 0 && (n.Turn == nil || n.Turn.ID == turn.ID) {
				seqs = append(seqs, n.Seq)
			}
		}
		return seqs
	}
	require.Equal(t, strip(other.All()), strip(seen))
	require.Equal(t, []string{"I look.", "Done."}, other.Said(turn.ID, sessions.ItemAssistant))
}

// TestCatchUp reconnects at every seq that was ever told, and must get every object that changed since, once.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Start()
	e := w.Opens()
	var subscribed struct {
		Seq   uint64
		Epoch string
		Reset bool
	}
	for range 3 {
		w.Plays(Talk()...)
		e.Turn(nil)
	}
	var gone struct{ Session *sessions.Session }
	e.Must("session/create", Obj{"workspace": w.Root, "title": "gone"}, &gone)
	e.Must("session/delete", Obj{"sessionId": gone.Session.ID}, nil)
	e.Until("the removal", func(n Notification) bool { return n.Removed })
	newest := map[string]uint64{}
	key := func(n Notification) string {
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
	for _, n := range e.All() {
		if n.Seq > 0 {
			newest[key(n)] = n.Seq
			top = n.Seq
		}
	}
	delete(newest, gone.Session.ID)
	c := w.wire()
	for after := range top + 1 {
		c.send(Request(1, "workspace/subscribe", Obj{"workspace": w.Root, "after": after}))
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
		params Obj
		reset  bool
	}{
		{"from the future", Obj{"after": top + 1}, true},
		{"of another store", Obj{"after": top, "epoch": "another"}, true},
		{"of this store", Obj{"after": top, "epoch": subscribed.Epoch}, false},
		{"without after", Obj{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := w.Joins()
			tt.params["workspace"] = w.Root
			other.Must("workspace/subscribe", tt.params, &subscribed)
			require.Equal(t, tt.reset, subscribed.Reset)
			if tt.reset || tt.params["after"] == nil {
				other.Until("the snapshot's last", func(n Notification) bool { return n.Turn != nil && n.Turn.Seq == newest[n.Turn.ID] })
			}
		})
	}
	// A uri, a path with dots and a link name the same workspace.
	for _, name := range []string{"file://" + w.Root, w.Root + "/../ws/", w.Path("./.")} {
		c.send(Request(1, "workspace/subscribe", Obj{"workspace": name, "after": top}))
		require.Contains(t, string(c.next().Result), `"`+w.Root+`"`)
	}
}

// TestMidStream subscribes at many moments of a growing text.
func TestMidStream(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Start()
	e := w.Opens()
	lines := []string{InitLine}
	var whole strings.Builder
	for i := range 120 {
		lines = append(lines, Piece(fmt.Sprintf("%d,", i)), `{"fake":"sleep","ms":4}`)
		fmt.Fprintf(&whole, "%d,", i)
	}
	w.Plays(append(lines, Waits("end"), Says(whole.String(), ""), Succeeds(whole.String()))...)
	turn := e.Asks(nil)
	e.Until("text", func(n Notification) bool { return n.Method == "item/delta" })
	last := func(n Notification) bool { return n.Method == "item/delta" && strings.HasSuffix(n.Text, "119,") }
	item := sessions.ItemID(turn.ID, 0)
	var late []*Editor
	for i := range 40 {
		all := e.All()
		if slices.ContainsFunc(all, last) {
			break
		}
		params := Obj{"workspace": w.Root}
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
		o := w.Joins()
		o.Must("workspace/subscribe", params, nil)
		o.Until("the text so far", func(n Notification) bool { return n.Item != nil && n.Item.ID == item })
		late = append(late, o)
		seen := len(e.All())
		e.Until("more", func(n Notification) bool { return len(e.All()) > seen+1 || last(n) })
	}
	w.Put("../end", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	for i, o := range late {
		o.Ends(turn.ID)
		text, n, deltas := "", 0, 0
		for _, m := range o.All() {
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
	Audit(t, e.All())
}

// TestSubscriptions replaces, merges, summarises and ends them.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Start()
	e := w.Opens()
	watcher := w.Joins()
	watcher.Must("workspace/subscribe", Obj{"workspace": w.Root, "diffs": "summary"}, nil)
	watcher.Must("workspace/subscribe", Obj{"workspace": w.Root, "diffs": "summary"}, nil)
	w.Plays(Talk()...)
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
	watcher.Must("workspace/unsubscribe", Obj{"workspace": w.Root}, nil)
	seen := len(watcher.All())
	w.Plays(Talk()...)
	e.Turn(nil)
	watcher.Must("daemon/status", Obj{}, nil)
	require.Len(t, watcher.All(), seen)
	for _, params := range []Obj{{"workspace": w.Root, "after": -1}, {"workspace": w.Root, "deltaInterval": -1}, {"workspace": w.Root, "diffs": "some"}, {}} {
		require.Equal(t, -32602, watcher.Fails("workspace/subscribe", params).Code)
	}
}

// TestSubscribeAtTheStart subscribes while a turn is on its way to the disk.
func TestSubscribeAtTheStart(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Start()
	e := w.Opens()
	for i := range 30 {
		id := fmt.Sprintf("turn-%d", i)
		c := w.wire()
		c.send(Request(1, "turn/start", Obj{"workspace": w.Root, "prompt": "x", "turnId": id}),
			Request(2, "workspace/subscribe", Obj{"workspace": w.Root}), Request(3, "turn/wait", Obj{"turnId": id}))
		for _, m := range c.until(answers(3)) {
			require.Nil(t, m.Error)
		}
		c.conn.Close()
		e.Ends(id)
	}
}

// TestLargeTextComesInParts has an agent say more in one line than a delta may hold, before its item is known to anybody
// and after, to clients that take each delta and that have them put together.
func TestLargeTextComesInParts(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Start()
	first, second := "a"+strings.Repeat("ö€😀", 80_000), strings.Repeat("😀€ö", 60_000)
	for name, interval := range map[string]int{"at once": 0, "put together": 60_000} {
		t.Run(name, func(t *testing.T) {
			gate := fmt.Sprint("go", interval)
			w.Plays(InitLine, Piece(first), `{"fake":"wait","path":"`+gate+`"}`, Piece(second), Piece(second), Succeeds(""))
			e := w.Opens()
			defer w.In(t, e)()
			c := w.wire()
			c.send(Request(1, "workspace/subscribe", Obj{"workspace": w.Root, "deltaInterval": interval}))
			c.until(answers(1))
			turn := e.Asks(nil)
			e.Until("the first line", func(n Notification) bool { return n.TurnID == turn.ID && n.Offset+len(n.Text) == len(first) })
			w.Put(gate, "")
			e.Ends(turn.ID)
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
			require.True(t, text == e.Items(turn.ID)[0].Text, "to the item's text")
		})
	}
}

// TestHugeBacklog does not read while others do; it must end with every final state.
func TestHugeBacklog(t *testing.T) {
	TooLargeForRace(t)
	w := New(t)
	w.Start()
	e := w.Opens()
	slow := w.wire()
	slow.send(Request(1, "workspace/subscribe", Obj{"workspace": w.Root}))
	big := strings.Repeat("x", 4000)
	w.Plays(InitLine, `{"fake":"repeat","n":4000,"lines":3}`, Piece("{{i}} "+big),
		`{"type":"tool_call","subtype":"started","call_id":"c{{i}}","tool_call":{"readToolCall":{"args":{"path":"f{{i}}"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"c{{i}}","tool_call":{"readToolCall":{"args":{"path":"f{{i}}"},"result":{"success":{"content":"`+big+`"}}}}}`,
		Succeeds(""))
	e.Turn(Obj{"turnId": "big"})
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
	w.RequireLittleMemory()
}

// TestHugeTextForASlowClient has a client fall behind while an item grows: what it was told of the item still adds up,
// and the answer of turn/wait still comes last.
func TestHugeTextForASlowClient(t *testing.T) {
	TooLargeForRace(t)
	w := New(t)
	w.Start()
	e := w.Opens()
	slow := w.wire()
	slow.send(Request(1, "workspace/subscribe", Obj{"workspace": w.Root}))
	big := strings.Repeat("x", 40_000)
	w.Plays(InitLine, `{"fake":"repeat","n":500}`, Piece("{{i}} "+big), `{"fake":"wait","path":"go"}`,
		`{"fake":"repeat","n":500}`, Piece("{{i}} "+big), Succeeds(""))
	turn := e.Asks(Obj{"turnId": "big"})
	slow.send(Request(2, "turn/wait", Obj{"turnId": "big"}))
	total := 0
	e.Until("the first half", func(n Notification) bool { total += len(n.Text); return total > 20_000_000 })
	w.Put("go", "")
	e.Ends(turn.ID)

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

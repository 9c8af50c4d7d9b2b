//go:build unix

package wire

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// A wire is a script's connection. It sends and receives lines, and keeps their order.
type wire struct {
	t    testing.TB
	conn net.Conn
	on   io.Writer // conn, with a check of all messages
	in   *bufio.Reader
}

func dialWire(w *world.World) *wire {
	w.T.Helper()
	conn, err := net.Dial("unix", w.Socket())
	require.NoError(w.T, err)
	w.T.Cleanup(func() { conn.Close() })
	checked := w.Checked(conn)
	return &wire{w.T, conn, checked, bufio.NewReaderSize(checked, 1<<20)}
}

// A message is any line from the daemon.
type message struct {
	ID     json.RawMessage
	Method string
	Params world.Notification
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
	require.NoError(c.t, c.conn.SetReadDeadline(time.Now().Add(world.Patience)))
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

func answers(id int) func(message) bool {
	return func(m message) bool { return string(m.ID) == fmt.Sprint(id) }
}

func notifications(all []message) (list []world.Notification) {
	for _, m := range all {
		if m.Method != "" {
			list = append(list, m.Params)
		}
	}
	return list
}

// TestOrderOnOneConnection pipelines subscribe, start and wait, and checks the order of answers and notifications.
func TestOrderOnOneConnection(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	w.Opens()
	for i := range 20 {
		w.Plays(world.Talk()...)
		id := fmt.Sprintf("turn-%d", i)
		c := dialWire(w)
		c.send(world.Request(1, "workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}))
		c.until(answers(1))
		start := world.Obj{"workspace": w.Root, "prompt": fmt.Sprint(i), "turnId": id}
		c.send(world.Request(2, "turn/start", start), world.Request(3, "turn/wait", world.Obj{"turnId": id}), world.Request(4, "turn/start", start))
		all := c.until(answers(3))
		index := func(fits func(message) bool) int { return slices.IndexFunc(all, fits) }
		response, wait, again := index(answers(2)), index(answers(3)), index(answers(4))
		require.Nil(t, all[response].Error)
		if wait < 0 || all[wait].Error != nil {
			t.Fatalf("turn/wait: %+v", all[wait])
		}
		if again >= 0 { // the repeated start has been answered, with the same turn
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
		world.Audit(t, notifications(all))
		c.conn.Close()
	}
}

// TestEverybodySeesTheSame: two editors and a script follow one workspace. One editor starts a turn and leaves; the others
// see the same changes.
func TestEverybodySeesTheSame(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e, other := w.Opens(), w.Opens()
	script := dialWire(w)
	script.send(world.Request(1, "workspace/subscribe", world.Obj{"workspace": w.Root}))
	script.until(answers(1))
	w.Plays(slices.Insert(world.Talk(), 6, `{"fake":"wait","path":"go"}`)...)
	turn := e.Asks(nil)
	e.Until("some text", func(n world.Notification) bool {
		return n.Method == "item/delta" && n.Text == "look." || n.Text == "I look."
	})
	e.Client.Close()
	w.Put("go", "")
	other.Ends(turn.ID)
	seen := notifications(script.until(func(m message) bool { return m.Params.Turn != nil && m.Params.Turn.Status.Final() }))
	world.Audit(t, seen)
	world.Audit(t, other.All())
	strip := func(all []world.Notification) (seqs []uint64) {
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

// TestCatchUp subscribes after every seq so far. It must get each object that has changed since, once.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	var subscribed struct {
		Seq   uint64
		Epoch string
		Reset bool
	}
	for range 3 {
		w.Plays(world.Talk()...)
		e.Turn(nil)
	}
	var gone struct{ Session *sessions.Session }
	e.Must("session/create", world.Obj{"workspace": w.Root, "title": "gone"}, &gone)
	e.Must("session/delete", world.Obj{"sessionId": gone.Session.ID}, nil)
	e.Until("the removal", func(n world.Notification) bool { return n.Removed })
	newest := map[string]uint64{}
	key := func(n world.Notification) string {
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
	c := dialWire(w)
	for after := range top + 1 {
		c.send(world.Request(1, "workspace/subscribe", world.Obj{"workspace": w.Root, "after": after}))
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
		params world.Obj
		reset  bool
	}{
		{"from the future", world.Obj{"after": top + 1}, true},
		{"of another store", world.Obj{"after": top, "epoch": "another"}, true},
		{"of this store", world.Obj{"after": top, "epoch": subscribed.Epoch}, false},
		{"without after", world.Obj{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := w.Joins()
			tt.params["workspace"] = w.Root
			other.Must("workspace/subscribe", tt.params, &subscribed)
			require.Equal(t, tt.reset, subscribed.Reset)
			if tt.reset || tt.params["after"] == nil {
				other.Until("the snapshot's last", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Seq == newest[n.Turn.ID] })
			}
		})
	}
	// A URI and a path with dots name the same workspace.
	for _, name := range []string{"file://" + w.Root, w.Root + "/../ws/", w.Path("./.")} {
		c.send(world.Request(1, "workspace/subscribe", world.Obj{"workspace": name, "after": top}))
		require.Contains(t, string(c.next().Result), `"`+w.Root+`"`)
	}
}

// TestMidStream subscribes at many moments of a growing text.
func TestMidStream(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	lines := []string{world.InitLine}
	var whole strings.Builder
	for i := range 120 {
		lines = append(lines, world.Piece(fmt.Sprintf("%d,", i)), `{"fake":"sleep","ms":4}`)
		fmt.Fprintf(&whole, "%d,", i)
	}
	w.Plays(append(lines, world.Waits("end"), world.Says(whole.String(), ""), world.Succeeds(whole.String()))...)
	turn := e.Asks(nil)
	e.Until("text", func(n world.Notification) bool { return n.Method == "item/delta" })
	last := func(n world.Notification) bool { return n.Method == "item/delta" && strings.HasSuffix(n.Text, "119,") }
	item := sessions.ItemID(turn.ID, 0)
	var late []*world.Editor
	for i := range 40 {
		all := e.All()
		if slices.ContainsFunc(all, last) {
			break
		}
		params := world.Obj{"workspace": w.Root}
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
		o.Until("the text so far", func(n world.Notification) bool { return n.Item != nil && n.Item.ID == item })
		late = append(late, o)
		seen := len(e.All())
		e.Until("more", func(n world.Notification) bool { return len(e.All()) > seen+1 || last(n) })
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
	world.Audit(t, e.All())
}

package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon"
	"cursord/sessions"
)

// shortPath returns a path for a socket; paths in t.TempDir may be too long.
func shortPath(t testing.TB) string {
	dir, err := os.MkdirTemp("", "s")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func delta(item string, offset int, text string) *daemon.Notification {
	return &daemon.Notification{
		Workspace: "/w", Kind: sessions.KindItem, ID: item,
		Delta: &daemon.Delta{SessionID: "s", TurnID: "t", ItemID: item, Kind: sessions.ItemAssistant, Offset: offset, Text: text},
	}
}

func changed(kind sessions.Kind, id string, seq uint64, size int) *daemon.Notification {
	object := fmt.Sprintf(`{"id":%q,"pad":%q}`, id, strings.Repeat("x", size))
	return &daemon.Notification{Workspace: "/w", Kind: kind, ID: id, Seq: seq, JSON: []byte(object)}
}

// told returns the part of a notification that tests compare.
func told(t *testing.T, body []byte) string {
	var m struct {
		Method string
		Params struct {
			Seq          uint64
			ItemID, Text string
			Offset       int
		}
	}
	require.NoError(t, json.Unmarshal(body, &m))
	if m.Method == "item/delta" {
		return fmt.Sprintf("%s+%d %s", m.Params.ItemID, m.Params.Offset, m.Params.Text)
	}
	return fmt.Sprintf("%s %d", m.Method, m.Params.Seq)
}

// TestOneEncodingServesAll: several connections send the same bytes.
func TestOneEncodingServesAll(t *testing.T) {
	for _, n := range []*daemon.Notification{delta("i", 0, "text"), changed(sessions.KindTurn, "t", 1, 10)} {
		one, other := (&frame{note: n}).encoded(), (&frame{note: n}).encoded()
		require.Same(t, &one[0], &other[0])
	}
}

func TestNotificationsOnTheWire(t *testing.T) {
	for _, test := range []struct {
		n    *daemon.Notification
		want string
	}{
		{changed(sessions.KindTurn, "t", 3, 1), `{"jsonrpc":"2.0","method":"turn/changed","params":{"workspace":"/w","seq":3,"turn":{"id":"t","pad":"x"}}}`},
		{changed(sessions.KindDiff, "a.go", 4, 0), `{"jsonrpc":"2.0","method":"diff/changed","params":{"workspace":"/w","seq":4,"diff":{"id":"a.go","pad":""}}}`},
		{
			&daemon.Notification{Workspace: "/w<", Kind: sessions.KindSession, ID: "s", Seq: 5, Removed: true},
			`{"jsonrpc":"2.0","method":"session/changed","params":{"workspace":"/w<","seq":5,"sessionId":"s","removed":true}}`,
		},
		{
			delta("i", 2, "<ä\n"),
			`{"jsonrpc":"2.0","method":"item/delta","params":{"workspace":"/w","sessionId":"s","turnId":"t","itemId":"i","kind":"assistant","offset":2,"text":"<ä\n"}}`,
		},
	} {
		require.Equal(t, test.want, string(encodeNotification(test.n)))
	}
}

// A test's writer holds the first write back until it is released.
type heldWriter struct {
	net.Conn
	first   chan struct{} // closed when the first write has begun
	release chan struct{}
	begun   bool
}

func (w *heldWriter) Write(p []byte) (int, error) {
	if !w.begun {
		w.begun = true
		close(w.first)
	}
	<-w.release
	return w.Conn.Write(p)
}

func TestWaitingDeltasMerge(t *testing.T) {
	ours, theirs := net.Pipe()
	w := &heldWriter{Conn: theirs, first: make(chan struct{}), release: make(chan struct{})}
	box := newOutbox(w, FramingLines)
	require.True(t, box.notify(delta("a", 0, "being "), nil))
	<-w.first
	for _, n := range []*daemon.Notification{
		delta("a", 6, "one "), delta("b", 0, "1"), delta("a", 10, "two "), delta("b", 1, "2"),
		changed(sessions.KindTurn, "t", 1, 0), delta("a", 14, "three"),
		changed(sessions.KindItem, "a", 2, 0), delta("a", 0, "anew"), delta("b", 9, "gap"), delta("b", 12, "!"),
	} {
		require.True(t, box.notify(n, nil))
	}
	require.NoError(t, box.send([]byte(`{"method":"reply"}`)))
	close(w.release)
	reader := NewFrameReader(ours, HardCap)
	var got []string
	for range 8 {
		body, err := reader.Read()
		require.NoError(t, err)
		got = append(got, told(t, body))
	}
	require.Equal(t, []string{
		"a+0 being ", "a+6 one two three", "b+0 12", "turn/changed 1", "item/changed 2", "a+0 anew", "b+9 gap!", "reply 0",
	}, got)
	box.finish(nil)
	ours.Close()
}

type signal chan struct{}

func (s signal) resume() {
	select {
	case s <- struct{}{}:
	default:
	}
}

func TestSlowReader(t *testing.T) {
	ours, theirs := net.Pipe()
	box := newOutbox(theirs, FramingLines)
	room := make(signal, 1)
	sent := 0
	for box.notify(changed(sessions.KindTurn, "t", uint64(sent+1), 1000), room) {
		sent++
		require.Less(t, sent, maxNotes/1000)
	}
	require.Greater(t, sent, maxNotes/2000)
	require.False(t, box.notify(delta("a", 0, "x"), room))
	require.NoError(t, box.send([]byte(`{"method":"reply"}`)), "a reply always fits")
	require.Empty(t, room)

	reader := NewFrameReader(ours, HardCap)
	for i := range sent {
		body, err := reader.Read()
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("turn/changed %d", i+1), told(t, body))
	}
	<-room
	body, err := reader.Read()
	require.NoError(t, err)
	require.Equal(t, "reply 0", told(t, body))
	require.True(t, box.notify(delta("a", 0, "x"), nil))
	body, err = reader.Read()
	require.NoError(t, err)
	require.Equal(t, "a+0 x", told(t, body))
	box.finish(nil)
	ours.Close()
}

func TestOneHugeNotificationFits(t *testing.T) {
	ours, theirs := net.Pipe()
	box := newOutbox(theirs, FramingHeaders)
	require.True(t, box.notify(changed(sessions.KindDiff, "big", 1, 3*maxNotes), nil))
	body, err := NewFrameReader(ours, HardCap).Read()
	require.NoError(t, err)
	require.Greater(t, len(body), 3*maxNotes)
	box.finish(nil)
	ours.Close()
}

// TestClientThatReadsNothingForADay: a client stands still, like a suspended editor, with much unread output. It misses
// nothing.
func TestClientThatReadsNothingForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := servePeer(t, FramingHeaders, fixed(map[string]method{"echo": echo(inOrder)}))
		long := `"` + strings.Repeat("x", 1<<20) + `"`
		for i := range 3 {
			p.send(fmt.Sprintf(`{"id":%d,"method":"echo","params":{"text":%s}}`, i, long))
		}
		time.Sleep(24 * time.Hour)
		require.NoError(t, p.conn.SetDeadline(time.Now().Add(patience)))
		for i := range 3 {
			body := p.read()
			require.Contains(t, body, long)
			require.Contains(t, body, fmt.Sprintf(`"id":%d`, i))
		}
	})
}

// halfClosed is a connection whose other end has stopped writing.
type halfClosed struct {
	net.Conn
	sent io.Reader
}

func (c *halfClosed) Read(p []byte) (int, error) { return c.sent.Read(p) }

// TestClientThatStopsWritingIsWaitedFor: earlier requests of such a client are answered as slowly as it reads. Only a daemon
// that ends does not wait for ever.
func TestClientThatStopsWritingIsWaitedFor(t *testing.T) {
	for _, ends := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			ctx, end := context.WithCancel(t.Context())
			defer end()
			asked := &halfClosed{Conn: theirs, sent: strings.NewReader(`{"id":1,"method":"echo","params":{"a":1}}` + "\n")}
			p := servePeerOn(t, ctx, ours, asked, FramingLines, fixed(map[string]method{"echo": echo(inOrder)}))
			time.Sleep(time.Hour)
			require.NoError(t, p.conn.SetDeadline(time.Now().Add(patience)))
			if ends {
				end()
			} else {
				require.Equal(t, `{"a":1} 1`, outcome(t, p.read()))
			}
			<-p.served
			p.ended()
		})
	}
}

// TestClientThatReadsNoAnswersIsCutOff: a client makes requests without reading. Its connection ends, and the log names it.
func TestClientThatReadsNoAnswersIsCutOff(t *testing.T) {
	p := servePeer(t, FramingLines, func(box *outbox) table {
		box.most = 1000
		return table{methods: map[string]method{"echo": echo(inOrder)}, client: func() string { return "greedy" }}
	})
	for range 3 {
		p.send(`{"id":1,"method":"echo","params":{"text":"` + strings.Repeat("x", 400) + `"}}`)
	}
	<-p.served
	require.Contains(t, p.log.String(), "client=greedy")
	require.Contains(t, p.log.String(), "does not read its answers")
}

func TestTooManyUnreadReplies(t *testing.T) {
	ours, theirs := net.Pipe()
	box := newOutbox(theirs, FramingLines)
	big := make([]byte, maxReplies/4)
	for range 4 {
		require.NoError(t, box.send(big))
	}
	require.ErrorIs(t, box.send([]byte("{}")), errUnreadReplies)
	require.True(t, box.notify(delta("a", 0, "x"), nil), "after the end all is dropped")
	<-box.done
	ours.Close()
}

// BenchmarkNotifyFanout sends one 400-byte delta to many connections.
func BenchmarkNotifyFanout(b *testing.B) {
	for _, subscribers := range []int{1, 8, 32} {
		b.Run(fmt.Sprint(subscribers), func(b *testing.B) {
			boxes := make([]*outbox, subscribers)
			for i := range boxes {
				client, server := socketPair(b)
				go func() { _, _ = io.Copy(io.Discard, client) }()
				boxes[i] = newOutbox(server, FramingHeaders)
				defer boxes[i].finish(nil)
			}
			text := strings.Repeat("x", 200)
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				n := delta(fmt.Sprint("item", i), 0, text)
				for _, box := range boxes {
					for !box.notify(n, nil) {
						<-time.After(100 * time.Microsecond)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*subscribers), "ns/delivery")
		})
	}
}

// A member counts its resumptions by an outbox.
type member struct{ resumed atomic.Int32 }

func (m *member) resume() { m.resumed.Add(1) }

// TestOnlyThoseThatWaitAreResumed: a connection has many subscriptions, and only the waiting ones are resumed. So the cost
// of one does not grow with their number, even for a client of thousands of folders.
func TestOnlyThoseThatWaitAreResumed(t *testing.T) {
	ours, theirs := net.Pipe()
	box := newOutbox(theirs, FramingLines)
	members := make([]*member, 20)
	reader := NewFrameReader(ours, HardCap)
	for i := range members {
		members[i] = &member{}
		require.True(t, box.notify(changed(sessions.KindTurn, "t", uint64(i+1), 1), members[i]))
		_, err := reader.Read()
		require.NoError(t, err)
		require.NoError(t, box.send([]byte(`{"method":"reply"}`)))
		_, err = reader.Read()
		require.NoError(t, err)
	}
	require.NoError(t, box.send([]byte(`{"method":"last"}`)))
	_, err := reader.Read()
	require.NoError(t, err)
	for _, m := range members[:len(members)-1] {
		require.Equal(t, int32(1), m.resumed.Load())
	}
	for box.notify(changed(sessions.KindTurn, "t", 99, maxNotes), members[0]) {
		continue
	}
	require.False(t, box.notify(changed(sessions.KindTurn, "t", 100, 1), members[1]))
	box.forget(members[1])
	_, err = reader.Read()
	require.NoError(t, err)
	require.Eventually(t, func() bool { return members[0].resumed.Load() == 2 }, 10*time.Second, time.Millisecond)
	require.Equal(t, int32(1), members[1].resumed.Load(), "it has left")
	box.finish(nil)
	ours.Close()
}

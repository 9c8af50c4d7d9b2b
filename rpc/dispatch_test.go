package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// held is a method that reports the start of each request, and answers when the test lets it.
type held struct {
	begun   chan string
	release chan struct{}
}

func newHeld() held { return held{begun: make(chan string, 1000), release: make(chan struct{})} }

func (h held) method(o order) method {
	return method{
		order: o, lane: workspaceOf,
		serve: func(ctx context.Context, params json.RawMessage, reply func(any, error)) {
			h.begun <- string(params)
			answer := func() {
				select {
				case <-h.release:
					reply(params, nil)
				case <-ctx.Done():
					reply(nil, ctx.Err())
				}
			}
			if o == deferred {
				go answer()
			} else {
				answer()
			}
		},
	}
}

func TestIDs(t *testing.T) {
	p := servePeer(t, FramingLines, fixed(map[string]method{"echo": echo(concurrent)}))
	random := rand.New(rand.NewSource(1))
	want := map[string]int{}
	var requests strings.Builder
	for i := range 300 {
		id := ""
		switch i % 4 {
		case 0:
			id = fmt.Sprint(random.Uint64())
		case 1:
			id = fmt.Sprintf("-%d.%de%d", random.Intn(99), random.Intn(99), random.Intn(400))
		case 2:
			id = fmt.Sprintf(`"%d\u00e4%s"`, random.Intn(999), strings.Repeat("é", random.Intn(9)))
		case 3:
			id = fmt.Sprintf(`"%d"`, random.Intn(999))
		}
		want["null "+id]++
		fmt.Fprintf(&requests, `{"id":%s,"method":"echo"}`+"\n", id)
	}
	go func() { _, _ = p.conn.Write([]byte(requests.String())) }()
	got := map[string]int{}
	for range 300 {
		got[outcome(t, p.read())]++
	}
	require.Equal(t, want, got)
}

func TestCancel(t *testing.T) {
	for name, o := range map[string]order{"in order": inOrder, "awaited": awaited, "in a lane": inLane, "concurrent": concurrent, "deferred": deferred} {
		t.Run(name, func(t *testing.T) {
			h := newHeld()
			p := servePeer(t, FramingHeaders, fixed(map[string]method{"held": h.method(o), "echo": echo(concurrent)}))
			// The second waits behind the first, or runs beside it.
			p.send(`{"id":1,"method":"held","params":{"n":1}}`)
			<-h.begun
			p.send(`{"id":"1","method":"held","params":{"n":2}}`)
			p.send(`{"method":"$/cancelRequest","params":{"id":"\u0031"}}`)
			require.Equal(t, `-32800 "1"`, outcome(t, p.read()))
			p.send(`{"method":"$/cancelRequest","params":{"id":"1"}}`)
			p.send(`{"method":"$/cancelRequest","params":{"id":1}}`)
			require.Equal(t, `-32800 1`, outcome(t, p.read()))
			p.send(`{"id":2,"method":"echo"}`)
			require.Equal(t, `null 2`, outcome(t, p.read()))
			require.NotContains(t, p.log.String(), "second reply")
		})
	}
}

func TestAnswerAfterCancelIsDropped(t *testing.T) {
	begun, release, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	p := servePeer(t, FramingLines, fixed(map[string]method{"stubborn": {
		order: concurrent,
		serve: func(_ context.Context, _ json.RawMessage, reply func(any, error)) {
			defer close(done)
			close(begun)
			<-release
			reply("late", nil)
		},
	}, "echo": echo(inOrder)}))
	p.send(`{"id":1,"method":"stubborn"}`)
	<-begun
	p.send(`{"method":"$/cancelRequest","params":{"id":1}}`)
	require.Equal(t, "-32800 1", outcome(t, p.read()))
	close(release)
	<-done
	p.send(`{"id":2,"method":"echo"}`)
	require.Equal(t, "null 2", outcome(t, p.read()))
	require.Empty(t, p.log.String())
}

func TestSlowRequestsHoldNobodyUp(t *testing.T) {
	h, waits := newHeld(), newHeld()
	p := servePeer(t, FramingLines, fixed(map[string]method{
		"slow": h.method(concurrent), "lane": h.method(inLane), "wait": waits.method(deferred), "echo": echo(inOrder),
	}))
	const n = 3 * maxRunning
	for i := range n {
		p.send(fmt.Sprintf(`{"id":%d,"method":"slow"}`, i))
		p.send(fmt.Sprintf(`{"id":%d,"method":"wait"}`, n+i))
	}
	for range maxRunning {
		<-h.begun
	}
	for range n {
		<-waits.begun
	}
	p.send(`{"id":"quick","method":"echo"}`)
	require.Equal(t, `null "quick"`, outcome(t, p.read()))
	require.Empty(t, h.begun)
	close(h.release)
	close(waits.release)
	answers := map[string]bool{}
	for range 2 * n {
		answers[outcome(t, p.read())] = true
	}
	require.Len(t, answers, 2*n)
}

func TestLanes(t *testing.T) {
	h := newHeld()
	p := servePeer(t, FramingLines, fixed(map[string]method{"held": h.method(inLane)}))
	for i, workspace := range []string{"a", "a", "b", "b", "a"} {
		p.send(fmt.Sprintf(`{"id":%d,"method":"held","params":{"workspace":%q,"n":%d}}`, i, workspace, i))
	}
	began := []string{<-h.begun, <-h.begun}
	require.ElementsMatch(t, []string{`{"workspace":"a","n":0}`, `{"workspace":"b","n":2}`}, began)
	close(h.release)
	order := map[string][]string{}
	for range 5 {
		answer := outcome(t, p.read())
		order[answer[:len(`{"workspace":"a"`)]] = append(order[answer[:len(`{"workspace":"a"`)]], answer[len(answer)-1:])
	}
	require.Equal(t, map[string][]string{`{"workspace":"a"`: {"0", "1", "4"}, `{"workspace":"b"`: {"2", "3"}}, order)
}

func TestRequestsAndNotificationsKeepTheirOrder(t *testing.T) {
	var seen []string // owned by the ordered worker
	p := servePeer(t, FramingLines, func(*outbox) table {
		return table{
			methods: map[string]method{"seen": {serve: func(_ context.Context, _ json.RawMessage, reply func(any, error)) {
				reply(seen, nil)
			}}},
			notified: func(name string, params json.RawMessage) {
				if name == "panic" {
					panic("ouch")
				}
				seen = append(seen, name+string(params))
			},
		}
	})
	p.raw(`{"method":"a"}` + "\n" + `{"method":"panic"}` + "\n" + `{"method":"b","params":[1]}` + "\n" + `{"id":1,"method":"seen"}` + "\n" + `{"method":"c"}` + "\n" + `{"id":2,"method":"seen"}` + "\n")
	require.Equal(t, `["a","b[1]"] 1`, outcome(t, p.read()))
	require.Equal(t, `["a","b[1]","c"] 2`, outcome(t, p.read()))
	require.Contains(t, p.log.String(), "ouch")
}

func TestFaultyMethods(t *testing.T) {
	serve := func(f func(reply func(any, error))) func(context.Context, json.RawMessage, func(any, error)) {
		return func(_ context.Context, _ json.RawMessage, reply func(any, error)) { f(reply) }
	}
	methods := map[string]method{}
	for _, o := range []order{inOrder, awaited, inLane, concurrent, deferred} {
		methods[fmt.Sprint("panic", o)] = method{order: o, lane: workspaceOf, serve: serve(func(func(any, error)) { panic("boom") })}
		if o != deferred && o != awaited {
			methods[fmt.Sprint("silent", o)] = method{order: o, lane: workspaceOf, serve: serve(func(func(any, error)) {})}
		}
		methods[fmt.Sprint("unencodable", o)] = method{order: o, lane: workspaceOf, serve: serve(func(reply func(any, error)) { reply(make(chan int), nil) })}
	}
	p := servePeer(t, FramingLines, fixed(methods))
	for name := range methods {
		p.send(`{"id":7,"method":"` + name + `"}`)
		require.Equal(t, "-32603 7", outcome(t, p.read()), name)
	}
	methods["twice"] = method{serve: serve(func(reply func(any, error)) { reply(1, nil); reply(2, nil) })}
	p = servePeer(t, FramingLines, fixed(methods))
	p.send(`{"id":7,"method":"twice"}`)
	require.Equal(t, "1 7", outcome(t, p.read()))
	p.send(`{"id":8,"method":"twice"}`)
	require.Equal(t, "1 8", outcome(t, p.read()))
	require.Contains(t, p.log.String(), "second reply")
}

func TestErrorsOnTheWire(t *testing.T) {
	for want, err := range map[string]error{
		`{"code":-32602,"message":"x: no","data":{"kind":"invalid","field":"x"}}`:        invalid("x", "no"),
		`{"code":-32001,"message":"turn 1: gone","data":{"kind":"notFound"}}`:            &api.Error{Kind: api.KindNotFound, Message: "turn 1: gone"},
		`{"code":-32005,"message":"no","data":{"kind":"workspaceUntrusted","hint":"h"}}`: &api.Error{Kind: api.KindWorkspaceUntrusted, Message: "no", Hint: "h"},
		`{"code":-32002,"message":"a: b","data":{"kind":"busy"}}`:                        fmt.Errorf("a: %w", &api.Error{Kind: api.KindBusy, Message: "b"}),
		`{"code":-32800,"message":"cancelled","data":{"kind":"cancelled"}}`:              fmt.Errorf("a: %w", context.Canceled),
		`{"code":-32603,"message":"plain <&>","data":{"kind":"internal"}}`:               errors.New("plain <&>"),
		`{"code":-32600,"message":"m"}`:                                                  notRequest("m"),
	} {
		p := servePeer(t, FramingLines, fixed(map[string]method{"fail": {
			serve: func(_ context.Context, _ json.RawMessage, reply func(any, error)) { reply(nil, err) },
		}}))
		p.send(`{"id":1,"method":"fail"}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":`+want+`}`, p.read())
	}
}

func TestShutdownAndExit(t *testing.T) {
	h := newHeld()
	p := servePeer(t, FramingHeaders, fixed(map[string]method{"held": h.method(concurrent), "echo": echo(inOrder)}))
	p.send(`{"id":1,"method":"held","params":{}}`)
	<-h.begun
	p.send(`{"id":2,"method":"shutdown"}`)
	require.Equal(t, "null 2", outcome(t, p.read()))
	p.send(`{"id":3,"method":"echo"}`)
	require.Equal(t, "-32600 3", outcome(t, p.read()))
	p.send(`{"id":4,"method":"shutdown"}`)
	require.Equal(t, "-32600 4", outcome(t, p.read()))
	close(h.release)
	require.Equal(t, "{} 1", outcome(t, p.read()))
	p.send(`{"method":"exit"}`)
	p.ended()
}

// TestEndOfInput: requests before the connection's end are answered, for scripts that do not wait.
func TestEndOfInput(t *testing.T) {
	for _, end := range []string{`{"method":"exit"}` + "\n", ""} {
		t.Run("by "+end, func(t *testing.T) {
			client, server := socketPair(t)
			h, waits := newHeld(), newHeld()
			p := servePeerOn(t, context.Background(), client, server, FramingLines, fixed(map[string]method{
				"slow": h.method(concurrent), "wait": waits.method(deferred), "echo": echo(inOrder),
			}))
			p.raw(`{"id":1,"method":"slow"}` + "\n" + `{"id":2,"method":"wait"}` + "\n")
			<-h.begun
			<-waits.begun
			p.raw(`{"id":3,"method":"echo"}` + "\n" + end)
			if end == "" {
				require.NoError(t, client.(*net.UnixConn).CloseWrite())
			}
			answers := []string{outcome(t, p.read()), outcome(t, p.read())}
			require.ElementsMatch(t, []string{"null 3", "-32800 2"}, answers)
			close(h.release)
			require.Equal(t, "null 1", outcome(t, p.read()))
			p.ended()
		})
	}
}

// TestNotificationsBeforeTheEndAreTaken: a connection ends while a notification is being taken. The next one, perhaps of a save, is
// taken before the client counts as gone.
func TestNotificationsBeforeTheEndAreTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string // owned by the ordered worker
		release := make(chan struct{})
		free := sync.OnceFunc(func() { close(release) })
		defer free()
		d := newDispatcher(table{
			notified: func(name string, _ json.RawMessage) {
				if seen = append(seen, name); name == "slow" {
					<-release
				}
			},
			ended: func() { seen = append(seen, "ended") },
		}, slog.New(slog.DiscardHandler))
		d.notification("slow", nil)
		d.notification("save", nil)
		go d.drain()
		synctest.Wait()
		require.Equal(t, []string{"slow"}, seen)
		free()
		synctest.Wait()
		require.Equal(t, []string{"slow", "save", "ended"}, seen)
	})
}

func TestServerEndsConnection(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	client, server := socketPair(t)
	waits := newHeld()
	p := servePeerOn(t, ctx, client, server, FramingLines, fixed(map[string]method{"wait": waits.method(deferred)}))
	p.send(`{"id":1,"method":"wait"}`)
	<-waits.begun
	cancel()
	require.Equal(t, "-32800 1", outcome(t, p.read()))
	p.ended()
}

func socketPair(t testing.TB) (client, server net.Conn) {
	l, err := net.Listen("unix", shortPath(t))
	require.NoError(t, err)
	defer l.Close()
	client, err = net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	server, err = l.Accept()
	require.NoError(t, err)
	return client, server
}

func FuzzDispatch(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"echo"}` + "\n" + `{"id":2,"method":"slow","params":{}}` + "\n" + `{"method":"$/cancelRequest","params":{"id":2}}`))
	f.Add([]byte("Content-Length: 24\r\n\r\n" + `{"id":1,"method":"echo"}`))
	for _, bad := range badMessages {
		if len(bad.body) < 200 {
			f.Add([]byte(" " + bad.body + "\n" + `{"id":"x","method":"echo"}`))
			f.Add(AppendFrame(nil, FramingHeaders, []byte(bad.body)))
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		// If exit is not read as a message, its bytes complete the frame.
		end := "\n" + `{"method":"exit"}` + "\n" + string(make([]byte, 1<<10))
		_, framing, ends := readAll(strings.NewReader(string(input)+end), MaxMessage)
		if framing == FramingHeaders && ends == io.ErrUnexpectedEOF.Error() {
			return // the frame is so long that the connection would go on
		}
		want := map[string]int{} // expected responses by id, from an independent reading
		bodies, _, _ := readAll(strings.NewReader(string(input)), MaxMessage)
		for _, body := range bodies {
			m, bad := ParseMessage([]byte(body))
			switch {
			case bad != nil:
				want[idText(m.ID)]++
			case m.IsResponse():
			case m.ID != nil:
				want[idText(m.ID)]++
			case m.Method == "exit":
				return // later input is not read
			}
		}
		client, server := net.Pipe()
		p := servePeerOn(t, context.Background(), client, server, FramingLines, fixed(map[string]method{
			"echo": echo(inOrder), "slow": echo(concurrent),
		}))
		require.NoError(t, p.conn.SetReadDeadline(time.Now().Add(2*time.Second))) // fails on a pipe that has ended
		go func() {
			_, _ = p.conn.Write(input)
			_, _ = p.conn.Write([]byte(end))
		}()
		got := map[string]int{}
		for {
			body, err := p.reader.Read()
			if err != nil {
				break
			}
			var r struct {
				ID json.RawMessage `json:"id"`
			}
			require.NoError(t, json.Unmarshal(body, &r))
			got[string(r.ID)]++
		}
		for id, n := range want {
			if id != "null" { // frames cut off by the end add to these
				require.Equal(t, n, got[id], "id %s", id)
			}
		}
	})
}

func idText(id json.RawMessage) string {
	if id == nil {
		return "null"
	}
	return string(id)
}

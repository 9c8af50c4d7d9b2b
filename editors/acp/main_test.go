package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cursord/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type obj = map[string]any

// An editor is one end of a Server; at the other one is a daemon of canned answers. What the tests of processes cannot have the real
// daemon do is tried with it.
type editor struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan rpc.Message // from the server

	mu     sync.Mutex
	own    string // the method whose requests the test answers, and not the canned answer
	daemon net.Conn
	calls  chan rpc.Message // of the server, those of methods that no answer below has left out
}

// canned are the answers of the daemon.
var canned = map[string]string{
	"initialize": `{}`, "agent/models": `{"models":[]}`, "workspace/subscribe": `{"workspace":"/ws","seq":1,"epoch":"e","reset":false}`,
	"session/create":  `{"session":{"id":"s","workspace":"/ws","mode":"agent","isolation":"none","turns":0,"seq":2,"createdAt":"2026-01-02T03:04:05.000Z","updatedAt":"2026-01-02T03:04:05.000Z"}}`,
	"approval/answer": `{}`, "approval/list": `{"approvals":[]}`, "session/list": `{"sessions":[]}`, "turn/start": `{}`,
}

func edits(t *testing.T) *editor { return editsWith(t, obj{}) }

// editsWith is edits for an editor with these capabilities.
func editsWith(t *testing.T, capabilities obj) *editor {
	serverIn, in := io.Pipe()
	out, serverOut := io.Pipe()
	e := &editor{t: t, in: in, lines: make(chan rpc.Message, 100), calls: make(chan rpc.Message, 100)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Serve(context.Background(), serverIn, serverOut, Options{Version: "test", Dial: e.dial, Log: slog.New(slog.DiscardHandler)})
		serverOut.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		r := bufio.NewScanner(out)
		for r.Scan() {
			m, bad := rpc.ParseMessage(bytes.Clone(r.Bytes()))
			if bad != nil {
				t.Errorf("%s: %s", bad.Message, r.Bytes())
			}
			e.lines <- m
		}
	}()
	t.Cleanup(func() {
		in.Close()
		<-ended
		<-read
	})
	raw, err := json.Marshal(capabilities)
	require.NoError(t, err)
	e.sends(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":` + string(raw) + `}}`)
	e.sends(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/ws"}}`)
	e.hears("commands", func(m rpc.Message) bool { return strings.Contains(string(m.Params), "available_commands_update") })
	return e
}

func (e *editor) dial(onNotify func(string, json.RawMessage)) *rpc.Client {
	ours, theirs := net.Pipe()
	e.mu.Lock()
	e.daemon = theirs
	e.mu.Unlock()
	go func() {
		r := rpc.NewFrameReader(theirs, rpc.MaxMessage)
		for {
			body, err := r.Read()
			if err != nil {
				theirs.Close()
				return
			}
			m, _ := rpc.ParseMessage(body)
			if answer := canned[m.Method]; answer != "" && m.ID != nil && m.Method != e.ownMethod() {
				e.tells(rpc.AppendResponse(nil, m.ID, json.RawMessage(answer), nil))
			}
			e.calls <- m
		}
	}()
	return rpc.NewClient(ours, onNotify)
}

// answersItself has the test answer requests of a method.
func (e *editor) answersItself(method string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.own = method
}

func (e *editor) ownMethod() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.own
}

// tells sends a message of the daemon.
func (e *editor) tells(body []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.daemon.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, body))
}

func (e *editor) notifies(method string, params any) {
	raw, err := json.Marshal(params)
	require.NoError(e.t, err)
	e.tells(rpc.AppendRequest(nil, nil, method, raw))
}

func (e *editor) sends(line string) { _, _ = io.WriteString(e.in, line+"\n") }

// answers answers a request of the server.
func (e *editor) answers(m rpc.Message, result string) {
	e.sends(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + result + `}`)
}

func (e *editor) hears(what string, fits func(rpc.Message) bool) rpc.Message {
	for m := range e.lines {
		if fits(m) {
			return m
		}
	}
	e.t.Fatalf("the server ended before %s", what)
	return rpc.Message{}
}

func (e *editor) asked(method string) rpc.Message {
	return e.hears(method, func(m rpc.Message) bool { return m.Method == method })
}

// called waits for a request of the server to the daemon.
func (e *editor) called(method string) (params string) { return string(e.request(method).Params) }

func (e *editor) request(method string) rpc.Message {
	for m := range e.calls {
		if m.Method == method {
			return m
		}
	}
	return rpc.Message{}
}

// replies answers a request of the server to the daemon.
func (e *editor) replies(m rpc.Message, result string) {
	e.tells(rpc.AppendResponse(nil, m.ID, json.RawMessage(result), nil))
}

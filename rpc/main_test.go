package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv("RPC_TEST_AGENT") != "" {
		playAgent()
		return
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait in these tests; only a failure uses it up.
const patience = 2 * time.Minute

// A peer is the other end of a served connection, as raw as a script.
type peer struct {
	t       testing.TB
	conn    net.Conn
	framing Framing
	reader  *FrameReader
	log     *lockedBuffer
	served  chan struct{} // closed when serving has ended
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// servePeer serves a table on a pipe and returns its other end.
func servePeer(t testing.TB, framing Framing, newTable func(*outbox) table) *peer {
	ours, theirs := net.Pipe()
	return servePeerOn(t, context.Background(), ours, theirs, framing, newTable)
}

func servePeerOn(t testing.TB, ctx context.Context, ours, theirs net.Conn, framing Framing, newTable func(*outbox) table) *peer {
	p := &peer{
		t: t, conn: ours, framing: framing, reader: NewFrameReader(ours, HardCap),
		log: &lockedBuffer{}, served: make(chan struct{}),
	}
	log := slog.New(slog.NewTextHandler(p.log, nil))
	go func() {
		defer close(p.served)
		serveTable(ctx, theirs, newTable, log)
	}()
	t.Cleanup(func() {
		ours.Close()
		<-p.served
	})
	require.NoError(t, ours.SetDeadline(time.Now().Add(patience)))
	return p
}

func (p *peer) raw(bytes string) {
	p.t.Helper()
	_, err := io.WriteString(p.conn, bytes)
	require.NoError(p.t, err)
}

func (p *peer) send(body string) {
	p.t.Helper()
	_, err := p.conn.Write(AppendFrame(nil, p.framing, []byte(body)))
	require.NoError(p.t, err)
}

func (p *peer) read() string {
	p.t.Helper()
	body, err := p.reader.Read()
	require.NoError(p.t, err)
	require.True(p.t, json.Valid(body), "%s", body)
	return string(body)
}

// ended waits for the connection to be closed by the server.
func (p *peer) ended() {
	p.t.Helper()
	_, err := p.reader.Read()
	require.ErrorIs(p.t, err, io.EOF)
	<-p.served
}

// fixed returns a table maker for methods that need no outbox.
func fixed(methods map[string]method) func(*outbox) table {
	return func(*outbox) table { return table{methods: methods} }
}

// echo answers with its parameters.
func echo(o order) method {
	return method{order: o, serve: func(_ context.Context, params json.RawMessage, reply func(any, error)) {
		if params == nil {
			params = json.RawMessage("null")
		}
		reply(params, nil)
	}}
}

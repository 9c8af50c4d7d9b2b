package join

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// patience bounds every wait in these tests; only a failure uses it up.
const patience = 20 * time.Second

// A joined is a client and its daemons, all played by the test, and a joiner between them.
type joined struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	dials  chan dialed // results of the joiner's dials
	dialed chan struct{}
	rests  atomic.Bool // the last daemon was stopped on purpose
	daemon *net.UnixConn
	down   *rpc.FrameReader
	own    string // the prefix of the ids of the joiner's own requests
	ended  chan bool
}

type dialed struct {
	conn io.ReadWriteCloser
	err  error
}

func newJoined(t *testing.T) *joined {
	return &joined{t: t, dials: make(chan dialed, 8), dialed: make(chan struct{}, 64), ended: make(chan bool, 1)}
}

func startJoin(t *testing.T) *joined {
	inReader, in := io.Pipe()
	outReader, out := io.Pipe()
	j := newJoined(t)
	j.in, j.out = in, bufio.NewReader(outReader)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		j.ended <- Run(ctx, inReader, out, j.access())
		out.Close()
	}()
	t.Cleanup(func() {
		cancel()
		in.Close()
		outReader.Close()
	})
	return j
}

// access leads to the daemons that the test plays.
func (j *joined) access() Access {
	return Access{
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
			j.dialed <- struct{}{}
			select {
			case d := <-j.dials:
				return d.conn, d.err
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		Handshake: func() (string, json.RawMessage) { return "test/hello", nil },
		Silent:    func() string { return "it says nothing" },
		Stopped:   j.rests.Load,
		Starting:  func() bool { return true },
	}
}

// pair returns both ends of a connection.
func pair(t *testing.T) (joiner, daemon *net.UnixConn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	defer l.Close()
	conn, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	accepted, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { accepted.Close() })
	return conn.(*net.UnixConn), accepted.(*net.UnixConn)
}

// connect lets the joiner's next dial succeed, and takes and answers its hello.
func (j *joined) connect() {
	j.t.Helper()
	conn, accepted := pair(j.t)
	j.dials <- dialed{conn: conn}
	require.NoError(j.t, accepted.SetReadDeadline(time.Now().Add(patience)))
	j.daemon, j.down = accepted, rpc.NewFrameReader(accepted, rpc.HardCap)
	var hello struct{ ID, Method string }
	require.NoError(j.t, json.Unmarshal([]byte(j.asked()), &hello))
	require.Equal(j.t, "test/hello", hello.Method)
	j.own = strings.TrimSuffix(hello.ID, "handshake")
	j.tells(`{"jsonrpc":"2.0","id":"` + hello.ID + `","error":{"code":-32601,"message":"no such method"}}`)
}

// asked returns the next message to the daemon.
func (j *joined) asked() string {
	j.t.Helper()
	body, err := j.down.Read()
	require.NoError(j.t, err)
	return string(body)
}

// tells sends messages from the daemon.
func (j *joined) tells(bodies ...string) {
	j.t.Helper()
	var frames []byte
	for _, body := range bodies {
		frames = rpc.AppendFrame(frames, rpc.FramingHeaders, []byte(body))
	}
	_, err := j.daemon.Write(frames)
	require.NoError(j.t, err)
}

// says sends lines from the client.
func (j *joined) says(lines ...string) {
	j.t.Helper()
	_, err := io.WriteString(j.in, strings.Join(lines, "\n")+"\n")
	require.NoError(j.t, err)
}

// hears returns the next line to the client.
func (j *joined) hears() string {
	j.t.Helper()
	text, err := j.out.ReadString('\n')
	require.NoError(j.t, err)
	return strings.TrimSuffix(text, "\n")
}

func (j *joined) hearsAll(lines ...string) {
	j.t.Helper()
	for _, want := range lines {
		require.Equal(j.t, want, j.hears())
	}
}

const (
	askInitialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"me"}}}`
	saysConnected = `{"jsonrpc":"2.0","method":"log/message","params":{"level":"info","message":"connected to the cursord daemon again"}}`
)

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// A joined is a client and a daemon, both played by the test, with a joiner between them.
type joined struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	lines  chan line // what the joiner's dial returns
	daemon *net.UnixConn
	down   *bufio.Reader
	status chan int
}

func startJoin(t *testing.T) *joined {
	inReader, in := io.Pipe()
	outReader, out := io.Pipe()
	j := &joined{t: t, in: in, out: bufio.NewReader(outReader), lines: make(chan line, 1), status: make(chan int, 1)}
	go func() {
		j.status <- join(context.Background(), inReader, out, func(context.Context) (net.Conn, error) {
			l := <-j.lines
			return l.conn, l.err
		})
		out.Close()
	}()
	t.Cleanup(func() {
		in.Close()
		outReader.Close()
	})
	return j
}

// connect lets the joiner's dial succeed.
func (j *joined) connect() {
	j.t.Helper()
	dir, err := os.MkdirTemp("", "s")
	require.NoError(j.t, err)
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(j.t, err)
	defer l.Close()
	conn, err := net.Dial("unix", l.Addr().String())
	require.NoError(j.t, err)
	j.lines <- line{conn: conn}
	accepted, err := l.Accept()
	require.NoError(j.t, err)
	j.t.Cleanup(func() { accepted.Close() })
	j.daemon = accepted.(*net.UnixConn)
	j.down = bufio.NewReader(accepted)
}

func (j *joined) write(w io.Writer, text string) {
	j.t.Helper()
	_, err := io.WriteString(w, text)
	require.NoError(j.t, err)
}

func (j *joined) read(r *bufio.Reader) string {
	j.t.Helper()
	text, err := r.ReadString('\n')
	require.NoError(j.t, err)
	return strings.TrimSuffix(text, "\n")
}

const askInitialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"me"}}}` + "\n"

func TestJoin(t *testing.T) {
	j := startJoin(t)
	// initialize is answered while there is no line yet.
	j.write(j.in, askInitialize)
	require.Contains(t, j.read(j.out), `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,`)
	j.connect()
	require.Equal(t, `{"jsonrpc":"2.0","id":`+initializeID+`,"method":"initialize","params":{"clientInfo":{"name":"me"}}}`, j.read(j.down))

	// All else passes as it is, in any order; the daemon's own answer to initialize does not.
	odd := `{ "id" : 1e0, "method":"odd\u0021", "params" : [ ] , "more":"ü" }`
	j.write(j.in, odd+"\n"+"not json\n")
	require.Equal(t, odd, j.read(j.down))
	require.Equal(t, "not json", j.read(j.down))
	j.write(j.daemon, `{"jsonrpc":"2.0","method":"early"}`+"\n")
	j.write(j.daemon, `{"jsonrpc":"2.0","id":`+initializeID+`,"result":{}}`+"\n")
	j.write(j.daemon, `{"id":1e0,"result":7}`+"\n")
	require.Equal(t, `{"jsonrpc":"2.0","method":"early"}`, j.read(j.out))
	require.Equal(t, `{"id":1e0,"result":7}`, j.read(j.out))

	// The end of the input is passed on, and the last answers are waited for.
	require.NoError(t, j.in.Close())
	_, err := j.down.ReadByte()
	require.ErrorIs(t, err, io.EOF)
	j.write(j.daemon, `{"id":2,"result":"last"}`+"\n")
	require.NoError(t, j.daemon.Close())
	require.Equal(t, `{"id":2,"result":"last"}`, j.read(j.out))
	require.Equal(t, exitOK, <-j.status)
}

func TestJoinHeaders(t *testing.T) {
	j := startJoin(t)
	j.connect()
	j.write(j.in, "content-length: 17\nX: y\n\n{\"method\":\"line\n\"")
	frame := make([]byte, len("Content-Length: 17\r\n\r\n{\"method\":\"line\n\""))
	_, err := io.ReadFull(j.down, frame)
	require.NoError(t, err)
	require.Equal(t, "Content-Length: 17\r\n\r\n{\"method\":\"line\n\"", string(frame))

	// A header that cannot be read ends the connection, after an error.
	j.write(j.in, "nonsense\r\n")
	body, err := rpc.NewFrameReader(j.out, rpc.MaxMessage).Read()
	require.NoError(t, err)
	require.Contains(t, string(body), `"id":null,"error":{"code":-32700`)
	_, err = j.down.ReadByte()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, j.daemon.Close())
	require.Equal(t, exitFailed, <-j.status)
}

func TestJoinSkipsWhatIsTooLong(t *testing.T) {
	j := startJoin(t)
	j.connect()
	go func() {
		// Fails only with the test.
		_, _ = io.WriteString(j.in, `{"x":"`+strings.Repeat("x", rpc.MaxMessage)+"\"}\n"+`{"method":"after"}`+"\n")
	}()
	require.Equal(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message over the limit of 16777216 bytes"}}`, j.read(j.out))
	require.Equal(t, `{"method":"after"}`, j.read(j.down))
}

func TestJoinLosesTheDaemon(t *testing.T) {
	j := startJoin(t)
	j.connect()
	j.write(j.in, `{"id":1,"method":"x"}`+"\n")
	j.read(j.down)
	require.NoError(t, j.daemon.Close())
	require.Contains(t, j.read(j.out), `{"jsonrpc":"2.0","method":"log/message","params":{"level":"error","message":"the cursord daemon has ended`)
	require.Equal(t, exitFailed, <-j.status)
}

func TestJoinWithoutDaemon(t *testing.T) {
	j := startJoin(t)
	j.lines <- line{err: errors.New("no room <here>")}
	j.write(j.in, askInitialize)
	require.Contains(t, j.read(j.out), `"id":1,"result":{"protocolVersion":1,`)
	require.Contains(t, j.read(j.out), `"method":"log/message"`)
	j.write(j.in, `{"id":"a","method":"x"}`+"\n"+`{"method":"x"}`+"\n"+`{"id":1,"result":{}}`+"\n"+`{"id":2,"method":"shutdown"}`+"\n")
	var answer struct {
		ID    string
		Error rpc.Error
	}
	require.NoError(t, json.Unmarshal([]byte(j.read(j.out)), &answer))
	require.Equal(t, "a", answer.ID)
	require.Equal(t, "no room <here>", answer.Error.Message)
	require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":null}`, j.read(j.out))
	j.write(j.in, `{"method":"exit"}`+"\n")
	require.Equal(t, exitFailed, <-j.status)
}

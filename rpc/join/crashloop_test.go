package join

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// TestCrashLoop: after daemons that end as they begin, the pauses grow. A pause ends when the client asks for something, and when it leaves.
func TestCrashLoop(t *testing.T) {
	const crashes = 10
	for name, do := range map[string]func(*io.PipeWriter) error{
		"nothing": nil,
		"a request": func(in *io.PipeWriter) error {
			_, err := io.WriteString(in, `{"id":1,"method":"session/list"}`+"\n")
			return err
		},
		"the client leaves": (*io.PipeWriter).Close,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				dials, ended := make(chan net.Conn), make(chan bool, 1)
				inReader, in := io.Pipe()
				defer in.Close()
				go func() {
					ended <- Run(ctx, inReader, io.Discard, Access{
						Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
							ours, theirs := net.Pipe()
							select {
							case dials <- theirs:
								return ours, nil
							case <-ctx.Done():
								return nil, ctx.Err()
							}
						},
						Handshake: func() (string, json.RawMessage) { return "test/hello", nil },
						Silent:    func() string { return "it says nothing" },
						Stopped:   func() bool { return false },
						Starting:  func() bool { return false },
					})
				}()
				for range crashes {
					crash(t, <-dials)
				}
				synctest.Wait()
				since := time.Now()
				if do == nil {
					crash(t, <-dials)
					require.Equal(t, crashes*crashes*10*time.Millisecond, time.Since(since))
				} else {
					require.NoError(t, do(in))
					crash(t, <-dials)
					require.Zero(t, time.Since(since))
				}
				in.Close()
				for over := false; !over; {
					select {
					case conn := <-dials:
						crash(t, conn)
					case <-ended:
						over = true
					}
				}
			})
		})
	}
}

// crash plays a daemon that answers the first request, and ends.
func crash(t *testing.T, conn net.Conn) {
	t.Helper()
	body, err := rpc.NewFrameReader(conn, rpc.HardCap).Read()
	require.NoError(t, err)
	var hello struct{ ID json.RawMessage }
	require.NoError(t, json.Unmarshal(body, &hello))
	_, err = conn.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, rpc.AppendResponse(nil, hello.ID, json.RawMessage(`{}`), nil)))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

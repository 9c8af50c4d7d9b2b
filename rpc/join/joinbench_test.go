package join

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// BenchmarkJoiner measures a joiner's cost per delta at full speed, with many deltas at a time.
func BenchmarkJoiner(b *testing.B) {
	const batch = 64
	delta := `{"jsonrpc":"2.0","method":"item/delta","params":{"workspace":"/home/me/app","sessionId":"01JD","turnId":"01JE","itemId":"01JE:1","kind":"assistant","offset":12345,"text":"a few words "}}`
	frames := bytes.Repeat(rpc.AppendFrame(nil, rpc.FramingHeaders, []byte(delta)), batch)
	daemon, joinerEnd := io.Pipe()
	hello := make(chan string, 1)
	in, inEnd := io.Pipe()
	out, outEnd := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go Run(ctx, in, outEnd, Access{
		Dial:      func(context.Context) (io.ReadWriteCloser, error) { return benchLine{daemon, hello}, nil },
		Handshake: func() (string, json.RawMessage) { return "hello", nil },
		Silent:    func() string { return "" },
		Stopped:   func() bool { return false },
		Starting:  func() bool { return true },
	})
	_, err := io.WriteString(joinerEnd, fmt.Sprintf("Content-Length: 2\r\n\r\n{}"+"%s", rpc.AppendFrame(nil, rpc.FramingHeaders, []byte(`{"jsonrpc":"2.0","id":`+<-hello+`,"result":{}}`))))
	require.NoError(b, err)
	_, err = io.WriteString(inEnd, `{"jsonrpc":"2.0","method":"initialized"}`+"\n")
	require.NoError(b, err)
	go func() {
		for {
			if _, err := joinerEnd.Write(frames); err != nil {
				return
			}
		}
	}()
	defer joinerEnd.Close()
	buf := make([]byte, 64<<10)
	b.ReportAllocs()
	got := 0
	for n := 0; b.Loop(); n++ {
		for want := (n + 1) * (len(delta) + 1); got < want; {
			k, err := out.Read(buf)
			require.NoError(b, err)
			got += k
		}
	}
}

// benchLine reads from a pipe and drops all writes, except the id in the first one, a hello.
type benchLine struct {
	io.Reader
	hello chan string
}

func (l benchLine) Write(p []byte) (int, error) {
	_, body, _ := bytes.Cut(p, []byte("\r\n\r\n"))
	var m struct{ ID json.RawMessage }
	if json.Unmarshal(body, &m) == nil && m.ID != nil {
		select {
		case l.hello <- string(m.ID):
		default:
		}
	}
	return len(p), nil
}

func (l benchLine) Close() error { return nil }

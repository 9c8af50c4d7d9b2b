package outbox

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cursord/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A slow editor does not read before the test lets it.
type slow struct {
	reads   chan struct{} // closed when it reads
	writing chan struct{} // closed when the first write has begun
	text    strings.Builder
}

func newSlow() *slow { return &slow{reads: make(chan struct{}), writing: make(chan struct{})} }

func (s *slow) Write(b []byte) (int, error) {
	if s.text.Len() == 0 {
		close(s.writing)
	}
	<-s.reads
	return s.text.Write(b)
}

// TestLatestOfAKey: of the messages with one key that an editor has not read, only the latest is kept, and it is written behind the
// messages without a key that were sent before it.
func TestLatestOfAKey(t *testing.T) {
	to := newSlow()
	b := New(to)
	b.SetFraming(rpc.FramingLines)
	b.Start()
	b.Send("", []byte("first"))
	<-to.writing
	for i := range 1000 {
		b.Send("a", fmt.Appendf(nil, "a%d", i))
		b.Send("b", fmt.Appendf(nil, "b%d", i))
	}
	require.Len(t, b.queue, 2)
	b.Send("", []byte("edit"))
	b.Send("a", []byte("behind the edit"))
	b.Send("a", []byte("the latest"))
	close(to.reads)
	b.Close()
	require.Equal(t, []string{"first", "b999", "edit", "the latest", ""}, strings.Split(to.text.String(), "\n"))
	require.Empty(t, b.keyed)
	b.Send("", []byte("too late"))
	require.NotContains(t, to.text.String(), "too late")
}

// TestBeforeStart writes at once; writes to an editor that is gone do not block.
func TestBeforeStart(t *testing.T) {
	var text strings.Builder
	b := New(&text)
	b.SetFraming(rpc.FramingLines)
	b.SetFraming(rpc.FramingHeaders)
	b.Send("", []byte("answer"))
	require.Equal(t, "answer\n", text.String())
	b.Close()

	in, out := io.Pipe()
	require.NoError(t, in.Close())
	b = New(out)
	b.SetFraming(rpc.FramingLines)
	b.Start()
	b.Send("", []byte("nobody reads"))
	b.Close()
	require.Empty(t, b.queue)
}

// TestWait: a sender that waits for room goes on when the editor has read, and when the outbox is closed.
func TestWait(t *testing.T) {
	to := newSlow()
	b := New(to)
	b.SetFraming(rpc.FramingLines)
	b.Start()
	require.True(t, b.Wait(0), "nothing was sent")
	b.Send("", []byte("first"))
	<-to.writing
	b.Send("k", []byte("long, and replaced"))
	b.Send("k", []byte("short"))
	require.True(t, b.Wait(10), "what waits are ten bytes")
	waited := make(chan bool)
	go func() { waited <- b.Wait(9) }()
	close(to.reads)
	require.True(t, <-waited)
	require.True(t, b.Wait(0))
	b.Close()
	require.False(t, b.Wait(0))
}

// TestPipes: messages come in order through a pipe, and through a socket, whoever writes them, and a full one holds nobody up.
func TestPipes(t *testing.T) {
	in, out, err := os.Pipe()
	require.NoError(t, err)
	inOrder(t, in, out)
}

func inOrder(t *testing.T, in, out *os.File) {
	b := New(out)
	b.SetFraming(rpc.FramingLines)
	b.Start()
	const n = 20_000 // more than a pipe holds
	for i := range n {
		b.Send("", fmt.Appendf(nil, "%d", i))
		if i%1000 == 0 {
			b.Send("", bytes.Repeat([]byte("x"), 10_000))
		}
	}
	go func() {
		b.Close()
		out.Close()
	}()
	i := 0
	for r := bufio.NewScanner(in); r.Scan(); {
		if text := r.Text(); text[0] != 'x' {
			require.Equal(t, fmt.Sprint(i), text)
			i++
		}
	}
	require.Equal(t, n, i)
	in.Close()
}

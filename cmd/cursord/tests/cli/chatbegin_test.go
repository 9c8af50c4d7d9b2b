//go:build unix

package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/chat"
	"cursord/cmd/cursord/internal/view"
	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// A hookedConn calls a function before it sends the first request of a method.
type hookedConn struct {
	io.ReadWriteCloser
	method string
	hook   func()
}

func (c *hookedConn) Write(b []byte) (int, error) {
	if hook := c.hook; hook != nil && bytes.Contains(b, []byte(`"`+c.method+`"`)) {
		c.hook = nil
		hook()
	}
	return c.ReadWriteCloser.Write(b)
}

// A lockedText is a buffer that can be read while it is written.
type lockedText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestChatBeginsWithoutAGap checks that a turn that begins and ends while a chat begins is shown once, whichever request the
// chat is sending at that moment.
func TestChatBeginsWithoutAGap(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"session/list", "session/read", "workspace/subscribe"} {
		for _, same := range []bool{false, true} {
			t.Run(method, func(t *testing.T) {
				w := world.New(t)
				w.Plays(world.Streams("Here."), world.Done)
				w.Start()
				e := w.Opens()
				before := e.Turn(world.Obj{"prompt": "before"})
				conn, err := net.Dial("unix", w.Socket())
				require.NoError(t, err)
				var out lockedText
				v := chat.NewView(view.NewScreen(&out, &out), "")
				client := rpc.NewClient(&hookedConn{ReadWriteCloser: conn, method: method, hook: func() {
					params := world.Obj{"prompt": "in between"}
					if same {
						params["sessionId"] = before.SessionID
					}
					e.Turn(params)
				}}, v.Notify)
				defer client.Close()
				c := &chat.Chat{Client: client, View: v, Params: rpc.TurnStartParams{Workspace: w.Root}}
				ctx, leave := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				nothing, err := os.Open(os.DevNull)
				require.NoError(t, err)
				defer nothing.Close()
				go func() { ended <- c.Run(ctx, nothing, &out) }()
				screen := func() string { return world.Elapsed(out.String()) }
				require.Eventually(t, func() bool {
					return strings.Contains(screen(), "\n> in between\nHere.\n— completed\n")
				}, world.Patience, 10*time.Millisecond)
				leave()
				require.ErrorIs(t, <-ended, context.Canceled)
				require.Equal(t, 1, strings.Count(screen(), "> in between"), screen())
			})
		}
	}
}

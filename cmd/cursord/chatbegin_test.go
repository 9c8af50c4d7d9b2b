//go:build unix

package main

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/view"
	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// A hookedConn does something before it sends the first request of a method.
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

// TestChatBeginsWithoutAGap: a turn that begins and ends while a chat begins is shown, once, whatever the chat is just
// asking for.
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
				var out bytes.Buffer
				v := newChatView(view.NewScreen(&out, &out), "")
				client := rpc.NewClient(&hookedConn{ReadWriteCloser: conn, method: method, hook: func() {
					params := world.Obj{"prompt": "in between"}
					if same {
						params["sessionId"] = before.SessionID
					}
					e.Turn(params)
				}}, v.Notify)
				defer client.Close()
				require.NoError(t, (&chat{client: client, root: w.Root, view: v}).begin(t.Context()))
				screen := func() string {
					v.mu.Lock()
					defer v.mu.Unlock()
					return world.Elapsed(out.String())
				}
				require.Eventually(t, func() bool {
					return strings.Contains(screen(), "\n> in between\nHere.\n— completed\n")
				}, world.Patience, 10*time.Millisecond)
				require.Equal(t, 1, strings.Count(screen(), "> in between"), screen())
			})
		}
	}
}

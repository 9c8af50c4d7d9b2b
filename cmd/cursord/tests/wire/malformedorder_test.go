//go:build unix

package wire

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// TestCutShort closes connections in the middle of a message. The daemon makes nothing of it, and keeps no such client.
func TestCutShort(t *testing.T) {
	t.Parallel()
	const body = `{"jsonrpc":"2.0","id":1,"method":"session/create","params":{"workspace":"/tmp"}}`
	message := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	w := world.New(t)
	w.Start()
	for door, open := range doors(w) {
		t.Run(door, func(t *testing.T) {
			for _, raw := range []string{"C", "Content-Length", "Content-Length: 5", message[:20], message[:23], message[:24], message[:40], message[:len(message)-1], body[:1], body[:len(body)-1]} {
				p := open(t)
				p.write(raw)
				half, ok := p.out.(interface{ CloseWrite() error })
				if ok {
					require.NoError(t, half.CloseWrite())
				} else {
					require.NoError(t, p.out.(io.Closer).Close())
				}
				rest, err := io.ReadAll(p.in)
				require.NoError(t, err, "%q", raw)
				require.NotContains(t, string(rest), `"result"`, "%q", raw)
			}
		})
	}
	e := w.Joins()
	require.Eventually(t, func() bool {
		var s api.Status
		e.Must("daemon/status", nil, &s)
		return s.Clients == 1
	}, world.Patience, world.Patience/1000)
	require.Empty(t, e.SessionIDs())
}

// TestWrongOrder makes requests too early, twice, and after the end.
func TestWrongOrder(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	request := func(id, method string, params map[string]string) string {
		return messageOf(method, params)[:len(`{"jsonrpc":"2.0","id":`)] + id + messageOf(method, params)[len(`{"jsonrpc":"2.0","id":"p"`):]
	}
	ws := inJSON(w.Root)
	for door, open := range doors(w) {
		for _, headers := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/headers=%v", door, headers), func(t *testing.T) {
				p := open(t)
				p.headers = headers
				ask := func(method string, params map[string]string) answer {
					t.Helper()
					p.after = method
					p.send(request(`"p"`, method, params))
					a := p.next()
					require.Equal(t, `"p"`, string(a.ID))
					return a
				}
				refused := func(code int, method string, params map[string]string) {
					t.Helper()
					if a := ask(method, params); assert.NotNil(t, a.Error, method) {
						assert.Equal(t, code, a.Error.Code, "%s: %s", method, a.Error.Message)
					}
				}
				served := func(method string, params map[string]string) {
					t.Helper()
					a := ask(method, params)
					require.Nil(t, a.Error, "%s", method)
				}
				in := func(more ...string) map[string]string {
					params := map[string]string{"workspace": ws}
					for i := 0; i < len(more); i += 2 {
						params[more[i]] = more[i+1]
					}
					return params
				}

				// Too early: nothing has begun, and the folder is not trusted.
				served("workspace/trust", in("trusted", "false"))
				refused(-32005, "turn/start", in("prompt", `"x"`))
				served("workspace/unsubscribe", in())
				for method, id := range map[string]string{
					"turn/wait": "turnId", "turn/cancel": "turnId", "session/read": "sessionId", "session/update": "sessionId", "session/delete": "sessionId",
					"session/export": "sessionId", "item/read": "itemId",
				} {
					refused(-32001, method, map[string]string{id: `"none"`})
				}
				for _, method := range []string{"diff/undo", "diff/redo"} {
					refused(-32001, method, in())
				}
				refused(-32001, "diff/undo", in("decision", "7"))
				refused(-32001, "diff/comment", in("hunk", `"1.1"`, "text", `"x"`))
				for _, method := range []string{"diff/accept", "diff/reject"} {
					refused(-32001, method, in("hunks", `["1.1"]`))
					refused(-32001, method, in("path", `"f"`))
					refused(-32001, method, in("turnId", `"none"`))
					served(method, in("all", "true"))
				}
				p.send(`{"method":"document/didSave","params":{"uri":` + inJSON("file://"+w.Root+"/f") + `,"version":3}}`)
				p.send(`{"method":"document/didClose","params":{"uri":` + inJSON("file://"+w.Root+"/f") + `}}`)

				// Twice, and many at a time with one id: each request has its answer.
				served("initialize", map[string]string{"protocolVersion": "1"})
				refused(-32600, "initialize", map[string]string{"protocolVersion": "1"})
				for range 2 {
					served("workspace/subscribe", in())
				}
				for range 50 {
					p.send(request("5", "workspace/list", nil))
				}
				for range 50 {
					a := p.next()
					require.Equal(t, "5", string(a.ID))
					require.Nil(t, a.Error)
				}
				served("workspace/unsubscribe", in())
				served("workspace/unsubscribe", in())

				// After the shutdown no request is served, and notifications have no effect.
				served("shutdown", nil)
				for _, method := range slices.Sorted(maps.Keys(parameters)) {
					refused(-32600, method, in())
				}
				refused(-32600, "shutdown", nil)
				refused(-32600, "initialize", nil)
				refused(-32600, "daemon/dance", nil)
				p.send(`{"method":"document/didOpen","params":{"uri":` + inJSON("file://"+w.Root+"/f") + `,"text":"x"}}`)
				p.send(`{"method":"initialized"}`)
				p.send(`{"method":"exit"}`)
				_, err := p.in.ReadByte()
				require.Error(t, err)
			})
		}
	}
	require.Empty(t, w.Joins().SessionIDs())
}

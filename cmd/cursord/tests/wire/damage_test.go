//go:build linux

package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// TestDamagedByte damages one byte of a session, a turn, an item or a diff in the database's file. The daemon sets the
// damaged object aside, reports it, and serves everything else.
func TestDamagedByte(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, text string }{
		{"session", `"title":"damage me"`},
		{"turn", `"prompt":"damage me"`},
		{"item", `"text":"damage me, too"`},
		{"diff", `/ws/f","kind"`},
	} {
		t.Run(c.kind, func(t *testing.T) {
			w := world.New(t)
			w.Put("f", "one\n")
			w.Put("g", "one\n")
			w.Start()
			e := w.Opens()
			edit := func(name string) []string {
				return append([]string{world.InitLine, world.Piece("damage me, too")}, world.Lines(world.Edits("c", name, "one\n", "two\n"))...)
			}
			w.Plays(append(edit("f"), world.Succeeds(""))...)
			first := e.Turn(world.Obj{"prompt": "damage me"})
			w.Plays(append(edit("g")[2:], world.Succeeds(""))...)
			second := e.Turn(world.Obj{"prompt": "leave me"})
			w.Stop()
			path := filepath.Join(w.Dir, "state", "cursord.db")
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			damaged := []byte(c.text)
			damaged[len(damaged)-2] ^= 0x80 // makes the text invalid UTF-8
			require.Contains(t, string(b), c.text)
			require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(b, []byte(c.text), damaged), 0o600))

			w.Start()
			e = w.Joins()
			e.Must("initialize", world.Obj{}, nil)
			var list rpc.SessionList
			e.Must("session/list", nil, &list)
			require.Len(t, list.Sessions, 2)
			e.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
			require.Equal(t, sessions.TurnCompleted, e.Ends(second.ID).Status)
			e.Ends(first.ID)
			e.Must("session/read", world.Obj{"sessionId": first.SessionID}, nil)
			e.Message("warning", "something in the database was damaged: it was set aside")
			// All pending hunks are there.
			for name := range map[string]bool{"f": true, "g": true} {
				d := e.Until("the diff of "+name, func(n world.Notification) bool { return n.Diff != nil && n.Diff.Path == name && len(n.Diff.Hunks) == 1 })
				require.Equal(t, "pending", d.Diff.State)
			}
			doctor, _, code := w.Cursord("doctor")
			require.Equal(t, 1, code)
			require.Contains(t, doctor, "1 damaged object in the database set aside")
			var status api.Status
			e.Must("daemon/status", nil, &status)
			require.Equal(t, 1, status.Storage.Damaged)
			e.Decides("diff/reject", world.Obj{"path": "f"})
			require.Equal(t, "one\n", w.Get("f"))
			w.Plays(world.InitLine, world.Succeeds(""))
			require.Equal(t, sessions.TurnCompleted, e.Turn(world.Obj{"sessionId": first.SessionID}).Status)
			messages := 0
			for _, n := range e.All() {
				if strings.Contains(n.Message, "was damaged") {
					messages++
				}
			}
			require.Equal(t, 1, messages)
			w.Stop()
			require.Equal(t, 1, strings.Count(w.Log.String(), "level=ERROR"), w.Log)
			require.Contains(t, w.Log.String(), "something in the database is damaged and was set aside")

			w.Start()
			e = w.Opens()
			e.Must("session/list", nil, &list)
			require.Len(t, list.Sessions, 2)
			// --forget-damaged forgets the object. From then on no message of this daemon or the next one names it.
			forgets, says, code := w.Cursord("doctor", "--forget-damaged")
			require.Contains(t, forgets, "\nforgotten: 1 damaged object in the database, which had been set aside\n\n✓ all is well\n", says)
			require.Zero(t, code)
			var none rpc.ForgetDamagedResult
			e.Must("daemon/forgetDamaged", nil, &none)
			require.Zero(t, none.Forgotten)
			w.Stop()
			w.Start()
			again := w.Opens()
			for _, n := range append(e.All(), again.All()...) {
				require.NotContains(t, n.Message, "was damaged")
			}
			doctor, _, code = w.Cursord("doctor")
			require.Zero(t, code, doctor)
			w.Stop()
			require.Equal(t, 1, strings.Count(w.Log.String(), "level=ERROR"), w.Log)
		})
	}
}

// TestWireIsValidUTF8: an agent's lines and files have bytes that are no UTF-8. Clients get JSON in UTF-8.
func TestWireIsValidUTF8(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "one \xff\n")
	w.Start()
	e := w.Opens()
	bad := "a\xff\xc3b"
	w.Plays(append([]string{world.InitLine, world.Piece("said " + bad),
		`{"type":"tool_call","subtype":"started","call_id":"x","tool_call":{"mcpToolCall":{"args":{"odd":"` + bad + `","command":"` + bad + `"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"x","tool_call":{"mcpToolCall":{"args":{"odd":"` + bad + `"},"result":{"success":{"content":"` + bad + `"}}}}}`,
		`{"type":"tool_call","subtype":"started","call_id":"y","tool_call":{"shellToolCall":{"args":{"command":"` + bad + `"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"y","tool_call":{"shellToolCall":{"args":{"command":"` + bad + `"},"result":{"success":{"stdout":"` + bad + `"}}}}}`},
		append(world.Lines(world.Edits("c", "f", "one "+bad, "two "+bad)), world.Succeeds(bad))...)...)
	turn := e.Turn(nil)
	conn, err := net.Dial("unix", w.Socket())
	require.NoError(t, err)
	defer conn.Close()
	ask := []string{
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"workspace/subscribe","params":{"workspace":%q,"after":0}}`, w.Root),
		`{"jsonrpc":"2.0","id":2,"method":"session/list"}`,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"session/read","params":{"sessionId":%q}}`, turn.SessionID),
	}
	for i := range 6 {
		ask = append(ask, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"item/read","params":{"itemId":"%s:%d"}}`, 10+i, turn.ID, i))
	}
	ask = append(ask, `{"jsonrpc":"2.0","id":99,"method":"daemon/status"}`)
	_, err = io.WriteString(conn, strings.Join(ask, "\n")+"\n")
	require.NoError(t, err)
	from := rpc.NewFrameReader(conn, rpc.HardCap)
	for answers, told := 0, 0; answers < len(ask) || told == 0; { // answers may come in another order
		body, err := from.Read()
		require.NoError(t, err)
		require.True(t, utf8.Valid(body) && json.Valid(body), "%q", body)
		if bytes.Contains(body, []byte(`"id":`)) && !bytes.Contains(body, []byte(`"method":`)) {
			answers++
		} else {
			told++
		}
	}
}

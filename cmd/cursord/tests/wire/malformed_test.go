//go:build unix

package wire

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// A peer is a client that writes and reads bytes in one of the two framings.
type peer struct {
	t       testing.TB
	out     io.Writer
	in      *bufio.Reader
	headers bool
	after   string // the name of the latest message, for failures
}

func (p *peer) write(raw string) {
	p.t.Helper()
	_, err := io.WriteString(p.out, raw)
	require.NoError(p.t, err, p.after)
}

func (p *peer) send(body string) {
	p.t.Helper()
	if p.headers {
		p.write(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
	} else {
		p.write(body + "\n")
	}
}

// An answer is a message from the daemon, as it was written.
type answer struct {
	ID     json.RawMessage
	Method string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    struct {
			Field     string
			Kind      string
			Supported []int
		}
	}
}

// next returns the next response or request; it skips notifications.
func (p *peer) next() (a answer) {
	p.t.Helper()
	for {
		var body []byte
		if p.headers {
			length := 0
			for {
				line, err := p.in.ReadString('\n')
				require.NoError(p.t, err, p.after)
				if line == "\r\n" {
					break
				}
				_, err = fmt.Sscanf(line, "Content-Length: %d\r\n", &length)
				require.NoError(p.t, err, p.after)
			}
			body = make([]byte, length)
			_, err := io.ReadFull(p.in, body)
			require.NoError(p.t, err, p.after)
		} else {
			var err error
			body, err = p.in.ReadBytes('\n')
			require.NoError(p.t, err, p.after)
		}
		a = answer{}
		require.NoError(p.t, json.Unmarshal(body, &a), "%s", body)
		require.Contains(p.t, string(body), `"jsonrpc":"2.0"`)
		if a.Method == "" {
			return a
		}
	}
}

// check sends m and compares its answer.
func (p *peer) check(m malformed) {
	p.t.Helper()
	p.send(m.body)
	if m.id != "" {
		p.compare(m, p.next())
	}
}

// checkBefore sends m and a good request behind it, and compares both answers, which may come in any order.
func (p *peer) checkBefore(m malformed, good string) {
	p.t.Helper()
	p.send(m.body)
	p.send(`{"jsonrpc":"2.0","id":` + good + `,"method":"workspace/list","params":{}}`)
	a := p.next()
	if m.id != "" {
		b := p.next()
		if string(a.ID) == good {
			a, b = b, a
		}
		p.compare(m, a)
		a = b
	}
	require.Equal(p.t, good, string(a.ID), m.name)
	require.Nil(p.t, a.Error, m.name)
}

func (p *peer) compare(m malformed, a answer) {
	p.t.Helper()
	require.Equal(p.t, m.id, string(a.ID), m.name)
	switch {
	case m.code == 0:
		assert.Nil(p.t, a.Error, m.name)
		assert.NotEmpty(p.t, a.Result, m.name)
	case assert.NotNil(p.t, a.Error, m.name):
		assert.Equal(p.t, m.code, a.Error.Code, "%s: %s", m.name, a.Error.Message)
		assert.Equal(p.t, m.field, a.Error.Data.Field, "%s: %s", m.name, a.Error.Message)
		assert.NotEmpty(p.t, a.Error.Message)
	}
}

// processDoor opens connections by a command that speaks on stdin and stdout.
func processDoor(w *world.World, args ...string) func(testing.TB) *peer {
	return func(t testing.TB) *peer {
		cmd := exec.Command("cursord", args...)
		cmd.Env = w.Env("CURSORD_STATE_DIR="+w.Dir+"/alone", "CURSORD_FAKE_SCRIPT=")
		if len(args) == 1 {
			cmd.Env = w.Env()
		}
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		watchdog := time.AfterFunc(4*world.Patience, func() { _ = cmd.Process.Kill() })
		t.Cleanup(func() {
			in.Close()
			_, _ = io.Copy(io.Discard, out)
			_ = cmd.Wait()
			watchdog.Stop()
		})
		return &peer{t: t, out: in, in: bufio.NewReader(out)}
	}
}

// doors returns the ways to connect to the daemon, by name.
func doors(w *world.World) map[string]func(testing.TB) *peer {
	w.Hostile = true
	return map[string]func(testing.TB) *peer{
		"socket": func(t testing.TB) *peer {
			conn, err := net.Dial("unix", w.Socket())
			require.NoError(t, err)
			t.Cleanup(func() { conn.Close() })
			require.NoError(t, conn.SetDeadline(time.Now().Add(4*world.Patience)))
			return &peer{t: t, out: conn, in: bufio.NewReader(w.Checked(conn))}
		},
		"stdio":      processDoor(w, "stdio"),
		"standalone": processDoor(w, "stdio", "--standalone"),
	}
}

// TestMalformed sends hundreds of broken and hostile messages.
func TestMalformed(t *testing.T) {
	t.Parallel()
	sendAll(t, func(w *world.World) []malformed {
		messages := slices.Concat(wireMessages(), paramMessages(w.Root, w.Script))
		require.Greater(t, len(messages), 300)
		return messages
	})
}

// TestHugeMessages sends messages around the limits of size.
func TestHugeMessages(t *testing.T) {
	world.TooLargeForRace(t)
	sendAll(t, func(w *world.World) []malformed { w.Huge = true; return largeMessages(w.Root) }, "socket/headers=false", "stdio/headers=true", "standalone/headers=false")
}

// sendAll sends all messages in both framings through all doors, or only in the named ways: one connection for each, which
// must answer a good request after each message.
func sendAll(t *testing.T, of func(*world.World) []malformed, ways ...string) {
	w := world.New(t)
	w.Start()
	all := of(w)
	for door, open := range doors(w) {
		for _, headers := range []bool{false, true} {
			messages := slices.Clone(all)
			way := fmt.Sprintf("%s/headers=%v", door, headers)
			if ways != nil && !slices.Contains(ways, way) {
				continue
			}
			t.Run(way, func(t *testing.T) {
				p := open(t)
				if p.headers = headers; headers {
					p.write("\r\n \n")
				}
				for _, m := range earlyMessages() {
					p.check(m)
				}
				p.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":99}}`)
				require.Equal(t, []int{1}, p.next().Error.Data.Supported)
				p.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1,"processId":null,"capabilities":{},"rootUri":null}}`)
				require.Contains(t, string(p.next().Result), `"cursord"`)
				p.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
				p.send(messageOf("workspace/trust", map[string]string{"workspace": inJSON(w.Root), "trusted": "true"}))
				require.Nil(t, p.next().Error)
				if headers {
					messages = append(messages, framed...)
				}
				for _, m := range messages {
					p.after = m.name
					p.checkBefore(m, `"good"`)
				}
				if headers {
					const good = `{"jsonrpc":"2.0","id":1,"method":"workspace/list"}`
					for _, head := range []string{
						fmt.Sprintf("content-length: %d\n\n", len(good)), fmt.Sprintf("CONTENT-LENGTH:%d\r\nContent-Type: x; charset=utf8\r\n\r\n", len(good)),
						fmt.Sprintf("Content-Type: y\r\nContent-Length:   %d  \r\n\r\n", len(good)),
					} {
						p.write(head + good)
						require.Equal(t, "1", string(p.next().ID), "%q", head)
					}
				}
				p.send(`{"jsonrpc":"2.0","id":"end","method":"shutdown"}`)
				require.Equal(t, "null", string(p.next().Result))
				p.send(`{"jsonrpc":"2.0","id":"late","method":"daemon/status"}`)
				require.Equal(t, -32600, p.next().Error.Code)
				p.send(`{"jsonrpc":"2.0","method":"exit"}`)
				_, err := p.in.ReadByte()
				require.Error(t, err)
			})
		}
	}
}

// TestBrokenFrames sends frames that leave the start of the next message unknown: an error says so, and the connection ends.
func TestBrokenFrames(t *testing.T) {
	t.Parallel()
	const good = "Content-Length: 50\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"workspace/list"}`
	w := world.New(t)
	w.Start()
	for door, open := range doors(w) {
		for _, raw := range []string{
			"Content-Length: x\r\n\r\n{}", "Content-Length: -5\r\n\r\n{}", "Hello there\r\n\r\n", "Content-Type: x\r\n\r\n{}",
			fmt.Sprintf("Content-Length: %d\r\n\r\n", rpc.HardCap+1), "Content-Length: 99999999999999999999999\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
			"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "Content-Length: 2.0\r\n\r\n{}", "Content-Length: 0x2\r\n\r\n{}", "Content-Length: +2\r\n\r\n{}", "Content-Length:\r\n\r\n{}",
			"Content Length: 2\r\n\r\n{}", ": 2\r\n\r\n{}", "Content-Length: 2\r\nContent-Type\r\n\r\n{}", "X: " + strings.Repeat("x", 5000) + "\r\n\r\n",
			strings.Repeat("X: y\r\n", 1000) + "\r\n", strings.Repeat("x", 5000), "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "\x00\x00\x00\x02{}\r\n", "SSH-2.0-OpenSSH_9.9\r\n", "\"hello\"\r\n",
			good + "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"workspace/list\"}\n", // a line after a message with headers
		} {
			t.Run(fmt.Sprintf("%s/%q", door, raw), func(t *testing.T) {
				p := open(t)
				p.headers = true
				p.write(raw)
				a := p.next()
				if strings.HasPrefix(raw, good) { // both messages are answered, in any order
					if b := p.next(); string(a.ID) == "1" {
						a = b
					}
				}
				require.Equal(t, "null", string(a.ID))
				require.Contains(t, []int{-32700, -32600}, a.Error.Code)
				_, err := p.in.ReadByte()
				require.Error(t, err)
			})
		}
	}
}

// TestCancelRequest cancels a waiting request while others are answered.
func TestCancelRequest(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Plays(world.InitLine, `{"fake":"hang"}`)
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	for door, open := range doors(w) {
		if door == "standalone" {
			continue
		}
		p := open(t)
		for _, id := range []string{`7`, `"seven"`, `"7"`} {
			p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"turn/wait","params":{"turnId":"` + turn.ID + `"}}`)
			p.send(`{"jsonrpc":"2.0","id":"other","method":"workspace/list"}`)
			require.Equal(t, `"other"`, string(p.next().ID))
			p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`)
			a := p.next()
			require.Equal(t, id, string(a.ID))
			require.Equal(t, -32800, a.Error.Code)
		}
	}
	e.Must("turn/cancel", world.Obj{"turnId": turn.ID}, nil)
	e.Ends(turn.ID)
}

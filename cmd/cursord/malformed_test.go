package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// A peer speaks in one of the two framings and looks at the bytes.
type peer struct {
	t       testing.TB
	out     io.Writer
	in      *bufio.Reader
	headers bool
}

func (p *peer) write(raw string) {
	p.t.Helper()
	_, err := io.WriteString(p.out, raw)
	require.NoError(p.t, err)
}

func (p *peer) send(body string) {
	p.t.Helper()
	if p.headers {
		p.write(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
	} else {
		p.write(body + "\n")
	}
}

// answer is a response as it is written.
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

// next returns the next message that is no notification.
func (p *peer) next() (a answer) {
	p.t.Helper()
	for {
		var body []byte
		if p.headers {
			length := 0
			for {
				line, err := p.in.ReadString('\n')
				require.NoError(p.t, err)
				if line == "\r\n" {
					break
				}
				_, err = fmt.Sscanf(line, "Content-Length: %d\r\n", &length)
				require.NoError(p.t, err)
			}
			body = make([]byte, length)
			_, err := io.ReadFull(p.in, body)
			require.NoError(p.t, err)
		} else {
			var err error
			body, err = p.in.ReadBytes('\n')
			require.NoError(p.t, err)
		}
		a = answer{}
		require.NoError(p.t, json.Unmarshal(body, &a), "%s", body)
		require.Contains(p.t, string(body), `"jsonrpc":"2.0"`)
		if a.Method == "" {
			return a
		}
	}
}

// doors are the ways in.
func (w *world) doors() map[string]func(testing.TB) *peer {
	process := func(args ...string) func(testing.TB) *peer {
		return func(t testing.TB) *peer {
			cmd := exec.Command("cursord", args...)
			cmd.Env = w.env("CURSORD_STATE_DIR="+w.dir+"/alone", "CURSORD_FAKE_SCRIPT=")
			if len(args) == 1 {
				cmd.Env = w.env()
			}
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			watchdog := time.AfterFunc(4*patience, func() { _ = cmd.Process.Kill() })
			t.Cleanup(func() {
				in.Close()
				_, _ = io.Copy(io.Discard, out)
				_ = cmd.Wait()
				watchdog.Stop()
			})
			return &peer{t: t, out: in, in: bufio.NewReader(out)}
		}
	}
	return map[string]func(testing.TB) *peer{
		"socket": func(t testing.TB) *peer {
			conn, err := net.Dial("unix", w.socket())
			require.NoError(t, err)
			t.Cleanup(func() { conn.Close() })
			require.NoError(t, conn.SetDeadline(time.Now().Add(4*patience)))
			return &peer{t: t, out: conn, in: bufio.NewReader(conn)}
		},
		"stdio":      process("stdio"),
		"standalone": process("stdio", "--standalone"),
	}
}

// TestMalformed sends each kind of broken message on one connection, which must answer the next good one.
func TestMalformed(t *testing.T) {
	big := func(n int) string {
		return `{"jsonrpc":"2.0","id":"big","method":"daemon/status","params":{"x":"` + strings.Repeat("x", n) + `"}}`
	}
	tests := []struct {
		name, body string
		id         string // of the answer; "" if there must be none
		code       int    // 0 for a result
		field      string
	}{
		{"malformed JSON", `{"jsonrpc":"2.0","id":1,`, "null", -32700, ""},
		{"two values", `{"jsonrpc":"2.0","id":1,"method":"daemon/status"} {}`, "null", -32700, ""},
		{"no UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon/\xffstatus\"}", "null", -32700, ""},
		{"too deep", `{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "null", -32700, ""},
		{"no method", `{"jsonrpc":"2.0","id":7}`, "7", -32600, ""},
		{"no method, no id", `{"jsonrpc":"2.0"}`, "null", -32600, ""},
		{"a method that is none", `{"jsonrpc":"2.0","id":"m","method":3}`, `"m"`, -32600, ""},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"daemon/status"}`, "null", -32600, ""},
		{"an id that is an array", `{"jsonrpc":"2.0","id":[1],"method":"daemon/status"}`, "null", -32600, ""},
		{"an id that is true", `{"jsonrpc":"2.0","id":true,"method":"daemon/status"}`, "null", -32600, ""},
		{"an id that is null", `{"jsonrpc":"2.0","id":null,"method":"daemon/status"}`, "null", -32600, ""},
		{"params that are a number", `{"jsonrpc":"2.0","id":2,"method":"daemon/status","params":3}`, "2", -32600, ""},
		{"params that are a string", `{"jsonrpc":"2.0","id":"s","method":"daemon/status","params":"x"}`, `"s"`, -32600, ""},
		{"params that are null", `{"jsonrpc":"2.0","id":3,"method":"daemon/status","params":null}`, "3", 0, ""},
		{"params that are an array", `{"jsonrpc":"2.0","id":3,"method":"daemon/status","params":[]}`, "3", -32602, "params"},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"daemon/status"}]`, "null", -32600, ""},
		{"empty batch", `[]`, "null", -32600, ""},
		{"a number", `3`, "null", -32600, ""},
		{"over the limit", big(16 << 20), "null", -32600, ""},
		{"far over the limit", big(20 << 20), "null", -32600, ""},
		{"just under the limit", big(16<<20 - 200), `"big"`, 0, ""},
		{"unknown method", `{"jsonrpc":"2.0","id":4,"method":"daemon/dance"}`, "4", -32601, ""},
		{"no such parameter", `{"jsonrpc":"2.0","id":5,"method":"turn/wait","params":{}}`, "5", -32602, "turnId"},
		{"a parameter of a wrong type", `{"jsonrpc":"2.0","id":5,"method":"session/list","params":{"limit":"x"}}`, "5", -32602, "limit"},
		{"unknown fields", `{"jsonrpc":"2.0","id":6,"method":"daemon/status","params":{"more":1},"extra":[]}`, "6", 0, ""},
		{"unknown notification", `{"jsonrpc":"2.0","method":"editor/danced","params":{}}`, "", 0, ""},
		{"notification with bad params", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}`, "", 0, ""},
		{"unasked result", `{"jsonrpc":"2.0","id":99,"result":{}}`, "", 0, ""},
		{"unasked error", `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"?"}}`, "", 0, ""},
		{"error for null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`, "", 0, ""},
		{"string id", `{"jsonrpc":"2.0","id":"a\u00e9\n\/","method":"daemon/status"}`, `"a\u00e9\n\/"`, 0, ""},
		{"empty id", `{"jsonrpc":"2.0","id":"","method":"daemon/status"}`, `""`, 0, ""},
		{"fraction", `{"jsonrpc":"2.0","id":1.50,"method":"daemon/status"}`, `1.50`, 0, ""},
		{"large id", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"daemon/status"}`, `123456789012345678901234567890`, 0, ""},
		{"negative id", `{"jsonrpc":"2.0","id":-1e3,"method":"daemon/status"}`, `-1e3`, 0, ""},
		{"a number as a string", `{"jsonrpc":"2.0","id":"1","method":"daemon/status"}`, `"1"`, 0, ""},
	}
	w := newWorld(t)
	w.start()
	for door, open := range w.doors() {
		for _, headers := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/headers=%v", door, headers), func(t *testing.T) {
				p := open(t)
				if p.headers = headers; headers {
					p.write("\r\n \n")
				}
				p.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":99}}`)
				refused := p.next()
				require.Equal(t, -32602, refused.Error.Code)
				require.Equal(t, []int{1}, refused.Error.Data.Supported)
				p.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1,"processId":null,"capabilities":{},"rootUri":null}}`)
				require.Contains(t, string(p.next().Result), `"cursord"`)
				p.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
				for _, tt := range tests {
					if !headers && (tt.name == "two values" || tt.body == "") {
						continue
					}
					p.send(tt.body)
					if tt.id != "" {
						a := p.next()
						require.Equal(t, tt.id, string(a.ID), tt.name)
						if tt.code == 0 {
							require.Nil(t, a.Error, tt.name)
							require.NotEmpty(t, a.Result)
						} else {
							require.NotNil(t, a.Error, tt.name)
							require.Equal(t, tt.code, a.Error.Code, tt.name)
							require.NotEmpty(t, a.Error.Message)
							require.Equal(t, tt.field, a.Error.Data.Field, tt.name)
						}
					}
					p.send(`{"jsonrpc":"2.0","id":"good","method":"workspace/list","params":{}}`)
					require.Equal(t, `"good"`, string(p.next().ID), tt.name)
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

// TestBrokenFrames sends what cannot be followed: an error says so, and the connection ends.
func TestBrokenFrames(t *testing.T) {
	w := newWorld(t)
	w.start()
	for door, open := range w.doors() {
		for _, raw := range []string{
			"Content-Length: x\r\n\r\n{}", "Content-Length: -5\r\n\r\n{}", "Hello there\r\n\r\n", "Content-Type: x\r\n\r\n{}",
			fmt.Sprintf("Content-Length: %d\r\n\r\n", rpc.HardCap+1), "Content-Length: 99999999999999999999999\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		} {
			t.Run(fmt.Sprintf("%s/%q", door, raw), func(t *testing.T) {
				p := open(t)
				p.headers = true
				p.write(raw)
				a := p.next()
				require.Equal(t, "null", string(a.ID))
				require.Contains(t, []int{-32700, -32600}, a.Error.Code)
				_, err := p.in.ReadByte()
				require.Error(t, err)
			})
		}
	}
}

// TestCancelRequest cancels what waits while others run.
func TestCancelRequest(t *testing.T) {
	w := newWorld(t)
	w.plays(initLine, `{"fake":"hang"}`)
	w.start()
	e := w.opens()
	turn := e.asks(nil)
	for door, open := range w.doors() {
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
	e.must("turn/cancel", obj{"turnId": turn.ID}, nil)
	e.ends(turn.ID)
}

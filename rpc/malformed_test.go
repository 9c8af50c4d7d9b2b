package rpc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nothing stands for no answer at all.
const nothing = ""

// deep returns n nested arrays.
func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// badMessages are messages and their answers: "code id", or nothing. None of them may cost the connection.
var badMessages = []struct{ body, want string }{
	// malformed
	{`{`, "-32700 null"}, {`}`, "-32700 null"}, {`{"jsonrpc"`, "-32700 null"}, {`{"id":1,}`, "-32700 null"},
	{`{"id":1 "method":"echo"}`, "-32700 null"}, {`{id:1,method:"echo"}`, "-32700 null"},
	{`{'id':1,'method':'echo'}`, "-32700 null"}, {`hello`, "-32700 null"}, {`nul`, "-32700 null"}, {`nulll`, "-32700 null"},
	{`{"id":1,"method":"echo"} x`, "-32700 null"}, {`{"id":1,"method":"echo"}{"id":2,"method":"echo"}`, "-32700 null"},
	{`{"id":1,"method":"echo"}]`, "-32700 null"}, {`{"id":01,"method":"echo"}`, "-32700 null"},
	{`{"id":+1,"method":"echo"}`, "-32700 null"}, {`{"id":.5,"method":"echo"}`, "-32700 null"},
	{`{"id":1.,"method":"echo"}`, "-32700 null"}, {`{"id":1e,"method":"echo"}`, "-32700 null"},
	{`{"id":NaN,"method":"echo"}`, "-32700 null"}, {`{"id":Infinity,"method":"echo"}`, "-32700 null"},
	{`{"id":0x1,"method":"echo"}`, "-32700 null"}, {`{"id":"a`, "-32700 null"}, {`{"id":"\x"}`, "-32700 null"},
	{`{"id":"\u12"}`, "-32700 null"}, {"{\"id\":\"a\x01b\",\"method\":\"echo\"}", "-32700 null"},
	{"{\"id\":1,\"method\":\"echo\tx\"}", "-32700 null"}, {"\xef\xbb\xbf{\"id\":1,\"method\":\"echo\"}", "-32700 null"},
	{"{\"id\":1,\"method\":\"echo\",\"params\":{\"a\":\"\xff\"}}", "-32700 null"},
	{"{\"id\":1,\"method\":\"\xc3\x28\"}", "-32700 null"}, {"{\"id\":\"\xed\xa0\x80\",\"method\":\"echo\"}", "-32700 null"},
	{"\x00", "-32700 null"}, {"\xff\xfe{\x00}\x00", "-32700 null"}, {`[1,2`, "-32700 null"}, {`[,]`, "-32700 null"},
	{`{"params":{]}`, "-32700 null"}, {`// comment`, "-32700 null"}, {`{"id":1,"method":"echo"/*x*/}`, "-32700 null"},
	{`{"id":1,"method":"echo","params":` + deep(10_001) + `}`, "-32700 null"},

	// no object
	{`42`, "-32600 null"}, {`-1.5e3`, "-32600 null"}, {`"text"`, "-32600 null"}, {`true`, "-32600 null"},
	{`false`, "-32600 null"}, {`null`, "-32600 null"},

	// batches
	{`[]`, "-32600 null"}, {`[1]`, "-32600 null"}, {`[[]]`, "-32600 null"}, {` [ ] `, "-32600 null"},
	{`[{"jsonrpc":"2.0","id":1,"method":"echo"}]`, "-32600 null"},
	{`[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","id":2,"method":"echo"}]`, "-32600 null"},
	{`[{"jsonrpc":"2.0","id":1,"result":1}]`, "-32600 null"},

	// ids
	{`{"id":null,"method":"echo"}`, "-32600 null"}, {`{"id":{},"method":"echo"}`, "-32600 null"},
	{`{"id":[],"method":"echo"}`, "-32600 null"}, {`{"id":[1],"method":"echo"}`, "-32600 null"},
	{`{"id":{"a":1},"method":"echo"}`, "-32600 null"}, {`{"id":true,"method":"echo"}`, "-32600 null"},
	{`{"id":false,"method":"echo"}`, "-32600 null"}, {`{"id":null,"method":"nope"}`, "-32600 null"},
	{`{"id":null}`, "-32600 null"}, {`{"id":{},"result":1}`, "-32600 null"}, {`{"id":true,"error":{}}`, "-32600 null"},
	{`{"id":null,"method":"$/cancelRequest","params":{"id":1}}`, "-32600 null"},

	// methods
	{`{}`, "-32600 null"}, {`{"id":7}`, "-32600 7"}, {`{"id":"7"}`, `-32600 "7"`}, {`{"jsonrpc":"2.0"}`, "-32600 null"},
	{`{"id":7,"method":5}`, "-32600 7"}, {`{"id":7,"method":null}`, "-32600 7"}, {`{"id":7,"method":{}}`, "-32600 7"},
	{`{"id":7,"method":["echo"]}`, "-32600 7"}, {`{"id":7,"method":true}`, "-32600 7"}, {`{"id":7,"method":""}`, "-32600 7"},
	{`{"method":5}`, "-32600 null"}, {`{"method":""}`, "-32600 null"}, {`{"params":{}}`, "-32600 null"},
	{`{"id":7,"Method":"echo"}`, "-32600 7"}, {`{"id":7,"METHOD":"echo"}`, "-32600 7"}, {`{"ID":7,"Method":"echo"}`, "-32600 null"},
	{`{"id":-1e-2,"params":{}}`, "-32600 -1e-2"}, {`{"result":1}`, "-32600 null"}, {`{"error":{}}`, "-32600 null"},

	// params
	{`{"id":7,"method":"echo","params":5}`, "-32600 7"}, {`{"id":7,"method":"echo","params":"x"}`, "-32600 7"},
	{`{"id":7,"method":"echo","params":true}`, "-32600 7"}, {`{"id":7,"method":"echo","params":false}`, "-32600 7"},
	{`{"id":"x","method":"nope","params":0}`, `-32600 "x"`}, {`{"method":"echo","params":5}`, "-32600 null"},
	{`{"id":7,"method":"echo","params":-1}`, "-32600 7"},

	// unknown methods and notifications
	{`{"id":7,"method":"nope"}`, "-32601 7"}, {`{"id":7,"method":"nope","params":[1]}`, "-32601 7"},
	{`{"id":7,"method":"Echo"}`, "-32601 7"}, {`{"id":7,"method":" echo"}`, "-32601 7"}, {`{"id":7,"method":"exit"}`, "-32601 7"},
	{`{"id":7,"method":"$/cancelRequest","params":{"id":1}}`, "-32601 7"}, {`{"id":7,"method":"a\u0000b"}`, "-32601 7"},
	{`{"id":7,"method":"\ud800"}`, "-32601 7"},
	{`{"jsonrpc":"2.0","method":"nope"}`, nothing}, {`{"method":"nope","params":[1,2]}`, nothing},
	{`{"method":"$/setTrace","params":{"value":"off"}}`, nothing}, {`{"method":"initialized","params":{}}`, nothing},
	{`{"ID":7,"method":"echo"}`, nothing}, {`{"Id":7,"method":"nope"}`, nothing},

	// cancellations of nothing
	{`{"method":"$/cancelRequest"}`, nothing}, {`{"method":"$/cancelRequest","params":null}`, nothing},
	{`{"method":"$/cancelRequest","params":[]}`, nothing}, {`{"method":"$/cancelRequest","params":{}}`, nothing},
	{`{"method":"$/cancelRequest","params":{"id":null}}`, nothing}, {`{"method":"$/cancelRequest","params":{"id":{}}}`, nothing},
	{`{"method":"$/cancelRequest","params":{"id":"nobody"}}`, nothing}, {`{"method":"$/cancelRequest","params":{"id":1e99}}`, nothing},

	// responses without a request
	{`{"jsonrpc":"2.0","id":1,"result":{}}`, nothing}, {`{"id":1,"result":null}`, nothing}, {`{"id":0,"result":1}`, nothing},
	{`{"id":"a","result":1}`, nothing}, {`{"id":1,"error":{"code":1,"message":"x"}}`, nothing}, {`{"id":1,"error":"x"}`, nothing},
	{`{"id":1,"error":5}`, nothing}, {`{"id":1.5,"result":1}`, nothing}, {`{"id":-3,"result":1}`, nothing},
	{`{"id":18446744073709551616,"result":1}`, nothing}, {`{"id":null,"error":{"code":-32700,"message":"x"}}`, nothing},
	{`{"id":1,"result":1,"error":{"code":1,"message":"x"}}`, nothing}, {`{"id":1,"error":null,"result":null}`, nothing},

	// good messages
	{`{"id":7,"method":"echo"}`, "null 7"}, {`{"jsonrpc":"1.0","id":7,"method":"echo"}`, "null 7"},
	{`{"jsonrpc":2,"id":7,"method":"echo","params":null}`, "null 7"}, {`{"id":7,"method":"echo","params":{}}`, "{} 7"},
	{`{"id":7,"method":"echo","params":[]}`, "[] 7"}, {` {"id" : 7 , "method" : "echo" }  `, "null 7"},
	{`{"id":7,"method":"\u0065cho"}`, "null 7"}, {`{"\u0069d":7,"method":"echo"}`, "null 7"},
	{`{"id":7,"method":"echo","params":{"b":1,"a":2,"b":"<&>"}}`, `{"b":1,"a":2,"b":"<&>"} 7`},
	{`{"id":7,"method":"echo","params":{"s":"\ud800","n":1e400}}`, `{"s":"\ud800","n":1e400} 7`},
	{`{"id":1,"id":7,"method":"nope","method":"echo"}`, "null 7"}, {`{"id":7,"method":"echo","extra":{"id":9},"meta":1}`, "null 7"},
	{`{"id":7,"method":"echo","params":{"x":` + deep(5_000) + `}}`, `{"x":` + deep(5_000) + `} 7`},
	{`{"id":"","method":"echo"}`, `null ""`}, {`{"id":0,"method":"echo"}`, "null 0"}, {`{"id":-1,"method":"echo"}`, "null -1"},
	{`{"id":1.0,"method":"echo"}`, "null 1.0"}, {`{"id":1E3,"method":"echo"}`, "null 1E3"}, {`{"id":-0,"method":"echo"}`, "null -0"},
	{`{"id":18446744073709551615,"method":"echo"}`, "null 18446744073709551615"},
	{`{"id":123456789012345678901234567890.5e-7,"method":"echo"}`, "null 123456789012345678901234567890.5e-7"},
	{`{"id":"\u0061\/\"\\","method":"echo"}`, `null "\u0061\/\"\\"`}, {`{"id":"<&>","method":"echo"}`, `null "<&>"`},
	{`{"id":"\ud800","method":"echo"}`, `null "\ud800"`}, {`{"id":"ä😀","method":"echo"}`, `null "ä😀"`},
	{"{\"id\":\"\u2028\",\"method\":\"echo\"}", "null \"\u2028\""},
}

// outcome returns a response in the form of badMessages.
func outcome(t *testing.T, response string) string {
	var r struct {
		Version string `json:"jsonrpc"`
		ID      json.RawMessage
		Result  json.RawMessage
		Error   *struct {
			Code    int
			Message string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(response), &r))
	require.Equal(t, "2.0", r.Version)
	if r.Error != nil {
		require.NotEmpty(t, r.Error.Message)
		require.Nil(t, r.Result)
		return fmt.Sprintf("%d %s", r.Error.Code, r.ID)
	}
	return fmt.Sprintf("%s %s", r.Result, r.ID)
}

func TestBadMessages(t *testing.T) {
	for name, framing := range map[string]Framing{"lines": FramingLines, "headers": FramingHeaders} {
		t.Run(name, func(t *testing.T) {
			p := servePeer(t, framing, fixed(map[string]method{"echo": echo(inOrder)}))
			p.send(`{"id":"first","method":"echo"}`)
			p.read()
			for i, test := range badMessages {
				p.send(test.body)
				if test.want != nothing {
					require.Equal(t, test.want, outcome(t, p.read()), "%.200s", test.body)
				}
				p.send(fmt.Sprintf(`{"id":"alive %d","method":"echo"}`, i))
				require.Equal(t, fmt.Sprintf(`null "alive %d"`, i), outcome(t, p.read()), "after %.200s", test.body)
			}
			require.Empty(t, p.log.String())
		})
	}
}

func TestBadFrames(t *testing.T) {
	long := `{"id":1,"method":"echo","params":["` + strings.Repeat("x", MaxMessage) + `"]}`
	const around = `{"id":1,"method":"echo","params":[""]}`
	fits := around[:len(around)-3] + strings.Repeat("x", MaxMessage-len(around)) + `"]}`
	for name, framing := range map[string]Framing{"lines": FramingLines, "headers": FramingHeaders} {
		t.Run(name, func(t *testing.T) {
			p := servePeer(t, framing, fixed(map[string]method{"echo": echo(inOrder)}))
			p.send(`{"id":"first","method":"echo"}`)
			p.read()
			p.send(long)
			require.Equal(t, "-32600 null", outcome(t, p.read()))
			if framing == FramingHeaders {
				p.send(fits)
				require.Greater(t, len(p.read()), MaxMessage-100)
				p.raw("Content-Length: 0\r\n\r\n")
				require.Equal(t, "-32700 null", outcome(t, p.read()))
			}
			p.send(`{"id":"alive","method":"echo"}`)
			require.Equal(t, `null "alive"`, outcome(t, p.read()))
		})
	}
	for _, fatal := range []string{
		"nonsense\r\n", "Content-Length: x\r\n\r\n{}", "X-Only: 1\r\n\r\n", "Content-Length: 268435457\r\n\r\n",
		"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
	} {
		t.Run(fatal, func(t *testing.T) {
			p := servePeer(t, FramingHeaders, fixed(map[string]method{"echo": echo(inOrder)}))
			p.send(`{"id":1,"method":"echo"}`)
			require.Equal(t, "null 1", outcome(t, p.read()))
			go func() { _, _ = p.conn.Write([]byte(fatal)) }() // not all of it is read
			answer := p.read()
			require.Equal(t, "-32700 null", outcome(t, answer))
			require.Contains(t, answer, "closing the connection")
			p.ended()
		})
	}
}

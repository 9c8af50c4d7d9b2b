//go:build unix

package wire

import (
	"fmt"
	"strings"

	"cursord/rpc"
)

// A malformed message, or a hostile one, with the expected answer.
type malformed struct {
	name, body string
	id         string // of the answer; "" if there must be none
	code       int    // 0 for a result
	field      string
}

// framed holds messages that cannot be sent as one line.
var framed = []malformed{
	{"nothing", "", "null", -32700, ""},
	{"two values", `{"jsonrpc":"2.0","id":1,"method":"daemon/status"}` + "\n{}", "null", -32700, ""},
	{"line feeds in it", "{\n\"id\": 8,\r\n\t\"method\": \"daemon/status\"\n}\n", "8", 0, ""},
	{"a line feed in a string", "{\"id\":8,\"method\":\"daemon\n/status\"}", "null", -32700, ""},
	{"a frame in a frame", "Content-Length: 2\r\n\r\n{}", "null", -32700, ""},
}

// wireMessages returns messages that are wrong for any method, and good ones that look wrong.
func wireMessages() (list []malformed) {
	nested := func(n int, open, inner, shut string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
	}

	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,`, `{`, `}`, `{"id"`, `{"id":1,}`, `{,}`, `{"id":1 "method":"daemon/status"}`, `{id:1,"method":"daemon/status"}`,
		`{'id':1,'method':'daemon/status'}`, `hello`, `nul`, `truee`, `{"id":1,"method":"daemon/status"} x`, `{"id":1,"method":"daemon/status"}]`,
		`{"id":1,"method":"daemon/status"}{"id":2,"method":"daemon/status"}`, `{"id":01,"method":"daemon/status"}`, `{"id":+1,"method":"daemon/status"}`,
		`{"id":.5,"method":"daemon/status"}`, `{"id":1.,"method":"daemon/status"}`, `{"id":1e,"method":"daemon/status"}`, `{"id":--1,"method":"daemon/status"}`,
		`{"id":NaN,"method":"daemon/status"}`, `{"id":-Infinity,"method":"daemon/status"}`, `{"id":0x1,"method":"daemon/status"}`, `{"id":1_000,"method":"daemon/status"}`,
		`{"id":"a`, `{"id":"\x"}`, `{"id":"\u12"}`, `{"id":"\u12g4","method":"daemon/status"}`, "{\"id\":\"a\x01b\",\"method\":\"daemon/status\"}",
		"{\"id\":\"\x00\",\"method\":\"daemon/status\"}", "{\"id\":1,\"method\":\"daemon/status\",\"params\":{\"a\":\"\t\"}}", "\xef\xbb\xbf{\"id\":1,\"method\":\"daemon/status\"}",
		"{\"id\":1,\"method\":\"daemon/\xffstatus\"}", "{\"id\":\"\xc0\xaf\",\"method\":\"daemon/status\"}", "{\"id\":\"\xed\xa0\x80\",\"method\":\"daemon/status\"}",
		"{\"id\":1,\"method\":\"daemon/status\",\"params\":{\"\xf4\x90\x80\x80\":1}}", "{\"id\":1,\"method\":\"daemon/status\",\"params\":{\"a\":\"\xe2\x82\"}}",
		"\x00", "{\x00}", "\xff\xfe{\x00}\x00", `[1,2`, `[,]`, `[1,]`, `{"params":{]}`, `// a comment`, `{"id":1,"method":"daemon/status"/**/}`,
		"{\"id\":1,\u00a0\"method\":\"daemon/status\"}", "{\"id\":1,\v\"method\":\"daemon/status\"}",
		`{"id":1,"method":"x","params":` + nested(20_000, "[", "", "]") + `}`, `{"id":1,"method":"x","params":` + nested(20_000, `{"a":`, "1", "}") + `}`, nested(100_000, "[", "", "]"),
	} {
		list = append(list, malformed{"no JSON: " + short(body), body, "null", -32700, ""})
	}

	for _, body := range []string{
		`3`, `-1.5e3`, `0`, `""`, `"daemon/status"`, `true`, `false`, `null`, `[]`, ` [ ] `, `[1]`, `[[]]`, `[null]`, `["daemon/status"]`,
		`[{"jsonrpc":"2.0","id":1,"method":"daemon/status"}]`, `[{"jsonrpc":"2.0","id":1,"method":"daemon/status"},{"jsonrpc":"2.0","id":2,"method":"daemon/status"}]`,
		`[{"jsonrpc":"2.0","method":"exit"}]`, `[{"jsonrpc":"2.0","id":1,"result":1}]`, `[` + strings.Repeat(`{},`, 10_000) + `{}]`,
		`{}`, `{"jsonrpc":"2.0"}`, `{"params":{}}`, `{"method":5}`, `{"method":""}`, `{"method":null}`, `{"Method":"daemon/status"}`, `{"result":1}`, `{"error":{}}`,
		`{"method":"editor/danced","params":5}`, `{"id":null,"method":"editor/danced"}`, `{"id":null}`, `{"id":{},"result":1}`, `{"id":[],"error":{}}`,
	} {
		list = append(list, malformed{"no request: " + short(body), body, "null", -32600, ""})
	}
	for _, id := range []string{`{}`, `[]`, `[1]`, `{"a":1}`, `true`, `false`, `null`, `[[["1"]]]`} {
		list = append(list, malformed{"id " + id, `{"jsonrpc":"2.0","id":` + id + `,"method":"daemon/status"}`, "null", -32600, ""})
	}
	for _, id := range []string{
		`0`, `-0`, `-1`, `1.50`, `1.0`, `1E3`, `-1e3`, `1e400`, `2e-400`, `123456789012345678901234567890`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775809`,
		`""`, `" "`, `"1"`, `"null"`, `"a\u00e9\n\/"`, `"\u0000"`, `"\ud800"`, `"\udc00\ud800"`, `"\ud83d\ude00"`, `"ä😀"`, "\"\u2028\"", `"<&>"`, `"\"\\"`, `"id\":1,\"method"`,
		`"` + strings.Repeat("i", 100_000) + `"`, strings.Repeat("9", 10_000),
	} {
		list = append(list,
			malformed{"an answer for " + short(id), `{"jsonrpc":"2.0","id":` + id + `,"method":"daemon/status"}`, id, 0, ""},
			malformed{"an error for " + short(id), `{"jsonrpc":"2.0","id":` + id + `,"method":"daemon/dance"}`, id, -32601, ""})
	}
	for _, rest := range []string{
		`}`, `,"method":5}`, `,"method":null}`, `,"method":{}}`, `,"method":["daemon/status"]}`, `,"method":true}`, `,"method":""}`, `,"Method":"daemon/status"}`,
		`,"METHOD":"daemon/status"}`, `,"params":{}}`, `,"method":"daemon/status","params":3}`, `,"method":"daemon/status","params":"{}"}`, `,"method":"daemon/status","params":true}`,
		`,"method":"daemon/status","params":false}`, `,"method":"daemon/status","params":-0.1}`, `,"method":"daemon/dance","params":0}`, `,"method":"daemon/status","method":7}`,
		`,"method":"initialize","params":{}}`,
	} {
		list = append(list, malformed{"no request with an id: " + rest, `{"jsonrpc":"2.0","id":7` + rest, "7", -32600, ""})
	}
	for _, method := range []string{
		"daemon/dance", "daemon/status ", " daemon/status", "Daemon/Status", "daemon", "/", "daemon/status/", "rpc.discover", "$/nope", "$/cancelRequest", "$/setTrace",
		"exit", "initialized", "item/delta", "log/message", "turn/changed", "document/didOpen", "document/didClose", "textDocument/didOpen", "__proto__", "constructor",
		`daemon/status\u0000`, `\ud800`, `../daemon/status`, `daemon\\status`, strings.Repeat("x", 100_000),
	} {
		list = append(list, malformed{"method " + short(method), `{"jsonrpc":"2.0","id":4,"method":"` + method + `","params":{}}`, "4", -32601, ""})
	}

	for _, body := range []string{
		// Mistakes in notifications are not answered, and requests without an id do nothing.
		`{"method":"editor/danced"}`, `{"method":"editor/danced","params":[1]}`, `{"method":"\u0000"}`, `{"method":"daemon/status"}`, `{"method":"daemon/stop","params":{"force":true}}`,
		`{"method":"shutdown"}`, `{"method":"initialize","params":{}}`, `{"method":"turn/start","params":{}}`, `{"method":"session/create","params":{"workspace":"/"}}`,
		`{"method":"$/setTrace"}`, `{"method":"$/setTrace","params":[]}`, `{"method":"$/setTrace","params":{"value":5}}`, `{"method":"$/setTrace","params":{"value":"loud"}}`,
		`{"method":"document/didOpen"}`, `{"method":"document/didOpen","params":[]}`, `{"method":"document/didOpen","params":{"uri":5}}`, `{"method":"document/didOpen","params":{"uri":"","text":"x"}}`,
		`{"method":"document/didOpen","params":{"uri":"untitled:1","text":"x"}}`, `{"method":"document/didOpen","params":{"uri":"file://other/x","text":"x"}}`,
		`{"method":"document/didOpen","params":{"uri":"file:///%zz","text":"x"}}`, `{"method":"document/didOpen","params":{"uri":"file:///a%00b","text":"x"}}`,
		`{"method":"document/didOpen","params":{"uri":"/../../x","version":1e99,"text":"x"}}`, `{"method":"document/didChange","params":{"uri":"/never/opened","version":2,"text":"x"}}`,
		`{"method":"document/didChange","params":{"uri":"/never/opened"}}`, `{"method":"document/didSave","params":{"uri":"/never/opened","version":-9223372036854775808}}`,
		`{"method":"document/didClose","params":{"uri":"/never/opened"}}`, `{"method":"document/didClose","params":{"uri":{}}}`,
		// Cancellations without a request.
		`{"method":"$/cancelRequest"}`, `{"method":"$/cancelRequest","params":null}`, `{"method":"$/cancelRequest","params":[]}`, `{"method":"$/cancelRequest","params":{}}`,
		`{"method":"$/cancelRequest","params":{"id":null}}`, `{"method":"$/cancelRequest","params":{"id":{}}}`, `{"method":"$/cancelRequest","params":{"id":[1]}}`,
		`{"method":"$/cancelRequest","params":{"id":true}}`, `{"method":"$/cancelRequest","params":{"id":"nobody"}}`, `{"method":"$/cancelRequest","params":{"id":1e99}}`,
		`{"method":"$/cancelRequest","params":{"id":"\ud800"}}`, `{"method":"$/cancelRequest","params":{"id":"good"}}`,
		// Responses without a request.
		`{"jsonrpc":"2.0","id":99,"result":{}}`, `{"id":1,"result":null}`, `{"id":0,"result":1}`, `{"id":"a","result":[]}`, `{"id":1.5,"result":1}`, `{"id":18446744073709551616,"result":1}`,
		`{"id":"x","error":{"code":1,"message":"?"}}`, `{"id":1,"error":"x"}`, `{"id":1,"error":5}`, `{"id":1,"error":{"code":"x","message":5}}`, `{"id":1,"error":{"code":1e99}}`,
		`{"id":null,"error":{"code":-32700,"message":"?"}}`, `{"id":1,"result":1,"error":{"code":1,"message":"x"}}`, `{"id":1,"error":null,"result":null}`,
	} {
		list = append(list, malformed{"no answer to " + short(body), body, "", 0, ""})
	}

	for _, m := range []struct{ rest, id string }{
		{`"id":6,"method":"daemon/status","params":null}`, "6"}, {`"id":6,"method":"daemon/status","params":{"more":1},"extra":[]}`, "6"},
		{`"id":6,"method":"daemon\/status"}`, "6"}, {`"id":6,"method":"\u0064aemon/status"}`, "6"}, {`"\u0069d":6,"method":"daemon/status"}`, "6"},
		{`"id":6,"method":"daemon/status","params":{"x":` + nested(5_000, "[", "", "]") + `}}`, "6"},
		{`"id":6,"method":"daemon/status","params":{"":"\ud800\u0000","n":1e999}}`, "6"},
		{`"id":1,"id":6,"method":"daemon/status"}`, "6"}, {`"id":6,"method":"daemon/dance","method":"daemon/status"}`, "6"},
		{`"id":6,"method":"session/list","params":{"limit":"x","limit":1}}`, "6"}, {`"id":6,"method":"session/list","params":5,"params":{}}`, "6"},
		{`"jsonrpc":"1.0","id":6,"method":"daemon/status"}`, "6"}, {`"jsonrpc":2,"id":6,"method":"daemon/status"}`, "6"},
		{`"id":6,"method":"daemon/status","params":{"limit":1` + strings.Repeat(" ", 100_000) + `}}`, "6"},
	} {
		list = append(list, malformed{"good: " + short(m.rest), `{` + m.rest, m.id, 0, ""})
	}
	return list
}

// largeMessages returns messages around the limits of size. ws is a trusted workspace.
func largeMessages(ws string) []malformed {
	status := func(n int) string {
		return `{"jsonrpc":"2.0","id":"big","method":"daemon/status","params":{"x":"` + strings.Repeat("x", n) + `"}}`
	}
	prompt := map[string]string{"workspace": inJSON(ws), "prompt": `"` + strings.Repeat("x", rpc.MaxPrompt+1) + `"`}
	return []malformed{
		{"over the limit", status(rpc.MaxMessage), "null", -32600, ""},
		{"far over the limit", status(rpc.MaxMessage + 4<<20), "null", -32600, ""},
		{"just under the limit", status(rpc.MaxMessage - 200), `"big"`, 0, ""},
		{"a prompt over its limit", messageOf("turn/start", prompt), `"p"`, -32021, "prompt"},
		{"a deep one", strings.Repeat("[", 1_000_000), "null", -32700, ""},
	}
}

func short(s string) string {
	if len(s) > 80 {
		return fmt.Sprintf("%q… (%d bytes)", s[:80], len(s))
	}
	return fmt.Sprintf("%q", s)
}

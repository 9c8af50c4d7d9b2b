//go:build unix

package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/paths"
	"cursord/rpc"
	"cursord/sessions"
)

// The types of parameters, in the protocol's words.
const (
	aText    = "text"
	aFlag    = "flag"
	aNumber  = "natural" // a whole number from 0
	aList    = "list"
	anObject = "object"
	needed   = "needed " // a prefix of the types
)

// parameters lists the parameters of each method that has some.
var parameters = map[string]map[string]string{
	"workspace/subscribe":   {"workspace": needed + aText, "after": aNumber, "epoch": aText, "deltaInterval": aNumber, "diffs": aText},
	"workspace/unsubscribe": {"workspace": needed + aText},
	"workspace/trust":       {"workspace": needed + aText, "trusted": needed + aFlag},
	"session/create":        {"workspace": needed + aText, "title": aText, "model": aText, "mode": aText, "isolation": aText, "agentSessionId": aText},
	"approval/list":         {"workspace": aText},
	"approval/answer":       {"approvalId": needed + aText, "optionId": needed + aText, "text": aText},
	"approval/rules":        {"workspace": needed + aText},
	"approval/removeRule":   {"workspace": needed + aText, "n": needed + aNumber},
	"turn/list":             {"workspace": aText, "sessionId": aText, "active": aFlag, "limit": aNumber, "cursor": aText},
	"session/list":          {"workspace": aText, "limit": aNumber, "cursor": aText},
	"session/read":          {"sessionId": needed + aText, "before": aText, "limit": aNumber},
	"session/update":        {"sessionId": needed + aText, "title": aText, "model": aText, "mode": aText},
	"session/delete":        {"sessionId": needed + aText},
	"search":                {"query": needed + aText, "workspace": aText, "limit": aNumber, "cursor": aText},
	"session/fork":          {"sessionId": needed + aText, "turnId": aText, "title": aText, "isolation": aText},
	"session/rewind":        {"sessionId": needed + aText, "turnId": needed + aText, "lastTurnId": aText, "files": aFlag, "dryRun": aFlag},
	"session/export":        {"sessionId": needed + aText, "cursor": aText},
	"session/commits":       {"sessionId": needed + aText, "commits": aList, "patch": aFlag},
	"session/import":        {"path": needed + aText, "workspace": aText, "newIds": aFlag},
	"item/read":             {"itemId": needed + aText},
	"turn/start": {"workspace": needed + aText, "prompt": needed + aText, "sessionId": aText, "context": aList, "model": aText, "mode": aText, "force": aFlag,
		"approvals": aText, "turnId": aText, "recap": aFlag, "attempt": anObject, "rewind": aText},
	"turn/wait":     {"turnId": needed + aText},
	"turn/cancel":   {"turnId": needed + aText},
	"turn/steer":    {"turnId": needed + aText, "text": needed + aText},
	"attempt/list":  {"workspace": needed + aText, "group": aText},
	"attempt/check": {"sessionId": needed + aText},
	"attempt/drop":  {"workspace": needed + aText, "group": needed + aText, "keep": aList},
	"diff/list":     {"workspace": needed + aText, "path": aText, "turnId": aText},
	"diff/unified":  {"workspace": needed + aText, "path": aText, "turnId": aText},
	"diff/accept": {"workspace": needed + aText, "hunks": aList, "path": aText, "turnId": aText, "all": aFlag, "rev": aNumber, "lines": anObject,
		"comment": aText, "both": aFlag},
	"diff/reject": {"workspace": needed + aText, "hunks": aList, "path": aText, "turnId": aText, "all": aFlag, "rev": aNumber, "lines": anObject,
		"comment": aText, "both": aFlag},
	"diff/undo":         {"workspace": needed + aText, "decision": aNumber},
	"diff/redo":         {"workspace": needed + aText},
	"diff/dismiss":      {"workspace": needed + aText, "path": aText, "all": aFlag},
	"diff/merge":        {"workspace": needed + aText, "path": needed + aText},
	"commit/why":        {"workspace": needed + aText, "rev": aText, "amend": aFlag},
	"file/why":          {"workspace": needed + aText, "path": needed + aText, "lines": anObject},
	"diff/place":        {"workspace": needed + aText, "path": needed + aText},
	"diff/comment":      {"workspace": needed + aText, "hunk": needed + aText, "text": needed + aText},
	"agent/chats":       {"workspace": needed + aText},
	"agent/status":      {"workspace": aText},
	"agent/environment": {"variables": needed + aList},
	"daemon/stop":       {"force": aFlag},
	"daemon/gc":         {"dryRun": aFlag},
	"daemon/backup":     {"path": needed + aText, "replace": aFlag},
}

// wrongly lists values that are wrong for a type.
var wrongly = map[string][]string{
	aText:    {`5`, `["x"]`},
	aFlag:    {`"true"`, `1`},
	aNumber:  {`"1"`, `-1`, `1.5`, `1e99`},
	aList:    {`"x"`, `{"0":"x"}`, `[null]`, `[[]]`},
	anObject: {`[0,1]`, `"0-1"`},
}

// messageOf returns a request with params, whose values are JSON.
func messageOf(method string, params map[string]string) string {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(params)) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", name, params[name])
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"p","method":%q,"params":{%s}}`, method, b.String())
}

func inJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // cannot happen with a string
	}
	return string(b)
}

// paramMessages returns requests with missing and wrong parameters. ws is a trusted workspace; file is a file.
func paramMessages(ws, file string) (all []malformed) {
	add := func(method string, params map[string]string, code int, field string) {
		all = append(all, malformed{short(messageOf(method, params)), messageOf(method, params), `"p"`, code, field})
	}
	for _, method := range slices.Sorted(maps.Keys(parameters)) {
		kinds := parameters[method]
		good := map[string]string{}
		for name, kind := range kinds {
			switch {
			case name == "workspace" && strings.HasPrefix(kind, needed):
				good[name] = inJSON(ws)
			case kind == needed+aText:
				good[name] = `"x"`
			case kind == needed+aFlag:
				good[name] = `true`
			}
		}
		with := func(name, value string) map[string]string {
			params := maps.Clone(good)
			if params[name] = value; value == "" {
				delete(params, name)
			}
			return params
		}
		all = append(all, malformed{"params in a list: " + method, `{"jsonrpc":"2.0","id":"p","method":"` + method + `","params":[1]}`, `"p"`, -32602, "params"})
		for _, name := range slices.Sorted(maps.Keys(kinds)) {
			kind, required := strings.CutPrefix(kinds[name], needed)
			if required {
				add(method, with(name, ""), -32602, name)
				add(method, with(name, "null"), -32602, name)
			}
			for _, value := range wrongly[kind] {
				field := name
				if kind == aList && value[0] == '[' {
					field += "[0]"
				}
				add(method, with(name, value), -32602, field)
			}
		}
	}

	// Paths that name no workspace.
	for i, path := range []string{
		"", ".", "..", "~", "a/b", "../" + ws, "\x00", ws + "\x00", ws + "/nothing/here", file, file + "/below", "/dev/null", "/" + strings.Repeat("x/", 3000), "/" + strings.Repeat("x", 300),
		"file:", "file://", "file:relative", "file:///%zz", "file:///a%0", "file://%00", "file://" + ws + "%00", "file://elsewhere" + ws, "file://user@elsewhere:22" + ws, "http://localhost" + ws,
		"untitled:Untitled-1", "vscode-remote://ssh-remote+x" + ws, "ssh://x" + ws, "\\\\host\\share", "C:\\", "\ufffd", "-",
	} {
		methods := []string{"workspace/subscribe", "workspace/unsubscribe", "session/create", "diff/list", "diff/undo"}
		method := methods[i%len(methods)]
		add(method, map[string]string{"workspace": inJSON(path)}, -32602, "workspace")
		add("workspace/unsubscribe", map[string]string{"workspace": inJSON(path)}, -32602, "workspace")
		add("workspace/trust", map[string]string{"workspace": inJSON(path), "trusted": "true"}, -32602, "workspace")
		add("turn/start", map[string]string{"workspace": inJSON(path), "prompt": `"x"`}, -32602, "workspace")
	}
	in := func(more ...string) map[string]string {
		params := map[string]string{"workspace": inJSON(ws)}
		for i := 0; i < len(more); i += 2 {
			params[more[i]] = more[i+1]
		}
		return params
	}
	for _, bad := range []struct {
		method string
		params map[string]string
		code   int
		field  string
	}{
		{"workspace/subscribe", in("diffs", `"some"`), -32602, "diffs"},
		{"session/create", in("mode", `"god"`), -32602, "mode"},
		{"session/create", in("mode", `""`), -32602, "mode"},
		{"session/create", in("isolation", `"vm"`), -32602, "isolation"},
		{"session/list", in("cursor", `"\u0000"`), -32602, "cursor"},
		{"session/list", in("cursor", `"`+strings.Repeat("f", 100_000)+`"`), -32602, "cursor"},
		{"session/read", in("sessionId", `"nobody"`), -32001, ""},
		{"session/read", in("sessionId", `""`), -32001, ""},
		{"session/read", in("sessionId", `"\u0000\ud800"`), -32001, ""},
		{"session/read", in("sessionId", `"`+strings.Repeat("s", 100_000)+`"`), -32001, ""},
		{"session/update", in("sessionId", `"../x"`), -32001, ""},
		{"session/delete", in("sessionId", `"nobody"`), -32001, ""},
		{"session/export", in("sessionId", `"nobody"`), -32001, ""},
		{"session/commits", in("sessionId", `"nobody"`), -32001, ""},
		{"item/read", in("itemId", `"nobody"`), -32001, ""},
		{"item/read", in("itemId", `"nobody:0"`), -32001, ""},
		{"item/read", in("itemId", `":99999999999999999999"`), -32001, ""},
		{"item/read", in("itemId", `"`+strings.Repeat(":", 100_000)+`"`), -32001, ""},
		{"turn/wait", in("turnId", `"nobody"`), -32001, ""},
		{"turn/wait", in("turnId", `""`), -32001, ""},
		{"turn/cancel", in("turnId", `"nobody"`), -32001, ""},
		{"turn/start", in("prompt", `""`), -32602, "prompt"},
		{"turn/start", in("prompt", `" \n\t"`), -32602, "prompt"},
		{"turn/start", in("prompt", `"a\u0000b"`), -32602, "prompt"},
		{"turn/start", in("prompt", `"x"`, "sessionId", `"nobody"`), -32001, ""},
		{"turn/start", in("prompt", `"x"`, "mode", `"god"`), -32602, "mode"},
		{"turn/start", in("prompt", `"x"`, "turnId", `"`+strings.Repeat("ä", 65)+`"`), -32602, "turnId"},
		{"turn/start", in("prompt", `"x"`, "turnId", `"a\u0000"`), -32602, "turnId"},
		{"turn/start", in("prompt", `"x"`, "turnId", `"a\nb"`), -32602, "turnId"},
		{"turn/start", in("prompt", `"x"`, "attempt", `{"group":"","number":1,"of":1}`), -32602, "attempt.group"},
		{"turn/start", in("prompt", `"x"`, "attempt", `{"group":"a\nb","number":1,"of":1}`), -32602, "attempt.group"},
		{"turn/start", in("prompt", `"x"`, "attempt", `{"group":"g","number":1,"of":17}`), -32602, "attempt.of"},
		{"turn/start", in("prompt", `"x"`, "attempt", `{"group":"g","number":3,"of":2}`), -32602, "attempt.number"},
		{"turn/start", in("prompt", `"x"`, "attempt", `{"group":"g","number":1,"of":2}`, "isolation", `"none"`), -32602, "isolation"},
		{"turn/start", in("prompt", `"x"`, "attempt", `{"group":"g","number":1,"of":2}`, "sessionId", `"s"`), -32602, "attempt"},
		{"attempt/check", in("sessionId", `"nobody"`), -32001, ""},
		{"attempt/drop", in("group", `"nothing"`), -32001, ""},
		{"turn/start", in("prompt", `"x"`, "model", `"a\u0000"`), -32602, "model"},
		{"turn/start", in("prompt", `"x"`, "model", `"`+strings.Repeat("m", 257)+`"`), -32602, "model"},
		{"session/create", in("model", `"a\u0000"`), -32602, "model"},
		{"session/create", in("agentSessionId", `"a\u0000"`), -32602, "agentSessionId"},
		{"session/create", in("agentSessionId", `"--force"`), -32602, "agentSessionId"},
		{"session/create", in("agentSessionId", `"`+strings.Repeat("a", 257)+`"`), -32602, "agentSessionId"},
		{"diff/accept", in("all", "true", "comment", `"a\u0000"`), -32602, "comment"},
		{"diff/comment", in("hunk", `"1.1"`, "text", `"a\u0000"`), -32602, "text"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"file","path":"a\u0000"}]`), -32602, "context[0].path"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"text","text":"b","title":"a\u0000"}]`), -32602, "context[0].title"},
		{"turn/start", in("prompt", `"x"`, "context", `[5]`), -32602, "context[0]"},
		{"turn/start", in("prompt", `"x"`, "context", `[{}]`), -32602, "context[0].kind"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"spell"}]`), -32602, "context[0].kind"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"file"}]`), -32602, "context[0].path"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"text","text":"a"},{"kind":"text"}]`), -32602, "context[1].text"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"text","text":"\u0000"}]`), -32602, "context[0].text"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"selection","path":"a","text":"b"}]`), -32602, "context[0].range"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"file","path":"a","range":{"start":{"line":0}}}]`), -32602, "context[0].range.start.character"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"file","path":"a","range":[0,1]}]`), -32602, "context[0].range"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"file","path":"a","range":{"start":{"line":"0","character":0}}}]`), -32602, "context[0].range.start.line"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"diagnostics","path":"a"}]`), -32602, "context[0].items"},
		{"turn/start", in("prompt", `"x"`, "context", `[{"kind":"diagnostics","path":"a","items":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}}]}]`), -32602, "context[0].items[0].message"},
		{"turn/start", map[string]string{"workspace": `"/"`, "prompt": `"x"`}, -32005, ""},
		{"diff/accept", in(), -32602, "hunks"},
		{"diff/accept", in("all", "false"), -32602, "hunks"},
		{"diff/reject", in("hunks", `[]`), -32602, "hunks"},
		{"diff/reject", in("hunks", `["1"]`, "all", `true`), -32602, "hunks"},
		{"diff/reject", in("path", `"a"`, "turnId", `"t"`), -32602, "hunks"},
		{"diff/accept", in("hunks", `["a\u0000"]`), -32001, ""},
		{"diff/accept", in("hunks", `["99999999999999999999"]`), -32001, ""},
		{"diff/reject", in("hunks", `["","",""]`), -32001, ""},
		{"diff/reject", in("path", `""`), -32602, "hunks"},
		{"diff/accept", in("path", `""`, "turnId", `""`), -32602, "hunks"},
		{"diff/accept", in("hunks", `[""]`), -32001, ""},
		{"approval/answer", map[string]string{"approvalId": `""`, "optionId": `"y"`}, -32001, ""},
		{"diff/reject", in("all", "true", "lines", `{"from":0,"to":1}`), -32602, "lines"},
		{"diff/reject", in("hunks", `["1"]`, "lines", `{}`), -32602, "lines.from"},
		{"diff/reject", in("hunks", `["1"]`, "lines", `{"from":0,"to":"1"}`), -32602, "lines.to"},
		{"diff/reject", in("hunks", `["1"]`, "lines", `{"from":1,"to":1}`), -32602, "lines"},
		{"diff/reject", in("hunks", `["1"]`, "lines", `{"from":-1,"to":1}`), -32602, "lines"},
		{"diff/reject", in("hunks", `["1","2"]`, "lines", `{"from":0,"to":1}`), -32602, "lines"},
		{"diff/reject", in("path", `"../../etc/passwd"`), -32004, ""},
		{"diff/accept", in("path", `"/etc/passwd"`), -32004, ""},
		{"diff/reject", in("path", `"a/../../x"`), -32004, ""},
		{"diff/reject", in("path", `"nothing.txt"`), -32001, ""},
		{"diff/reject", in("path", `"."`), -32001, ""},
		{"diff/reject", in("path", inJSON("file://"+ws+"/nothing.txt")), -32001, ""},
		{"diff/reject", in("path", `"file:///etc/passwd"`), -32004, ""},
		{"diff/reject", in("turnId", `"nobody"`), -32001, ""},
		{"diff/comment", in("hunk", `"nobody"`, "text", `"x"`), -32001, ""},
		{"session/import", map[string]string{"path": `"relative"`}, -32602, "path"},
		{"session/import", map[string]string{"path": inJSON(file + "x")}, -32602, "path"},
		{"session/import", map[string]string{"path": inJSON(file)}, -32602, "path"},
		{"session/import", map[string]string{"path": inJSON(ws)}, -32602, "path"},
		{"session/import", map[string]string{"path": inJSON(ws + "\x00")}, -32602, "path"},
		{"daemon/backup", map[string]string{"path": `"relative"`}, -32602, "path"},
	} {
		add(bad.method, bad.params, bad.code, bad.field)
	}
	return all
}

// earlyMessages returns wrong parameters of initialize.
func earlyMessages() (all []malformed) {
	for _, m := range [][2]string{
		{`[]`, "params"}, {`{"processId":"1"}`, "processId"}, {`{"processId":1.5}`, "processId"}, {`{"clientInfo":"nvim"}`, "clientInfo"}, {`{"clientInfo":{}}`, "clientInfo.name"},
		{`{"clientInfo":{"name":5}}`, "clientInfo.name"}, {`{"protocolVersion":"1"}`, "protocolVersion"}, {`{"protocolVersion":1.5}`, "protocolVersion"}, {`{"protocolVersion":0}`, "protocolVersion"},
		{`{"protocolVersion":-1}`, "protocolVersion"}, {`{"protocolVersion":99}`, "protocolVersion"}, {`{"protocolVersion":1e99}`, "protocolVersion"}, {`{"workspaceFolders":{}}`, "workspaceFolders"},
		{`{"workspaceFolders":[null]}`, "workspaceFolders[0]"}, {`{"workspaceFolders":[{"name":"x"}]}`, "workspaceFolders[0].uri"}, {`{"workspaceFolders":[{"uri":5,"name":"x"}]}`, "workspaceFolders[0].uri"},
		{`{"trace":5}`, "trace"},
	} {
		all = append(all, malformed{"initialize " + m[0], `{"jsonrpc":"2.0","id":"e","method":"initialize","params":` + m[0] + `}`, `"e"`, -32602, m[1]})
	}
	return all
}

// withoutParameters are the methods that take no parameters; initialize has its bad values beside the others.
var withoutParameters = []string{
	"agent/models", "daemon/forgetDamaged", "daemon/join", "daemon/reload", "daemon/status", "initialize", "shutdown", "workspace/list",
}

// TestNoMethodIsLeftOut requires that the table of parameters has every method that takes some.
func TestNoMethodIsLeftOut(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	var capabilities struct{ Capabilities rpc.Capabilities }
	w.Joins().Must("initialize", world.Obj{}, &capabilities)
	for _, name := range capabilities.Capabilities.Methods {
		if _, known := parameters[name]; !known {
			require.Contains(t, withoutParameters, name, "%s: put bad values of its parameters into parameters, or the method into withoutParameters", name)
		}
	}
}

// TestPathThatIsNoFile asks for the diffs of URIs that name no local file, and of paths that look like URIs.
func TestPathThatIsNoFile(t *testing.T) {
	t.Parallel()
	w, e := world.Reviewing(t, "a%b", "one\n", "two\n")
	for _, path := range []string{"file:///x/%zz", "file://elsewhere/x", "file:///x#L5", "http://host/x", "untitled://1"} {
		for _, method := range []string{"diff/list", "diff/unified", "diff/accept", "diff/reject"} {
			failed := e.Fails(method, world.Obj{"workspace": w.Root, "path": path})
			require.Equal(t, -32602, failed.Code, "%s %s", method, path)
			require.Equal(t, "path", failed.Data.Field, "%s %s", method, path)
			require.True(t, strings.HasPrefix(failed.Message, "path: "), failed.Message)
		}
	}
	for path, found := range map[string]int{"a%b": 1, "a%25b": 0, w.Path("a%b"): 1, paths.URI(w.Path("a%b")): 1, "b:c": 0} {
		var list struct{ Diffs []struct{ Path string } }
		e.Must("diff/list", world.Obj{"workspace": w.Root, "path": path}, &list)
		require.Len(t, list.Diffs, found, path)
	}
}

// TestLongTitles gives sessions titles at the limit and above it. An import shortens a longer one.
func TestLongTitles(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Joins()
	var r struct{ Session sessions.Session }
	e.Must("session/create", world.Obj{"workspace": w.Root, "title": strings.Repeat("t", 4096)}, &r)
	long := strings.Repeat("t", 4097)
	for method, params := range map[string]world.Obj{
		"session/create": {"workspace": w.Root, "title": long}, "session/update": {"sessionId": r.Session.ID, "title": long},
	} {
		failed := e.Fails(method, params)
		require.Equal(t, -32602, failed.Code, method)
		require.Equal(t, "title", failed.Data.Field, method)
		require.Contains(t, failed.Message, "4096")
	}
	r.Session.Title = strings.Repeat("t", 1<<20)
	b, err := json.Marshal(world.Obj{"session": r.Session})
	require.NoError(t, err)
	w.Put("s.ndjson", `{"cursord":"session","version":1}`+"\n"+string(b)+"\n"+`{"end":{"turns":0,"items":0}}`+"\n")
	e.Must("session/import", world.Obj{"path": w.Path("s.ndjson"), "newIds": true}, &r)
	require.True(t, strings.HasSuffix(r.Session.Title, "…(1048576 bytes)"), "%d bytes", len(r.Session.Title))
	require.LessOrEqual(t, len(r.Session.Title), 4096)
}

package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOutcomes decodes one completed call per row: the tool call object and its outcome.
func TestOutcomes(t *testing.T) {
	tests := []struct{ name, call, want string }{
		{"edit", `{"hookAdditionalContexts":[],"editToolCall":{"args":{"path":"/r/a","streamContent":"2\n"},"result":{"success":{"path":"/r/a","linesAdded":1,"diffString":"x","beforeFullFileContent":"1\n","afterFullFileContent":"2\n","message":"Wrote contents"}}},"toolCallId":"x"}`,
			`completed c edit/edit "Edit /r/a" paths=/r/a output="Wrote contents" change=/r/a("1\n"->"2\n")`},
		{"edit that creates", `{"editToolCall":{"args":{"path":"a"},"result":{"success":{"path":"a","afterFullFileContent":"","resultForModel":"made"}}}}`,
			`completed c edit/edit "Edit a" paths=a output="made" change=a(?->"")`},
		{"edit refused", `{"editToolCall":{"result":{"rejected":{"path":"/r/a","reason":""}}}}`,
			`rejected c edit/edit "Edit /r/a" paths=/r/a error="refused by policy"`},
		{"edit denied", `{"editToolCall":{"args":{"path":"/r/a"},"result":{"writePermissionDenied":{"path":"","error":"Write permission denied","isReadonly":false}}}}`,
			`rejected c edit/edit "Edit /r/a" paths=/r/a error="Write permission denied"`},
		{"edit not readable", `{"editToolCall":{"result":{"readPermissionDenied":{"path":"/r/a"}}}}`,
			`rejected c edit/edit "Edit /r/a" paths=/r/a error="refused by policy"`},
		{"edit wrong", `{"editToolCall":{"result":{"error":{"error":"Incorrect tool arguments","modelVisibleError":"nothing to replace"}}}}`,
			`failed c edit/edit "Edit" error="Incorrect tool arguments: nothing to replace"`},
		{"edit blocked by a hook", `{"editToolCall":{"args":{"path":"a"},"result":{"error":{"error":"Hook blocked with message: no"}}}}`,
			`rejected c edit/edit "Edit a" paths=a error="Hook blocked with message: no"`},
		{"delete", `{"deleteToolCall":{"args":{"path":"a"},"result":{"success":{"path":"a","deletedFile":"a","fileSize":"2","prevContent":"1\n"}}}}`,
			`completed c delete/delete "Delete a" paths=a change=a("1\n"->?)deleted`},
		{"delete nothing", `{"deleteToolCall":{"args":{"path":"a"},"result":{"fileNotFound":{"path":"a"}}}}`,
			`failed c delete/delete "Delete a" paths=a error="file not found a"`},
		{"shell", `{"shellToolCall":{"args":{"command":"make"},"result":{"isBackground":false,"success":{"command":"make","exitCode":0,"stdout":"a","stderr":"b","interleavedOutput":"ab"},"sandboxPolicy":{"type":"none"}},"description":"Build"}}`,
			`completed c shell/shell "make" exit=0 output="ab"`},
		{"shell with two outputs", `{"shellToolCall":{"args":{"command":"make"},"result":{"success":{"exitCode":0,"stdout":"a","stderr":"b"}}}}`,
			`completed c shell/shell "make" exit=0 output="a\nb"`},
		{"shell failed", `{"shellToolCall":{"args":{"command":"make"},"result":{"failure":{"exitCode":"2","stdout":"","stderr":"no rule"}}}}`,
			`failed c shell/shell "make" exit=2 output="no rule" error="exit code 2"`},
		{"shell success that is none", `{"shellToolCall":{"args":{"command":"false"},"result":{"success":{"exitCode":1}}}}`,
			`failed c shell/shell "false" exit=1 error="exit code 1"`},
		{"shell refused", `{"shellToolCall":{"result":{"rejected":{"command":"rm","workingDirectory":"","reason":"","isReadonly":false}}}}`,
			`rejected c shell/shell "Run a command" error="refused by policy"`},
		{"shell denied", `{"shellToolCall":{"args":{"command":"rm"},"result":{"permissionDenied":{"error":"Command blocked"}}}}`,
			`rejected c shell/shell "rm" error="Command blocked"`},
		{"shell timeout", `{"shellToolCall":{"args":{"command":"w"},"result":{"timeout":{"timeoutMs":"500"}}}}`,
			`failed c shell/shell "w" error="timed out after 500 ms"`},
		{"shell not started", `{"shellToolCall":{"args":{"command":"w"},"result":{"spawnError":{"error":"no shell"}}}}`,
			`failed c shell/shell "w" error="no shell"`},
		{"shell input", `{"writeShellStdinToolCall":{"args":{"chars":"y\n"},"result":{"success":{}}}}`,
			`completed c shell/writeShellStdin "y" command="y\n"`},
		{"read error without arguments", `{"readToolCall":{"result":{"error":{"errorMessage":"File not found"}}}}`,
			`failed c read/read "Read" error="File not found"`},
		{"grep", `{"grepToolCall":{"args":{"pattern":"x","path":"/r"},"result":{"success":{"workspaceResults":{"/r":{"content":{"matches":[{"file":"a.go","matches":[{"lineNumber":3,"content":"x := 1","isContextLine":false},{"lineNumber":4,"content":"y","isContextLine":true}]}]}}}}}}}`,
			`completed c grep/grep "Grep x in /r" paths=/r output="a.go:3:x := 1\na.go-4-y\n"`},
		{"grep files and counts", `{"grepToolCall":{"args":{"pattern":"x"},"result":{"success":{"workspaceResults":{"/r":{"files":{"files":["a","b"]}},"/q":{"count":{"counts":[{"file":"c","count":2}]}}}}}}}`,
			`completed c grep/grep "Grep x" output="a\nb\nc:2\n"`},
		{"glob", `{"globToolCall":{"args":{"targetDirectory":"/r","globPattern":"**/*.go"},"result":{"success":{"pattern":"","files":["a.go"],"totalFiles":1}}}}`,
			`completed c glob/glob "Find **/*.go in /r" paths=/r output="a.go\n"`},
		{"web search", `{"webSearchToolCall":{"args":{"searchTerm":"go"},"result":{"success":{"references":[{"title":"Go","url":"https://go.dev","chunk":""}]}}}}`,
			`completed c search/webSearch "Search go" output="Go\n  https://go.dev\n"`},
		{"code search", `{"semSearchToolCall":{"args":{"query":"where","targetDirectories":["src"]},"result":{"success":{"results":"here"}}}}`,
			`completed c search/semSearch "Search where" paths=src output="here"`},
		{"fetch", `{"webFetchToolCall":{"args":{"url":"https://x"},"result":{"success":{"url":"https://x","markdown":"# X"}}}}`,
			`completed c fetch/webFetch "Fetch https://x" output="# X"`},
		{"mcp", `{"mcpToolCall":{"args":{"name":"db-query","args":{"path":"q"},"toolName":"query"},"result":{"success":{"content":[{"text":{"text":"1 row"}},{"image":{"data":""}}],"isError":false}}}}`,
			`completed c mcp/mcp "db-query" output="1 row\n(image)"`},
		{"mcp error", `{"mcpToolCall":{"args":{"name":"db-query"},"result":{"success":{"content":[{"text":{"text":"bad"}}],"isError":true}}}}`,
			`failed c mcp/mcp "db-query" output="bad" error="bad"`},
		{"mcp resources", `{"listMcpResourcesToolCall":{"args":{},"result":{"success":{"resources":[{"uri":"m://a","name":"A"}]}}}}`,
			`completed c mcp/listMcpResources "List mcp resources" output="m://a A\n"`},
		{"todos", `{"updateTodosToolCall":{"args":{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_PENDING"}],"merge":true},"result":{"success":{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_IN_PROGRESS"},{"id":2,"content":"b","status":"completed"}]}}}}`,
			`completed c todo/updateTodos "Update todos" todo=1:a:in_progress todo=2:b:completed`},
		{"plan", `{"createPlanToolCall":{"args":{"plan":"# P","name":"Move"},"result":{"success":{"planUri":""}}}}`,
			`completed c other/createPlan "Plan Move" plan="# P"`},
		{"question", `{"askQuestionToolCall":{"args":{"questions":[{"id":"q","prompt":"Which?"}]},"result":{"success":{}}}}`,
			`completed c question/askQuestion "Ask Which?"`},
		{"lints", `{"readLintsToolCall":{"args":{"paths":["a","b"]},"result":{"success":{"fileDiagnostics":[],"totalDiagnostics":0}}}}`,
			`completed c lints/readLints "Read lints a" paths=a,b output="0 diagnostics"`},
		{"task", `{"taskToolCall":{"args":{"description":"Tidy"},"result":{"success":{"conversationSteps":[{"thinkingMessage":{"text":"hm"}},{"toolCall":{"editToolCall":{"args":{"path":"a"},"result":{"success":{"path":"a","beforeFullFileContent":"1","afterFullFileContent":"2"}}}}},{"toolCall":{"deleteToolCall":{"args":{"path":"b"},"result":{"rejected":{}}}}},{"toolCall":{"taskToolCall":{"args":{},"result":{"success":{"conversationSteps":[{"toolCall":{"deleteToolCall":{"args":{"path":"d"},"result":{"success":{"prevContent":"x"}}}}}]}}}}},{"assistantMessage":{"text":"Tidied."}}]}}}}`,
			`completed c task/task "Task Tidy" paths=a,d output="Tidied." change=a("1"->"2") change=d("x"->?)deleted`},
		{"merge of a sub-agent", `{"applyAgentDiffToolCall":{"args":{"agentId":"g"},"result":{"success":{"appliedChanges":[{"path":"a","changeType":"CHANGE_TYPE_MODIFIED","beforeContent":"1","afterContent":"2"},{"path":"b","changeType":"DELETED","beforeContent":"x"},{"path":"c","error":"conflict"}]}}}}`,
			`completed c edit/applyAgentDiff "Edit a" paths=a,b change=a("1"->"2") change=b("x"->?)deleted`},
		{"unknown tool", `{"reflectDeeplyToolCall":{"args":{"on":"it"},"result":{"success":{}}}}`,
			`completed c other/reflectDeeply "Reflect deeply"`},
		{"unknown outcome", `{"readToolCall":{"args":{"path":"a"},"result":{"isBackground":false,"postponed":{"until":"noon"}}}}`,
			`failed c read/read "Read a" paths=a error="the agent gave an unknown outcome: postponed"`},
		{"flags that say what it was not", `{"shellToolCall":{"args":{"command":"a"},"result":{"exitCode":0,"stdout":"o","timeout":false,"rejected":false,"error":null}}}`,
			`completed c shell/shell "a" exit=0 output="o"`},
		{"an outcome that is null", `{"readToolCall":{"args":{"path":"a"},"result":{"success":null,"error":null}}}`, `completed c read/read "Read a" paths=a`},
		{"a result that is false", `{"shellToolCall":{"args":{"command":"a"},"result":false}}`, `failed c shell/shell "a" error="the agent gave no reason"`},
		{"shell killed", `{"shellToolCall":{"args":{"command":"a"},"result":{"failure":{"exitCode":0,"stderr":"x","signal":"SIGKILL"}}}}`,
			`failed c shell/shell "a" exit=0 output="x" error="ended by signal SIGKILL"`},
		{"no success and exit code 0", `{"shellToolCall":{"args":{"command":"a"},"result":{"success":false,"exit_code":0,"output":"bad"}}}`,
			`failed c shell/shell "a" exit=0 output="bad" error="bad"`},
		{"no result", `{"readToolCall":{"args":{"path":"a"}}}`, `completed c read/read "Read a" paths=a`},
		{"arguments that do not parse", `{"function":{"name":"zip","arguments":"{oops"}}`, `completed c other/zip "Zip"`},
		{"no name", `{"whatever":{"args":{}}}`, `completed c other/unknown "Unknown"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check(t, `{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":`+tt.call+`}`, tt.want)
		})
	}
}

// TestCalls pairs starts and ends.
func TestCalls(t *testing.T) {
	tests := []struct{ name, stream, want string }{
		{"an end without a start, and said twice", `
			{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"readToolCall":{"args":{"path":"x"},"result":{"success":{"content":"1"}}}}}
			{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"readToolCall":{"args":{"path":"x"},"result":{"success":{"content":"1"}}}}}
			{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"readToolCall":{"args":{"path":"x"},"result":{"success":{"content":"2"}}}}}`, `
			completed a read/read "Read x" paths=x output="1"
			completed a read/read "Read x" paths=x output="2"`},
		{"an id used again", `
			{"type":"tool_call","subtype":"started","call_id":"Grep_0","tool_call":{"grepToolCall":{"args":{"pattern":"x"}}}}
			{"type":"tool_call","subtype":"completed","call_id":"Grep_0","tool_call":{"grepToolCall":{"result":{"success":{}}}}}
			{"type":"tool_call","subtype":"started","call_id":"Grep_0","tool_call":{"grepToolCall":{"args":{"pattern":"y"}}}}
			{"type":"tool_call","subtype":"completed","call_id":"Grep_0","tool_call":{"grepToolCall":{"result":{"success":{}}}}}`, `
			start Grep_0 grep/grep "Grep x"
			completed Grep_0 grep/grep "Grep x"
			start Grep_0 grep/grep "Grep y"
			completed Grep_0 grep/grep "Grep y"`},
		{"a start said twice, the end adds arguments", `
			{"type":"tool_call","subtype":"started","call_id":"a","tool_call":{"editToolCall":{"args":{}}}}
			{"type":"tool_call","subtype":"started","call_id":"a","tool_call":{"editToolCall":{"args":{"path":"x"}}}}
			{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"editToolCall":{"args":{"streamContent":"s"},"result":{"success":{}}}}}`, `
			start a edit/edit "Edit"
			completed a edit/edit "Edit x" paths=x change=x(?->?)`},
		{"no ids", `
			{"type":"tool_call","subtype":"started","tool_call":{"readToolCall":{"args":{"path":"x"}}}}
			{"type":"tool_call","subtype":"started","tool_call":{"lsToolCall":{"args":{"path":"y"}}}}
			{"type":"tool_call","subtype":"completed","tool_call":{"readToolCall":{"result":{"success":{"content":"1"}}}}}
			{"type":"tool_call","subtype":"started","tool_call":{"lsToolCall":{"args":{"path":"z"}}}}
			{"type":"tool_call","subtype":"completed","tool_call":{"lsToolCall":{"args":{"path":"z"},"result":{"success":{}}}}}`, `
			start call-1 read/read "Read x" paths=x
			start call-2 ls/ls "List y" paths=y
			completed call-1 read/read "Read x" paths=x output="1"
			start call-3 ls/ls "List z" paths=z
			completed call-4 ls/ls "List z" paths=z`},
		{"id inside the arguments, paths of one file", `
			{"type":"system","subtype":"init","cwd":"/r","session_id":"s"}
			{"type":"tool_call","subtype":"started","tool_call":{"readToolCall":{"args":{"path":"src/a.go","toolCallId":"k"}}}}
			{"type":"tool_call","subtype":"completed","tool_call":{"toolCallId":"k","readToolCall":{"result":{"success":{"path":"/r/src/a.go"}}}}}`, `
			init s /r
			start k read/read "Read src/a.go" paths=src/a.go
			completed k read/read "Read src/a.go" paths=src/a.go`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.stream, tt.want) })
	}
}

func TestArgsAndResultStayWhole(t *testing.T) {
	d := NewDecoder()
	d.Line([]byte(`{"type":"tool_call","subtype":"started","call_id":"a","tool_call":{"fooToolCall":{"args":{"a":1,"b\u0022":[2]}}}}`))
	events := d.Line([]byte(`{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"fooToolCall":{"args":{"a":3},"result":"plain"}}}`))
	end := events[0].(ToolEnd)
	require.JSONEq(t, `{"a":3,"b\"":[2]}`, string(end.Call.Args))
	require.JSONEq(t, `{"output":"plain"}`, string(end.Call.Result))
	require.Equal(t, "plain", end.Call.Output)

	start := d.Line([]byte(`{"type":"tool_call","subtype":"started","tool_call":{"function":{"name":"zip","arguments":"{oops"}}}`))[0].(ToolStart)
	require.JSONEq(t, `{"arguments":"{oops"}`, string(start.Call.Args))
	start = d.Line([]byte(`{"type":"tool_call","subtype":"started","tool_call":{"function":{"name":"zip","arguments":"{\"n\":2}"}}}`))[0].(ToolStart)
	require.JSONEq(t, `{"n":2}`, string(start.Call.Args))
}

func TestLongLine(t *testing.T) {
	const n = 5 << 20
	line := `{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"editToolCall":{"args":{"path":"x"},"result":{"success":` +
		`{"afterFullFileContent":"` + strings.Repeat(`\n`, n/2) + `"}}}}}`
	end := NewDecoder().Line([]byte(line))[0].(ToolEnd)
	require.True(t, strings.Repeat("\n", n/2) == *end.Call.Changes[0].After)
	require.True(t, strings.HasSuffix(line, string(end.Call.Result)+"}}}"))
}

func TestToolNames(t *testing.T) {
	for want, raws := range map[string][]string{
		"read":     {"read", "Read", "piRead"},
		"write":    {"write", "writeFile", "Write", "piWrite"},
		"edit":     {"edit", "StrReplace", "ApplyPatch", "EditNotebook", "piEdit", "applyAgentDiff"},
		"delete":   {"delete", "Delete"},
		"shell":    {"shell", "Shell", "piBash", "writeShellStdin"},
		"grep":     {"grep", "Grep", "piGrep"},
		"glob":     {"glob", "Glob", "piFind"},
		"ls":       {"ls", "LS", "piLs"},
		"search":   {"webSearch", "semSearch", "SemanticSearch", "searchConversations"},
		"fetch":    {"fetch", "webFetch", "WebFetch"},
		"mcp":      {"mcp", "listMcpResources", "readMcpResource", "FetchMcpResource", "getMcpTools", "mcpAuth", "MCP:db"},
		"todo":     {"updateTodos", "readTodos", "TodoWrite"},
		"task":     {"task"},
		"lints":    {"readLints"},
		"question": {"askQuestion"},
		"other":    {"createPlan", "switchMode", "await", "truncated", "unknown"},
	} {
		for _, raw := range raws {
			require.Equal(t, want, toolName(raw), raw)
		}
	}
}

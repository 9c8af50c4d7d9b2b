//go:build unix

package world

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Playing puts groups of lines together, after the agent's first line.
func Playing(lines ...[]string) (all []string) {
	all = append(all, InitLine)
	for _, l := range lines {
		all = append(all, l...)
	}
	return all
}

// call makes the two lines of a tool call around what it does.
func CallLines(start, end string, does ...string) []string {
	all := append([]string{start}, does...)
	return append(all, end, Done)
}

const (
	InitLine = `{"type":"system","subtype":"init","apiKeySource":"login","cwd":"{{cwd}}","session_id":"{{session}}","model":"Auto","permissionMode":"default"}`
	UserLine = `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"{{prompt}}"}]},"session_id":"{{session}}"}`
)

// Says is an assistant line; more are further members.
func Says(text, more string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%q}]},"session_id":"{{session}}"%s}`, text, more)
}

// Piece is a delta of the real wire in partial mode, flush its consolidated message before a tool.
func Piece(text string) string { return Says(text, `,"timestamp_ms":{{now_ms}}`) }

// Flush is a line of the agent that repeats all of a text which it has said in pieces.
func Flush(text string) string {
	return Says(text, `,"timestamp_ms":{{now_ms}},"model_call_id":"r-0-ab12"`)
}

// Thinks is a line of the agent: a piece of what it thinks.
func Thinks(text string) string {
	return fmt.Sprintf(`{"type":"thinking","subtype":"delta","text":%q,"session_id":"{{session}}","timestamp_ms":{{now_ms}}}`, text)
}

// ThoughtEnd is the line of the agent after its last thought.
const ThoughtEnd = `{"type":"thinking","subtype":"completed","session_id":"{{session}}","timestamp_ms":{{now_ms}}}`

// Started is a line of the agent: the start of a call.
func Started(id, call string) string {
	return fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"tool_call":%s,"model_call_id":"r-0-ab12","session_id":"{{session}}","timestamp_ms":{{now_ms}}}`, id, call)
}

// Completed is a line of the agent: the end of a call.
func Completed(id, call string) string {
	return strings.Replace(Started(id, call), `"started"`, `"completed"`, 1)
}

// Succeeds is the last line of an agent whose turn went well; text is what it has said.
func Succeeds(text string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","duration_ms":5,"duration_api_ms":5,"is_error":false,"result":%q,"session_id":"{{session}}","request_id":"req","usage":{"inputTokens":1,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":0}}`, text)
}

const (
	ReadArgs = `{"readToolCall":{"args":{"path":"{{cwd}}/a"}}}`
	ReadDone = `{"readToolCall":{"args":{"path":"{{cwd}}/a"},"result":{"success":{"content":"A","totalLines":1}}}}`
	Sleep2   = `{"shellToolCall":{"args":{"command":"sleep 2"}}}`
	Slept    = `{"shellToolCall":{"args":{"command":"sleep 2"},"result":{"success":{"exitCode":0,"stdout":"ok","stderr":"","executionTime":2}}}}`
)

// Writes is the script of an agent that writes a file.
func Writes(path, text string) []string {
	raw, _ := json.Marshal(text)
	call := fmt.Sprintf(`"call_id":"1","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/%s"}`, path)
	return []string{
		InitLine, `{"type":"tool_call","subtype":"started",` + call + `}}}`, fmt.Sprintf(`{"fake":"write","path":%q,"text":%s}`, path, raw),
		`{"type":"tool_call","subtype":"completed",` + call + `,"result":{"success":{}}}}}`, Succeeds("Done."),
	}
}

// Streams is a line of the agent: a text that it says at once.
func Streams(text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%q}]},"timestamp_ms":{{now_ms}}}`, text)
}

// Edits are script lines by which the agent writes after to path, where before was ("(absent)": nothing).
func Edits(call, path, before, after string) []string {
	q := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	old := ""
	if before != "(absent)" && before != "" {
		old = `"beforeFullFileContent":` + q(before) + `,`
	}
	now := ""
	if after != "" {
		now = `"afterFullFileContent":` + q(after) + `,`
	}
	full := q("{{cwd}}/" + path)
	args := `"args":{"path":` + full + `}`
	return []string{
		fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"tool_call":{"editToolCall":{%s}}}`, call, args),
		fmt.Sprintf(`{"fake":"write","path":%s,"text":%s}`, q(path), q(after)),
		fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"tool_call":{"editToolCall":{%s,"result":{"success":{%s%s"path":%s}}}}}`,
			call, args, old, now, full),
	}
}

// Deletes are script lines by which the agent deletes path, which held before.
func Deletes(call, path, before string) []string {
	prev, _ := json.Marshal(before)
	args := `"args":{"path":"{{cwd}}/` + path + `"}`
	return []string{
		fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"tool_call":{"deleteToolCall":{%s}}}`, call, args),
		fmt.Sprintf(`{"fake":"delete","path":%q}`, path),
		fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"tool_call":{"deleteToolCall":{%s,"result":{"success":{"path":"{{cwd}}/%s","prevContent":%s}}}}}`,
			call, args, path, prev),
	}
}

// Done is the last line of an agent whose turn went well.
const Done = `{"type":"result","subtype":"success","is_error":false,"result":"ok"}`

// Lines puts groups of lines together.
func Lines(groups ...[]string) []string {
	var all []string
	for _, g := range groups {
		all = append(all, g...)
	}
	return append(all, Done)
}

// Shells are script lines by which the agent runs a shell command.
func Shells(call, command string) []string {
	args := fmt.Sprintf(`"args":{"command":%q,"workingDirectory":""}`, "x")
	return []string{
		fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"timestamp_ms":{{now_ms}},"tool_call":{"shellToolCall":{%s}}}`, call, args),
		Execs(command),
		fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"timestamp_ms":{{now_ms}},"tool_call":{"shellToolCall":{%s,"result":{"success":{"command":"x","exitCode":0,"stdout":""}}}}}`, call, args),
	}
}

// Execs is a line that has the fake agent run a command in a shell.
func Execs(command string) string {
	argv, _ := json.Marshal([]string{"sh", "-c", command})
	return fmt.Sprintf(`{"fake":"exec","argv":%s}`, argv)
}

// Waits has the agent wait until the test makes a file, outside of the workspace.
func Waits(name string) string { return fmt.Sprintf(`{"fake":"wait","path":"../%s"}`, name) }

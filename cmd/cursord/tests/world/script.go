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

// CallLines returns the two lines of a tool call, with the lines of does between them.
func CallLines(start, end string, does ...string) []string {
	all := append([]string{start}, does...)
	return append(all, end, Done)
}

const (
	InitLine = `{"type":"system","subtype":"init","apiKeySource":"login","cwd":"{{cwd}}","session_id":"{{session}}","model":"Auto","permissionMode":"default"}`
	UserLine = `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"{{prompt}}"}]},"session_id":"{{session}}"}`
)

// Says returns an assistant line. more holds further members.
func Says(text, more string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%q}]},"session_id":"{{session}}"%s}`, text, more)
}

// Piece returns a delta as the agent sends it with partial output.
func Piece(text string) string { return Says(text, `,"timestamp_ms":{{now_ms}}`) }

// Flush returns the line in which the agent repeats a text whose pieces it has sent.
func Flush(text string) string {
	return Says(text, `,"timestamp_ms":{{now_ms}},"model_call_id":"r-0-ab12"`)
}

// Thinks returns a piece of a thought.
func Thinks(text string) string {
	return fmt.Sprintf(`{"type":"thinking","subtype":"delta","text":%q,"session_id":"{{session}}","timestamp_ms":{{now_ms}}}`, text)
}

// ThoughtEnd is the line behind the last piece of a thought.
const ThoughtEnd = `{"type":"thinking","subtype":"completed","session_id":"{{session}}","timestamp_ms":{{now_ms}}}`

// Started returns the line that begins a call.
func Started(id, call string) string {
	return fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"tool_call":%s,"model_call_id":"r-0-ab12","session_id":"{{session}}","timestamp_ms":{{now_ms}}}`, id, call)
}

// Completed returns the line that ends a call.
func Completed(id, call string) string {
	return strings.Replace(Started(id, call), `"started"`, `"completed"`, 1)
}

// Succeeds returns the last line of a successful run. text is the agent's answer.
func Succeeds(text string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","duration_ms":5,"duration_api_ms":5,"is_error":false,"result":%q,"session_id":"{{session}}","request_id":"req","usage":{"inputTokens":1,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":0}}`, text)
}

const (
	ReadArgs = `{"readToolCall":{"args":{"path":"{{cwd}}/a"}}}`
	ReadDone = `{"readToolCall":{"args":{"path":"{{cwd}}/a"},"result":{"success":{"content":"A","totalLines":1}}}}`
	Sleep2   = `{"shellToolCall":{"args":{"command":"sleep 2"}}}`
	Slept    = `{"shellToolCall":{"args":{"command":"sleep 2"},"result":{"success":{"exitCode":0,"stdout":"ok","stderr":"","executionTime":2}}}}`
)

// Writes returns the script of an agent that writes a file.
func Writes(path, text string) []string {
	raw, _ := json.Marshal(text)
	call := fmt.Sprintf(`"call_id":"1","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/%s"}`, path)
	return []string{
		InitLine, `{"type":"tool_call","subtype":"started",` + call + `}}}`, fmt.Sprintf(`{"fake":"write","path":%q,"text":%s}`, path, raw),
		`{"type":"tool_call","subtype":"completed",` + call + `,"result":{"success":{}}}}}`, Succeeds("Done."),
	}
}

// Streams returns a line with a whole text.
func Streams(text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%q}]},"timestamp_ms":{{now_ms}}}`, text)
}

// Edits returns the lines of a call that changes path from before to after. "(absent)" means that there is no file.
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

// Deletes returns the lines of a call that deletes path, whose content was before.
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

// Done is the last line of a successful run.
const Done = `{"type":"result","subtype":"success","is_error":false,"result":"ok"}`

// Lines joins groups of lines.
func Lines(groups ...[]string) []string {
	var all []string
	for _, g := range groups {
		all = append(all, g...)
	}
	return append(all, Done)
}

// Shells returns the lines of a call that runs a shell command.
func Shells(call, command string) []string {
	args := fmt.Sprintf(`"args":{"command":%q,"workingDirectory":""}`, "x")
	return []string{
		fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"timestamp_ms":{{now_ms}},"tool_call":{"shellToolCall":{%s}}}`, call, args),
		Execs(command),
		fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"timestamp_ms":{{now_ms}},"tool_call":{"shellToolCall":{%s,"result":{"success":{"command":"x","exitCode":0,"stdout":""}}}}}`, call, args),
	}
}

// Execs returns a line that makes the fake agent run a shell command outside of a call.
func Execs(command string) string {
	argv, _ := json.Marshal([]string{"sh", "-c", command})
	return fmt.Sprintf(`{"fake":"exec","argv":%s}`, argv)
}

// Waits returns a line that makes the agent wait for a file, which the test makes outside of the workspace.
func Waits(name string) string { return fmt.Sprintf(`{"fake":"wait","path":"../%s"}`, name) }

//go:build unix

package acp

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/agent/jsontext"
)

// decode plays updates, one a line, with a clock that stands still, and returns the events up to the turn's end.
func decode(lines string) []agent.Event {
	now := time.Now().Add(time.Hour) // no file is as new
	d := newDecoder("/w", func() time.Time { return now }, false)
	var events []agent.Event
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			events = d.update(events, jsontext.Value(line))
		}
	}
	now = now.Add(holdTime)
	return d.closeCalls(d.endThought(d.release(events)))
}

// TestRunsThoughRefused: a person refuses a command, and the agent runs it all the same. A notice says so, also if the command fails; an agent that
// reports only that it was refused ran nothing.
func TestRunsThoughRefused(t *testing.T) {
	for output, ran := range map[string]bool{`{"exitCode":0,"stdout":"x"}`: true, `{"exitCode":3}`: true, `{"rejected":{"reason":"no"}}`: false, `{"error":"refused"}`: false} {
		d := newDecoder("/w", time.Now, false)
		d.update(nil, jsontext.Value(`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","status":"pending","rawInput":{"command":"make"}}`))
		d.asked("1", "")
		d.answered(nil, "1", "a person refused it")
		events := d.update(nil, jsontext.Value(`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","rawOutput":`+output+`}`))
		want := agent.Notice{Text: "The agent ran this although it was refused: make"}
		require.Equal(t, ran, slices.Contains(events, agent.Event(want)), "%s: %+v", output, events)
	}
}

// TestUpdates decodes what builds are known to send.
func TestUpdates(t *testing.T) {
	for _, test := range []struct{ name, updates, want string }{
		{"text in pieces, cut inside of a character", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\ud83d"}}
			{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\ude00b"}}`, "text a😀b"},
		{"messages with ids", `{"sessionUpdate":"agent_message_chunk","messageId":"1","content":{"type":"text","text":"a"}}
			{"sessionUpdate":"agent_message_chunk","messageId":"2","content":{"type":"text","text":"b"}}`, "text a\nTextEnd\ntext b"},
		{"an image, a resource and something unknown between words", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so:"}}
			{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"AAAA"}}
			{"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"file:///w/a","text":"all of a"}}}
			{"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"file:///w/b","mimeType":"x/y","blob":"AAAA"}}}
			{"sessionUpdate":"agent_message_chunk","content":{"type":"hologram","uri":"https://a.b"}}`,
			`text so:\n(image image/png)\n\nall of a\n\n(resource x/y file:///w/b)\n\n(hologram https://a.b)\n`},
		{"what is no text of the turn", `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"a"}}
			{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"x","description":"---"}]}
			{"sessionUpdate":"session_info_update","title":"a"}
			{"sessionUpdate":"state_update","state":"running"}
			{"sessionUpdate":"usage_update","used":1,"size":2}`, ""},
		{"what is not known", `{"sessionUpdate":"fireworks"}
			{}
			[]`, "unknown acp/fireworks\nunknown acp/untyped\nunknown acp/untyped"},
		{"an input that comes later, a generic title", `{"sessionUpdate":"tool_call","toolCallId":"c\n1","title":"Read File","kind":"read","status":"pending","rawInput":{}}
			{"sessionUpdate":"tool_call_update","toolCallId":"c\n1","rawInput":{"path":"/w/a.go"},"locations":[{"path":"/w/a.go"}]}
			{"sessionUpdate":"tool_call_update","toolCallId":"c\n1","status":"completed","rawOutput":{"content":"x"}}`,
			"start read \"Read a.go\" 1 paths\ncompleted read \"Read a.go\" 1 paths \"x\""},
		{"an edit with a diff", `{"sessionUpdate":"tool_call","toolCallId":"1","title":"Edit File","kind":"edit","status":"pending","rawInput":{}}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","content":[{"type":"diff","path":"/w/b","oldText":null,"newText":"x"}]}`,
			"start edit \"Edit b\" 1 paths\ncompleted edit \"Edit b\" 1 paths wrote b"},
		{"an edit that stays in progress", `{"sessionUpdate":"tool_call","toolCallId":"1","title":"Edit File","kind":"edit","status":"in_progress","rawInput":{"path":"b"}}`,
			"start edit \"Edit b\" 1 paths\nfailed edit \"Edit b\" 1 paths error=\"" + unreported + "\" wrote b"},
		{"edits of which the next command or words tell the end", `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","status":"in_progress","rawInput":{"path":"b"}}
			{"sessionUpdate":"tool_call","toolCallId":"2","kind":"delete","status":"in_progress","rawInput":{"path":"c"}}
			{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}
			{"sessionUpdate":"tool_call","toolCallId":"3","kind":"execute","status":"in_progress","rawInput":{"command":"a"}}
			{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so"}}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","content":[{"type":"diff","path":"/w/b","newText":"x"}]}`,
			"start edit \"Edit b\" 1 paths\nstart delete \"Delete c\" 1 paths\ncompleted delete \"Delete c\" 1 paths wrote c (gone)\nstart shell \"a\"\nfailed edit \"Edit b\" 1 paths error=\"" + unreported +
				"\" wrote b\ntext so"},
		{"an edit of which the next thought tells the end", `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","status":"in_progress","rawInput":{"path":"b"}}
			{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"so"}}`,
			"start edit \"Edit b\" 1 paths\nfailed edit \"Edit b\" 1 paths error=\"" + unreported + "\" wrote b\nthinking so\nThinkingEnd"},
		{"files that an edit names only after its end", `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","status":"in_progress","rawInput":{"path":"b"}}
			{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so"}}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[{"type":"diff","path":"/w/b","newText":"x"},{"type":"diff","path":"/w/c","newText":"x"}]}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`,
			"start edit \"Edit b\" 1 paths\nfailed edit \"Edit b\" 1 paths error=\"" + unreported +
				"\" wrote b\ntext so\nstart edit \"Edit c\" 1 paths\ncompleted edit \"Edit c\" 1 paths wrote c"},
		{"an edit whose file is not named before words", `{"sessionUpdate":"tool_call","toolCallId":"1","title":"Edit File","kind":"edit","status":"pending","rawInput":{}}
			{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so"}}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","content":[{"type":"diff","path":"/w/b","newText":"x"}]}`,
			"text so\nstart edit \"Edit b\" 1 paths\ncompleted edit \"Edit b\" 1 paths wrote b"},
		{"edits that name no file", `{"sessionUpdate":"tool_call","toolCallId":"1","title":"Edit File","kind":"edit","status":"in_progress","rawInput":{"old":"a"}}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}
			{"sessionUpdate":"tool_call","toolCallId":"2","title":"Delete File","kind":"delete","status":"in_progress"}`,
			"completed other \"Edit something\"\nfailed other \"Delete File\" error=\"" + noEnd + "\""},
		{"calls without ids", `{"sessionUpdate":"tool_call","title":"Edit File","kind":"edit","status":"in_progress","rawInput":{"path":"b"}}
			{"sessionUpdate":"tool_call_update","toolCallId":null,"status":"completed"}
			{"sessionUpdate":"tool_call","toolCallId":"","kind":"execute","status":"in_progress","rawInput":{"command":"a"}}
			{"sessionUpdate":"tool_call_update","status":"completed","rawOutput":{"exitCode":0}}`,
			"start edit \"Edit b\" 1 paths\ncompleted edit \"Edit b\" 1 paths wrote b\nstart shell \"a\"\ncompleted shell \"a\" exit=0"},
		{"words that may be those of a task", `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","status":"in_progress","rawInput":{"path":"b"}}
			{"sessionUpdate":"tool_call","toolCallId":"2","title":"Task","status":"in_progress","rawInput":{"description":"look"}}
			{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so"}}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`,
			"start edit \"Edit b\" 1 paths\nstart task \"Task look\"\ntext so\ncompleted edit \"Edit b\" 1 paths wrote b"},
		{"an error that is no word of the model", `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","status":"in_progress","rawInput":{"path":"b"}}
			{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"RetriableError: x"}}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`,
			"start edit \"Edit b\" 1 paths\nfailure RetriableError: x\ncompleted edit \"Edit b\" 1 paths wrote b"},
		{"a reused id", `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","status":"in_progress","rawInput":{"command":"a"}}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","rawOutput":{"exitCode":0}}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","rawOutput":{"exitCode":0}}
			{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","status":"in_progress","rawInput":{"command":"b"}}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"failed"}`,
			"start shell \"a\"\ncompleted shell \"a\" exit=0\nstart shell \"b\"\nfailed shell \"b\" error=\"the agent gave no reason\""},
		{"a command that is only announced", `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","status":"pending","rawInput":{"command":"a"}}`, `start shell "a"`},
		{"a command of which nothing more comes", `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","status":"pending","title":"Terminal"}`,
			`rejected shell "Terminal" error="` + neverRan + `"`},
		{"a command whose start nobody said", `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","status":"completed","rawInput":{"command":"a"},"rawOutput":{"exitCode":1}}`,
			`failed shell "a" exit=1 error="exit code 1"`},
		{"a tool of no kind", `{"sessionUpdate":"tool_call","toolCallId":"1","title":"MCP: tickets-list","kind":"other","status":"in_progress","rawInput":{"name":"tickets-list"}}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`, "start mcp \"tickets-list\"\ncompleted mcp \"tickets-list\""},
		{"a title that says less than the kind", `{"sessionUpdate":"tool_call","toolCallId":"1","title":"Read File","kind":"execute","status":"in_progress"}
			{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`, "start shell \"Read File\"\ncompleted shell \"Read File\""},
		{"a plan, twice the same", `{"sessionUpdate":"plan","entries":[{"content":"a","status":"in_progress","priority":"high"}]}
			{"sessionUpdate":"plan","entries":[{"content":"a","status":"in_progress","priority":"high"}]}`,
			"start todo \"Update todos\" [in_progress a]\ncompleted todo \"Update todos\" [in_progress a]"},
		{"a plan that is taken away", `{"sessionUpdate":"plan","entries":[{"content":"a","status":"pending"}]}
			{"sessionUpdate":"plan","entries":[]}`,
			"start todo \"Update todos\" [pending a]\ncompleted todo \"Update todos\" [pending a]\nstart todo \"Update todos\"\ncompleted todo \"Update todos\""},
		{"an error as text", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Error: RetriableError: [unavailable] x"}}`,
			"failure Error: RetriableError: [unavailable] x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var lines []string
			for _, ev := range decode(test.updates) {
				lines = append(lines, transcribe(ev))
			}
			require.Equal(t, test.want, transcript(lines))
		})
	}
}

// FuzzUpdates: no updates break the decoder, and what it starts and ends stays in pairs.
func FuzzUpdates(f *testing.F) {
	f.Add(`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","rawInput":{"path":"b"}}` + "\n" + `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`)
	f.Add(`{"sessionUpdate":"plan","entries":[{"content":"a"}]}` + "\n" + `{"sessionUpdate":"agent_message_chunk","content":{"text":"\ud83d"}}`)
	f.Add(`{"sessionUpdate":"tool_call","toolCallId":"1","title":"` + "`ls`" + `","kind":"execute"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var valid []string
		for line := range strings.Lines(text) {
			if m, ok := parse([]byte(line)); ok && m.method == "" {
				valid = append(valid, strings.TrimSpace(line))
			}
		}
		open := map[string]int{}
		for _, ev := range decode(strings.Join(valid, "\n")) {
			switch ev := ev.(type) {
			case agent.ToolStart:
				open[ev.Call.ID]++
				require.LessOrEqual(t, open[ev.Call.ID], 1, "%q begins twice", ev.Call.ID)
			case agent.ToolEnd:
				open[ev.Call.ID] = 0
			}
		}
	})
}

// TestParse takes one object a line, and nothing else.
func TestParse(t *testing.T) {
	for _, line := range []string{"", "x", "{", "[]", `{"a":1} {"b":2}`, `{"a":}`, `"x"`} {
		_, ok := parse([]byte(line))
		require.False(t, ok, line)
	}
	m, ok := parse([]byte(` {"jsonrpc":"2.0","id":"x","method":"m","params":{"a":1}} ` + "\r\n"))
	require.True(t, ok)
	require.Equal(t, "m", m.method)
	require.Equal(t, `"x"`, string(m.id))
}

// TestElsewhere: a call's arguments may have its command run in another folder.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		``: "", `{}`: "", `{"command":"x","workingDirectory":""}`: "", `{"cwd":"/w"}`: "", `{"cwd":"/w/"}`: "", `{"cwd":"."}`: "", `{"cwd":7}`: "", `{"cwd":"/w/x/.."}`: "",
		`{"cwd":"/other"}`: "/other", `{"workingDirectory":"","cwd":"/other"}`: "/other", `{"working_directory":"sub"}`: "/w/sub", `{"cwd":".."}`: "/", `{"workingDirectory":"/w/../x"}`: "/w/../x",
	} {
		require.Equal(t, want, elsewhere(jsontext.Value(args), "/w"), args)
	}
}

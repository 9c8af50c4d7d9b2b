package agent

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cursord/agent/plaintext"
)

// FuzzDecode reads any bytes as a stream. Nothing may panic; the decoder's text is the text events without the withdrawn
// ones; every raw part is JSON; events do not alias lines; and the memory of the line before changes no event.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]},"timestamp_ms":1}` + "\n" +
			`{"type":"retry","subtype":"starting","is_resume":false}` + "\n" +
			`{"type":"assistant","message":{"content":"a"},"model_call_id":"m"}` + "\n" + `{"type":"result","result":"a"}`,
		`{"type":"tool_call","subtype":"completed","call_id":"a\nb","tool_call":{"x":1,"editToolCall":{"args":{"path":"p\u00e9\ud83d\ude00"},"result":{"success":{"beforeFullFileContent":"1"}}}}}`,
		`{"type":"tool-call-started","tool_name":"Shell","parameters":{"command":"x"}}{"type":"tool-call-completed","tool_name":"Shell","result":{"success":false,"exit_code":"3"}}`,
		`{"type":"tool_call","subtype":"completed","tool_call":{"taskToolCall":{"result":{"success":{"conversationSteps":[{"toolCall":{"deleteToolCall":{"args":{"path":"d"},"result":{"success":{}}}}}]}}}}}`,
		`{"type":"assistant","payload":{"message":{"content":[{"type":"tool_use","id":7,"name":"LS","input":[]},{"type":"thinking","text":"\u0000"}]}}}`,
		deltas(`{"type":"assistant","message":{"content":[{"type":"text","text":"`, "a", `"}]},"timestamp_ms":`, "1", `}`) +
			deltas(`{"timestamp_ms":7,"type":"assistant","message":{"content":["`, "a", `"]},"timestamp_ms":`, "1", `,"x":"text"}`),
		deltas(`{"type":"assistant","message":{"content":[{"text":"one"},{"type":"text","text":"`, "a", `"}]},"timestamp_ms":`, "1", `}`),
		deltas(`{"type":"assistant","model_call_id":"m","message":{"content":[{"type":"text","text":"`, "a", `"}]},"timestamp_ms":`, "1", `}`),
		"stdout: {\"type\":\"thinking\",\"text\":\"\xff\"} trailing\n\"\n{\n[{}]\nnull", `{"":{"":[]},"\u0074ype":"error","message":{"error":{"message":"x"}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		d, slow := NewDecoder(), NewDecoder()
		said, mark, open := "", 0, map[string]bool{}
		for line := range bytes.Lines(stream) {
			line = bytes.Clone(line)
			events := d.Line(line)
			slow.last = pattern{}
			require.Equal(t, slow.Line(line), events)
			clear(line)
			for _, ev := range events {
				switch ev := ev.(type) {
				case Text:
					require.True(t, utf8.ValidString(ev.Text))
					said += ev.Text
				case TextEnd:
					mark = len(said)
				case Withdraw:
					said = said[:mark]
				case ToolStart:
					mark, open[ev.Call.ID] = len(said), true
					checkCall(t, ev.Call)
				case ToolEnd:
					if !open[ev.Call.ID] {
						mark = len(said)
					}
					delete(open, ev.Call.ID)
					checkCall(t, ev.Call)
					require.NotEmpty(t, ev.State)
				case Unknown:
					require.True(t, json.Valid(ev.Raw))
				}
			}
			require.Equal(t, said, d.Text())
		}
	})
}

// deltas returns nearly equal lines.
func deltas(head, text, between, time, tail string) string {
	lines := ""
	for _, text := range []string{text, text + "b", `\n\u00e9\"`, `x\ud83d`, `\ude00y`, `\ud83d`, "\xff", "", "a\tb", `\x`, text + `"}]},"text":"`, text} {
		lines += head + text + between + time + tail + "\n"
	}
	for _, time := range []string{time, "23", "0", "07", "-1", "1.5", "1e3", "", `"1"`, "null", "1}" + head + text + between + "2"} {
		lines += head + text + between + time + tail + "\n"
	}
	return lines + head + text + between + time + tail + tail + "\n" + head + text + between + time + "\n"
}

func checkCall(t *testing.T, c Call) {
	require.NotEmpty(t, c.ID)
	require.NotEmpty(t, c.RawName)
	require.NotEmpty(t, c.Title)
	require.LessOrEqual(t, utf8.RuneCountInString(c.Title), plaintext.MaxTitle)
	require.NotContains(t, c.Title, "\n")
	for _, raw := range []json.RawMessage{c.Args, c.Result} {
		require.True(t, raw == nil || json.Valid(raw) && raw[0] == '{', string(raw))
	}
}

package updates

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestSettled: a call waits for a person before it begins. One that was not allowed has failed at once, and the client gets the agent's words
// once the agent has ended it.
func TestSettled(t *testing.T) {
	for allowed, want := range map[bool][]string{
		true:  {"tool_call pending", "tool_call_update in_progress", "tool_call_update completed"},
		false: {"tool_call pending", "tool_call_update failed", "tool_call_update failed"},
	} {
		s, all := listening()
		call := sessions.Item{ID: "t:0", TurnID: "t", Kind: sessions.ItemTool, Status: sessions.ItemRunning, Seq: 1, Waits: true, Tool: &sessions.Tool{CallID: "c", Name: "shell", Title: "make"}}
		takes := func(status sessions.ItemStatus, words string) {
			now, tool := call, *call.Tool
			call.Seq++
			now.Seq, now.Status, now.Waits, now.Tool = call.Seq, status, words == "", &tool
			tool.Error = words
			s.Item(&now, false)
		}
		s.Settled("t:0", allowed, "No.")
		require.Empty(t, *all, "it is not known yet")
		takes(sessions.ItemRunning, "")
		for range 2 {
			s.Settled("t:0", allowed, "No.")
		}
		end := sessions.ItemCompleted
		if !allowed {
			takes(sessions.ItemRunning, "")
			end = sessions.ItemRejected
		}
		for range 2 {
			takes(end, "the agent's words")
		}
		var statuses []string
		for _, one := range *all {
			statuses = append(statuses, one.Update+" "+one.Status)
		}
		require.Equal(t, want, statuses)
		require.Contains(t, string((*all)[2].Content), "the agent's words")
	}
}

// TestVisible: strings show what a terminal would take for its own, and the rest stays byte for byte.
func TestVisible(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a": 1.0, "b" : "x\n\ty\r\nz\u00e9"}`:             `{"a": 1.0, "b" : "x\n\ty\r\nz\u00e9"}`,
		`{"command":"a\u001b[31m\"b\\","k\u0007":["\r",2]}`: `{"command":"a␛[31m\"b\\","k␇":["␍",2]}`,
		`{"a":"` + "\u202e" + `"}`:                          `{"a":"<U+202E>"}`,
		`{"a":"\ud800"}`:                                    `{"a":"\ud800"}`,
	} {
		require.Equal(t, want, string(visible(json.RawMessage(raw))))
	}
}

// TestTitled: a title that ends with the first line of a command has the others, too.
func TestTitled(t *testing.T) {
	require.Equal(t, "ls ⏎ rm -rf x", Titled("ls …", "ls\nrm -rf x\n"))
	require.Equal(t, "ls", Titled("ls", "ls\n"))
	require.Equal(t, "List and remove", Titled("List and remove", "ls\nrm -rf x"))
}

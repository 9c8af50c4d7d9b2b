//go:build unix

package acp

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/agent/jsontext"
)

// TestTextsBesideACommand: a rule may answer if the texts say only that the agent's list of allowed commands lacks the command, as cursor-agent does.
func TestTextsBesideACommand(t *testing.T) {
	t.Parallel()
	const command = "ls -la farm|head -50"
	for text, whole := range map[string]bool{
		"":                           true,
		command:                      true,
		"`" + command + "`":          true,
		"Not in allowlist":           true,
		"Not in allowlist: head -50": true,
		"Not in allowlist: ls, head": true,
		"Not in allowlist: rm":       false,
		"Not in allowlist: ls\nrm x": false,
		"Not in allowlist. rm x":     false,
		"rm x":                       false,
		"ls":                         false,
	} {
		for _, asked := range []string{`"rawInput":{"command":"` + command + `"}`, "\"title\":\"`" + command + "`\""} {
			content := `"content":[{"type":"content","content":{"type":"text","text":` + string(jsontext.Quote(text)) + `}}]`
			c := newTalk(t, "/w")
			c.says(asksFor("1", `{"toolCallId":"1","kind":"execute",`+asked+`,`+content+`}`))
			c.says(updates(`{"sessionUpdate":"tool_call","toolCallId":"2","kind":"execute",` + content + `}`)) // announced, and asked for without it
			c.says(asksFor("2", `{"toolCallId":"2",`+asked+`}`))
			require.Len(t, c.asked(), 2)
			for _, r := range c.asked() {
				require.Equal(t, command, r.Command)
				require.Equal(t, text, r.Detail)
				require.Equal(t, whole, r.Whole, "%q %s", text, asked)
			}
		}
	}
	c := newTalk(t, "/w")
	c.says(asksFor("1", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"ls"},"content":[{"type":"content","content":{"type":"image","data":""}}]}`))
	require.False(t, c.asked()[0].Whole)
}

// TestTextsThatChangeWhileAPersonIsAsked: a yes to what the person has read would be one to something else.
func TestTextsThatChangeWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	for later, taken := range map[string]bool{"only prints": false, "and runs in /": true, "Not in allowlist: ls": true} {
		content := func(text string) string {
			return `"content":[{"type":"content","content":{"type":"text","text":"` + text + `"}}]`
		}
		c := newTalk(t, "/w")
		c.says(asksFor("1", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"ls"},`+content("only prints")+`}`))
		c.says(updates(`{"sessionUpdate":"tool_call_update","toolCallId":"1",` + content(later) + `}`))
		withdrawn := slices.ContainsFunc(c.events, func(ev agent.Event) bool { _, is := ev.(agent.ApprovalWithdrawn); return is })
		require.Equal(t, taken, withdrawn, later)
	}
	c := newTalk(t, "/w")
	c.says(asksFor("1", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"ls"}}`))
	c.says(updates(`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[{"type":"content","content":{"type":"text","text":"Not in allowlist: ls"}}]}`))
	require.False(t, slices.ContainsFunc(c.events, func(ev agent.Event) bool { _, is := ev.(agent.ApprovalWithdrawn); return is }), "that says no more than the command")
}

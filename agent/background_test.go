package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	shellStarts = `{"type":"tool_call","subtype":"started","call_id":"a","tool_call":{"shellToolCall":{"args":{"command":"npm run dev"}}}}` + "\n"
	shellLeft   = `{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"shellToolCall":{"args":{"command":"npm run dev"},"result":{"success":{"shellId":"7","pid":4711},"isBackground":true}}}}` + "\n"
	otherLeft   = `{"type":"tool_call","subtype":"completed","call_id":"b","tool_call":{"shellToolCall":{"args":{"command":"sleep 3000"},"result":{"isBackground":true,"success":{"shellId":8}}}}}` + "\n"
	taskLeft    = `{"type":"tool_call","subtype":"completed","call_id":"t","tool_call":{"taskToolCall":{"args":{"description":"Tidy"},"result":{"success":{"agentId":"g-1","isBackground":true}}}}}` + "\n"
	piece       = `{"type":"assistant","message":{"content":[{"type":"text","text":"It runs."}]},"timestamp_ms":1}` + "\n"
	flushed     = `{"type":"assistant","message":{"content":[{"type":"text","text":"It runs."}]},"timestamp_ms":1,"model_call_id":"m"}` + "\n"
	lastWord    = `{"type":"assistant","message":{"content":[{"type":"text","text":"It runs."}]}}` + "\n"
)

// TestWaiting: at the end of each stream, the decoder knows the commands in the background for which the agent waits, and
// the agent's stage.
func TestWaiting(t *testing.T) {
	notified := func(members string) string {
		return `{"type":"system","subtype":"task_notification",` + members + `"session_id":"s"}` + "\n"
	}
	tests := []struct {
		name, stream, want string
		stage              stage
	}{
		{"partial output", shellStarts + shellLeft + piece + lastWord, "npm run dev", leftAlone},
		{"no partial output", shellStarts + shellLeft + lastWord, "npm run dev", leftAlone},
		{"two of them", shellLeft + otherLeft + lastWord, "npm run dev; sleep 3000", leftAlone},
		{"nothing in the background", strings.Replace(shellLeft, "true", "false", 1) + piece + lastWord, "", atWork},
		{"no last word yet", shellLeft, "", atWork},
		{"a piece is not the last word", shellLeft + piece, "", atWork},
		{"nor is the message in front of calls", shellLeft + flushed, "", atWork},
		{"nor one with a call in it", shellLeft + `{"type":"assistant","message":{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"z","name":"LS","input":{}}]}}`, "", inCall},
		{"a call is open", shellLeft + strings.ReplaceAll(shellStarts, `"a"`, `"c"`) + lastWord, "", inCall},
		{"the open call ends after the last word", shellLeft + strings.ReplaceAll(shellStarts, `"a"`, `"c"`) + lastWord +
			`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{"result":{"success":{}}}}}`, "", atWork},
		{"a call begins after it", shellLeft + lastWord + strings.ReplaceAll(shellStarts, `"a"`, `"c"`), "", inCall},
		{"text goes on", shellLeft + lastWord + piece, "", atWork},
		{"text goes on as it came before", shellLeft + piece + piece + lastWord + piece, "", atWork},
		{"reasoning goes on", shellLeft + lastWord + `{"type":"thinking","subtype":"delta","text":"hm"}`, "", atWork},
		{"a prompt comes", shellLeft + lastWord + `{"type":"user","message":{"content":"x"}}`, "", atWork},
		{"what is no work comes", shellLeft + lastWord + `{"type":"connection","subtype":"reconnected"}`, "npm run dev", leftAlone},
		{"a sub-agent is at work", shellLeft + taskLeft + lastWord, "", inCall},
		{"refused in the background", strings.Replace(shellLeft, "success", "rejected", 1) + lastWord, "", atWork},
		{"in the background by the arguments alone", `{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"shellToolCall":{"args":{"command":"x","isBackground":true},"result":{"success":{}}}}}` + "\n" + lastWord, "x", leftAlone},
		{"meant for it, and ended", `{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"shellToolCall":{"args":{"command":"x","isBackground":true},"result":{"isBackground":false,"success":{}}}}}` + "\n" + lastWord, "", atWork},
		{"a notification", shellLeft + lastWord + notified(""), "", atWork},
		{"and the last word after it", shellLeft + lastWord + notified("") + lastWord, "npm run dev", leftAlone},
		{"its end told by the shell's id", shellLeft + otherLeft + lastWord + notified(`"task_id":"7","status":"completed",`) + lastWord, "sleep 3000", leftAlone},
		{"its end told by a number", shellLeft + otherLeft + lastWord + notified(`"shellId":8,"exit_code":1,`) + lastWord, "npm run dev", leftAlone},
		{"its end told by the call's id, further in", shellLeft + lastWord + notified(`"task":{"toolCallId":"a","status":"failed"},`) + lastWord, "", atWork},
		{"told of without an end", shellLeft + lastWord + notified(`"task_id":"7","status":"running",`) + lastWord, "npm run dev", leftAlone},
		{"the end of a task that nobody has started", shellLeft + lastWord + notified(`"task_id":"99","status":"completed",`) + lastWord, "npm run dev", leftAlone},
		{"the end of a sub-agent", shellLeft + taskLeft + lastWord + notified(`"agentId":"g-1","status":"completed",`) + lastWord, "npm run dev", leftAlone},
		{"awaited to its end", shellLeft + `{"type":"tool_call","subtype":"completed","call_id":"w","tool_call":{"awaitToolCall":{"args":{"taskId":"7"},"result":{"complete":{}}}}}` + "\n" + lastWord, "", atWork},
		{"awaited in vain", shellLeft + `{"type":"tool_call","subtype":"completed","call_id":"w","tool_call":{"awaitToolCall":{"args":{"taskId":"7"},"result":{"stillRunning":{}}}}}` + "\n" + lastWord, "npm run dev", leftAlone},
		{"ended by another end of its call", shellLeft + lastWord + strings.Replace(shellLeft, "true", "false", 1), "", atWork},
		{"ended by the agent", shellLeft + lastWord + `{"type":"system","subtype":"background_shell_timeout","timeout_ms":30000,"aborted_count":1}`, "", leftAlone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, d := transcript(tt.stream)
			require.Equal(t, tt.want, strings.Join(d.waiting, "; "))
			require.Equal(t, tt.stage, d.stage())
			last := ""
			for _, line := range got {
				if rest, is := strings.CutPrefix(line, "waiting"); is {
					last = strings.TrimSpace(rest)
				}
			}
			require.Equal(t, tt.want, last, "it is told")
		})
	}
}

// TestNotifications shows people the members of a notification. No public source documents them, so any are used.
func TestNotifications(t *testing.T) {
	const in = `{"type":"system","subtype":"task_notification","session_id":"s"`
	for name, tt := range map[string][2]string{
		"in words":           {in + `,"task_id":"7","status":"completed","summary":"Background command \"npm test\" completed (exit code 0)"}`, `Background command "npm test" completed (exit code 0)`},
		"words without how":  {in + `,"message":"npm test","status":"failed","exitCode":2}`, `npm test (failed, exit code 2)`},
		"inside of a member": {in + `,"task":{"description":"npm test","status":"completed"}}`, `npm test (completed)`},
		"as a message":       {in + `,"message":{"role":"user","content":[{"type":"text","text":"It printed ready"}]}}`, `It printed ready`},
		"members alone":      {in + `,"shell":7,"matched":"ready","uuid":"u"}`, `shell 7, matched ready`},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, lastWord+tt[0], "text \"It runs.\"\nend of text\nnotice "+quote("From the background: "+tt[1]))
		})
	}
	check(t, shellLeft+otherLeft+piece+lastWord+`{"type":"system","subtype":"background_shell_timeout","timeout_ms":30000,"aborted_count":2}`+"\n"+
		`{"type":"result","subtype":"success","result":"It runs."}`, `
		completed a shell/shell "npm run dev" in the background
		completed b shell/shell "sleep 3000" in the background
		text "It runs."
		end of text
		waiting npm run dev; sleep 3000
		ended in the background a b
		notice "The agent has ended 2 background commands that still ran 30s after it had finished: npm run dev; sleep 3000. The setting background = \"wait\" has turns wait for such commands."
		waiting
		result ok text="It runs."`)
}

// TestAbortedCount: the notice claims no more ended commands than the agent reports.
func TestAbortedCount(t *testing.T) {
	for count, want := range map[string]string{
		`,"aborted_count":1`: "The agent has ended 1 background command, of these: npm run dev; sleep 3000.",
		`,"aborted_count":0`: "The agent has ended 0 background commands.",
		"":                   "The agent has ended what it had in the background: npm run dev; sleep 3000.",
	} {
		got, _ := transcript(shellLeft + otherLeft + lastWord + `{"type":"system","subtype":"background_shell_timeout"` + count + "}\n")
		require.Contains(t, strings.Join(got, "\n"), "notice "+strings.TrimSuffix(quote(want+hintWait), `"`), count)
	}
}

// TestTextBehindANotification: the model takes a second turn in one run. Its text is an item of its own, with partial output
// and without, even if it repeats the first text.
func TestTextBehindANotification(t *testing.T) {
	notified := `{"type":"system","subtype":"task_notification","summary":"done"}` + "\n"
	for name, says := range map[string]string{"partial output": piece + lastWord, "no partial output": lastWord} {
		t.Run(name, func(t *testing.T) {
			got, d := transcript(says + notified + says)
			require.Equal(t, "It runs.It runs.", d.Text())
			i := 0
			for ; !strings.HasPrefix(got[i], "notice"); i++ {
			}
			require.Equal(t, []string{`text "It runs."`}, got[:1])
			require.Equal(t, "end of text", got[i-1])
			require.Equal(t, `text "It runs."`, got[i+1])
		})
	}
}

// TestBackgroundIsBounded: an agent leaves many commands, some of them very long.
func TestBackgroundIsBounded(t *testing.T) {
	d := NewDecoder()
	for i := range 2 * maxBehind {
		line := strings.Replace(shellLeft, `"call_id":"a"`, `"call_id":"`+strings.Repeat("x", i)+`"`, 1)
		d.Line([]byte(strings.Replace(line, "npm run dev", strings.Repeat("y", maxCommand+i), 1)))
	}
	d.Line([]byte(lastWord))
	require.Len(t, d.waiting, maxBehind)
	require.Len(t, d.waiting[maxBehind-1], maxCommand)
}

package acp

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/editors/acp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

func approvalOf(kind, status string, options []obj, more obj) obj {
	a := obj{
		"id": "a-t", "workspace": "/ws", "sessionId": "s", "turnId": "t", "kind": kind, "title": "Run a command", "options": options, "text": false,
		"status": status, "createdAt": "2026-01-02T03:04:05.000Z", "seq": 9,
	}
	for name, value := range more {
		a[name] = value
	}
	return obj{"workspace": "/ws", "seq": 9, "approval": a}
}

var permission = []obj{
	{"id": "once", "label": "Run", "kind": "allowOnce"}, {"id": "cursord:folder", "label": "Always here", "kind": "allowAlways"},
	{"id": "later", "label": "?", "kind": "somethingNew"}, {"id": "no", "label": "Do not", "kind": "rejectOnce"},
}

var answers = []obj{{"id": "red", "label": "Red", "kind": "answer"}, {"id": "blue", "label": "Blue", "kind": "answer"}}

// TestApprovals: what the agent asks is put to the editor's person, whose answer goes to the daemon. Nothing but a yes is one.
func TestApprovals(t *testing.T) {
	for name, one := range map[string]struct {
		kind    string
		options []obj
		more    obj
		says    string
		want    string // the daemon gets; "": nothing
	}{
		"yes":                   {"permission", permission, nil, `"result":{"outcome":{"outcome":"selected","optionId":"once"}}`, `{"approvalId":"a-t","optionId":"once"}`},
		"always":                {"permission", permission, nil, `"result":{"outcome":{"outcome":"selected","optionId":"cursord:folder"}}`, `{"approvalId":"a-t","optionId":"cursord:folder"}`},
		"no":                    {"permission", permission, nil, `"result":{"outcome":{"outcome":"selected","optionId":"no"}}`, `{"approvalId":"a-t","optionId":"no"}`},
		"closed":                {"permission", permission, nil, `"result":{"outcome":{"outcome":"cancelled"}}`, `{"approvalId":"a-t","optionId":"no"}`},
		"without an option":     {"permission", permission, nil, `"result":{"outcome":{"outcome":"selected"}}`, `{"approvalId":"a-t","optionId":"no"}`},
		"an option that is not": {"permission", permission, nil, `"result":{"outcome":{"outcome":"selected","optionId":"yes"}}`, `{"approvalId":"a-t","optionId":"no"}`},
		"a member's other name": {"permission", permission, nil, `"result":{"outcome":{"outcome":"selected","OptionId":"once"}}`, `{"approvalId":"a-t","optionId":"no"}`},
		"two members":           {"permission", permission, nil, `"result":{"outcome":{"outcome":"selected","optionId":"no","OPTIONID":"once"}}`, `{"approvalId":"a-t","optionId":"no"}`},
		"an answer's OUTCOME":   {"permission", permission, nil, `"result":{"OUTCOME":{"outcome":"selected","optionId":"once"}}`, `{"approvalId":"a-t","optionId":"no"}`},
		"an array":              {"permission", permission, nil, `"result":[]`, `{"approvalId":"a-t","optionId":"no"}`},
		"cannot ask":            {"permission", permission, nil, `"error":{"code":-32601,"message":"no"}`, ""},
		"a question":            {"question", answers, nil, `"result":{"outcome":{"outcome":"selected","optionId":"blue"}}`, `{"approvalId":"a-t","optionId":"blue"}`},
		"no answer":             {"question", answers, obj{"text": true}, `"result":{"outcome":{"outcome":"selected","optionId":"cursord:no-answer"}}`, `{"approvalId":"a-t","optionId":"cursord:none"}`},
		"a question closed":     {"question", answers, nil, `"result":{"outcome":{"outcome":"cancelled"}}`, `{"approvalId":"a-t","optionId":"cursord:none"}`},
		"another answer":        {"question", answers, nil, `"result":{"outcome":{"outcome":"selected","optionId":"green"}}`, `{"approvalId":"a-t","optionId":"cursord:none"}`},
	} {
		t.Run(name, func(t *testing.T) {
			e := edits(t)
			e.turns("t", "running", 8, nil)
			e.notifies("approval/changed", approvalOf(one.kind, "pending", one.options, one.more))
			m := e.asked("session/request_permission")
			require.Contains(t, string(m.Params), `"kind":"reject_once"`)
			require.NotContains(t, string(m.Params), "later", "what is not known is not offered")
			e.notifies("approval/changed", approvalOf(one.kind, "pending", one.options, one.more)) // it comes again
			e.answers(m, one.says)
			if one.want != "" {
				require.JSONEq(t, one.want, e.called("approval/answer"))
			}
			e.sends(`{"jsonrpc":"2.0","id":3,"method":"session/close","params":{"sessionId":"s"}}`)
			e.hears("its end", func(m rpc.Message) bool {
				require.NotEqual(t, "session/request_permission", m.Method, "a question is put once")
				return string(m.ID) == "3"
			})
			if one.want == "" {
				e.sends(`{"jsonrpc":"2.0","id":4,"method":"session/list","params":{}}`)
				for m := range e.calls {
					require.NotEqual(t, "approval/answer", m.Method)
					if m.Method == "session/list" {
						break
					}
				}
			}
		})
	}
}

// TestNoPolicyAnswersAQuestion: an editor that decides by itself, without a person who has read the question, gave the first answer.
func TestNoPolicyAnswersAQuestion(t *testing.T) {
	first := func(options []protocol.PermissionOption, kinds ...string) string {
		for _, kind := range kinds {
			for _, o := range options {
				if o.Kind == kind {
					return o.OptionID
				}
			}
		}
		return ""
	}
	for name, policy := range map[string]func([]protocol.PermissionOption) string{
		"allow":        func(o []protocol.PermissionOption) string { return first(o, "allow_once", "allow_always") },
		"allow always": func(o []protocol.PermissionOption) string { return first(o, "allow_always", "allow_once") },
		"allow or first": func(o []protocol.PermissionOption) string {
			return cmp.Or(first(o, "allow_once", "allow_always"), o[0].OptionID)
		},
		"reject": func(o []protocol.PermissionOption) string { return first(o, "reject_once", "reject_always") },
	} {
		chosen := policy(permissionOptions(&sessions.Approval{Kind: sessions.ApprovalQuestion, Options: []sessions.ApprovalOption{
			{ID: "red", Label: "Red", Kind: sessions.AnswerOption}, {ID: "blue", Label: "Blue", Kind: sessions.AnswerOption},
		}}))
		require.Contains(t, []string{"", noAnswer}, chosen, name)
	}
}

// TestForms: an editor that has forms is asked questions by these, also for several answers and for words.
func TestForms(t *testing.T) {
	several, words, both := obj{"several": true, "text": true}, obj{"text": true}, obj{"text": true}
	for name, one := range map[string]struct {
		options []obj
		more    obj
		fields  string // of the form
		says    string
		want    string // the daemon gets; "": nothing
	}{
		"one":             {answers, nil, `"answer"`, `{"action":"accept","content":{"answer":"blue"}}`, `{"approvalId":"a-t","optionId":"blue"}`},
		"several":         {answers, several, `"array"`, `{"action":"accept","content":{"answer":["blue","red"]}}`, `{"approvalId":"a-t","optionId":"","text":"2, 1"}`},
		"none of several": {answers, several, `"array"`, `{"action":"accept","content":{"answer":[]}}`, `{"approvalId":"a-t","optionId":"cursord:none"}`},
		"words":           {[]obj{}, words, `"words"`, `{"action":"accept","content":{"words":" Ada "}}`, `{"approvalId":"a-t","optionId":"","text":"Ada"}`},
		"words instead":   {answers, both, `"words"`, `{"action":"accept","content":{"words":"Ada"}}`, `{"approvalId":"a-t","optionId":"","text":"Ada"}`},
		"words unasked":   {answers, nil, `"answer"`, `{"action":"accept","content":{"answer":"red","words":"Ada"}}`, `{"approvalId":"a-t","optionId":"red"}`},
		"declined":        {answers, nil, `"answer"`, `{"action":"decline","content":{"answer":"blue"}}`, `{"approvalId":"a-t","optionId":"cursord:none"}`},
		"closed":          {answers, nil, `"answer"`, `{"action":"cancel"}`, `{"approvalId":"a-t","optionId":"cursord:none"}`},
		"another answer":  {answers, nil, `"answer"`, `{"action":"accept","content":{"answer":"green"}}`, `{"approvalId":"a-t","optionId":"cursord:none"}`},
		"another action":  {answers, nil, `"answer"`, `{"ACTION":"accept","content":{"answer":"blue"}}`, `{"approvalId":"a-t","optionId":"cursord:none"}`},
		"cannot ask":      {answers, nil, `"answer"`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := editsWith(t, obj{"elicitation": obj{"form": obj{}}})
			e.turns("t", "running", 8, nil)
			e.notifies("approval/changed", approvalOf("question", "pending", one.options, one.more))
			m := e.asked("elicitation/create")
			require.Contains(t, string(m.Params), one.fields)
			if one.says == "" {
				e.answers(m, `"error":{"code":-32601,"message":"no"}`)
				e.hears("how to answer", func(m rpc.Message) bool { return strings.Contains(string(m.Params), "cursord approve a ANSWER") })
				return
			}
			e.answers(m, `"result":`+one.says)
			require.JSONEq(t, one.want, e.called("approval/answer"))
		})
	}
	e := editsWith(t, obj{"elicitation": obj{"form": obj{}}})
	e.turns("t", "running", 8, nil)
	e.notifies("approval/changed", approvalOf("permission", "pending", permission, nil))
	e.asked("session/request_permission")
}

// TestStrangeAnswersAreTold: an answer that was not offered was a no without a word, and an editor that cannot ask did not say how to answer.
func TestStrangeAnswersAreTold(t *testing.T) {
	for says, want := range map[string]string{
		`"error":{"code":-32601,"message":"no"}`:                        "`cursord approve a ANSWER` gives one, `cursord deny a` none",
		`"result":{"outcome":{"outcome":"selected","optionId":"zzz"}}`:  `not offered (\"zzz\"). It counts as a no.`,
		`"result":{"outcome":{"outcome":"perhaps"}}`:                    `not offered (\"perhaps\"). It counts as a no.`,
		`"result":{"outcome":{"outcome":"selected","OptionId":"once"}}`: `not offered (\"selected\"). It counts as a no.`,
		`"result":{"outcome":{"outcome":"cancelled"}}`:                  "",
		`"result":{"outcome":{"outcome":"selected","optionId":"once"}}`: "",
	} {
		e := edits(t)
		e.turns("t", "running", 8, nil)
		e.notifies("approval/changed", approvalOf("permission", "pending", permission, nil))
		e.answers(e.asked("session/request_permission"), says)
		e.sends(`{"jsonrpc":"2.0","id":3,"method":"session/close","params":{"sessionId":"s"}}`)
		var told []string
		e.hears("its end", func(m rpc.Message) bool {
			if strings.Contains(string(m.Params), "agent_message_chunk") {
				told = append(told, string(m.Params))
			}
			return string(m.ID) == "3"
		})
		if want == "" {
			require.Empty(t, told, says)
			continue
		}
		require.Len(t, told, 1, says)
		require.Contains(t, told[0], want)
	}
}

// TestApprovalEnds: a question that somebody else answers, or that is withdrawn, is withdrawn here; a late answer does nothing.
func TestApprovalEnds(t *testing.T) {
	for status, want := range map[string]string{"answered": "completed", "withdrawn": "failed", "expired": "failed"} {
		t.Run(status, func(t *testing.T) {
			e := edits(t)
			e.turns("t", "running", 8, nil)
			e.notifies("approval/changed", approvalOf("permission", "pending", permission, obj{"command": "rm \u202e-rf\n\x1b[2J"}))
			shown := e.hears("the call", func(m rpc.Message) bool {
				return m.Method == "session/update" && strings.Contains(string(m.Params), `"tool_call"`)
			})
			require.Contains(t, string(shown.Params), `rm <U+202E>-rf\n␛[2J`, "all of the command is to be seen")
			m := e.asked("session/request_permission")
			ended := obj{}
			if status == "answered" {
				ended["answer"] = obj{"optionId": "once"}
			}
			e.notifies("approval/changed", approvalOf("permission", status, permission, ended))
			withdrawn := e.asked("$/cancel_request")
			require.JSONEq(t, `{"requestId":`+string(m.ID)+`}`, string(withdrawn.Params))
			end := e.hears("the end of the call", func(m rpc.Message) bool { return m.Method == "session/update" })
			require.Contains(t, string(end.Params), `"status":"`+want+`"`)
			e.answers(m, `"result":{"outcome":{"outcome":"selected","optionId":"once"}}`)
			e.sends(`{"jsonrpc":"2.0","id":4,"method":"session/list","params":{}}`)
			for m := range e.calls {
				require.NotEqual(t, "approval/answer", m.Method)
				if m.Method == "session/list" {
					break
				}
			}
		})
	}
}

// TestKilledAgentsCallsAreOne: a call whose permission ended with the agent once became two, because its end came before that of the question.
func TestKilledAgentsCallsAreOne(t *testing.T) {
	const at = "2026-01-02T03:04:05.000Z"
	for name, first := range map[string]string{"the call's end first": "item", "the question's end first": "approval"} {
		t.Run(name, func(t *testing.T) {
			e := edits(t)
			turn := obj{
				"id": "t", "sessionId": "s", "workspace": "/ws", "prompt": "x", "model": nil, "mode": "agent", "status": "running", "force": false, "error": nil,
				"usage": nil, "createdAt": at, "startedAt": at, "seq": 8,
			}
			item := obj{
				"id": "t:0", "turnId": "t", "sessionId": "s", "workspace": "/ws", "index": 0, "kind": "tool", "status": "failed", "startedAt": at, "seq": 10,
				"tool": obj{"callId": "c", "name": "shell", "rawName": "shell", "title": "make", "paths": []string{}, "error": "the agent has ended"},
			}
			e.notifies("turn/changed", obj{"workspace": "/ws", "seq": 8, "turn": turn})
			e.notifies("approval/changed", approvalOf("permission", "pending", permission, obj{"turnId": "t", "callId": "c"}))
			e.asked("session/request_permission")
			ends := map[string]func(){
				"item": func() { e.notifies("item/changed", obj{"workspace": "/ws", "seq": 10, "item": item}) },
				"approval": func() {
					e.notifies("approval/changed", approvalOf("permission", "withdrawn", permission, obj{"turnId": "t", "callId": "c"}))
				},
			}
			ends[first]()
			delete(ends, first)
			for _, end := range ends {
				end()
			}
			turn["status"], turn["seq"] = "failed", 12
			e.notifies("turn/changed", obj{"workspace": "/ws", "seq": 12, "turn": turn})
			var told []string
			e.hears("the end", func(m rpc.Message) bool {
				if strings.Contains(string(m.Params), `"tool_call`) {
					told = append(told, string(m.Params))
				}
				return strings.Contains(string(m.Params), "t:end")
			})
			require.Len(t, told, 1, "%s", told)
			for _, part := range []string{`"tool_call_update"`, `"toolCallId":"a-t"`, `"status":"failed"`, "the agent has ended"} {
				require.Contains(t, told[0], part)
			}
		})
	}
}

// TestTwoQuestionsOfOneCall: the call becomes one of the two that are shown, and each of them ends. Once the first one stayed open.
func TestTwoQuestionsOfOneCall(t *testing.T) {
	e := edits(t)
	e.turns("t", "running", 8, nil)
	for _, id := range []string{"a-t", "b-t"} {
		e.notifies("approval/changed", approvalOf("permission", "pending", permission, obj{"id": id, "callId": "c0"}))
		e.asked("session/request_permission")
	}
	for _, id := range []string{"b-t", "a-t"} {
		e.notifies("approval/changed", approvalOf("permission", "answered", permission, obj{"id": id, "callId": "c0", "answer": obj{"optionId": "once"}}))
	}
	e.items("t", 0, 11, "")
	ends := map[string]string{}
	for len(ends) < 2 {
		m := e.hears("an end", func(m rpc.Message) bool { return strings.Contains(string(m.Params), `"status":"completed"`) })
		var u struct {
			Update struct{ ToolCallID, Title string }
		}
		require.NoError(t, json.Unmarshal(m.Params, &u))
		ends[u.Update.ToolCallID] = u.Update.Title
	}
	require.Equal(t, map[string]string{"a-t": "make", "b-t": ""}, ends)
}

// TestRemarksHaveIDsOfTheirOwn: each process once began with the same id, so two remarks of a session looked like one.
func TestRemarksHaveIDsOfTheirOwn(t *testing.T) {
	one, other := &Server{}, &Server{}
	require.NotEqual(t, one.remarkID(), other.remarkID())
	require.NotEqual(t, one.remarkID(), one.remarkID())
}

// TestApprovalsShowDiffs: what an edit would change is shown as a diff, not as Markdown.
func TestApprovalsShowDiffs(t *testing.T) {
	diff := "--- /dev/null\n+++ /ws/a\n+# new"
	about := aboutApproval(&sessions.Approval{Kind: sessions.ApprovalPermission, Detail: diff})
	require.Equal(t, []protocol.Content{protocol.TextContent("```diff\n" + diff + "\n```")}, about)
	about = aboutApproval(&sessions.Approval{Kind: sessions.ApprovalPermission, Detail: "<!-- rm -rf -->"})
	require.Equal(t, []protocol.Content{protocol.TextContent("```\n<!-- rm -rf -->\n```")}, about, "an editor would hide it")
	about = aboutApproval(&sessions.Approval{Kind: sessions.ApprovalPlan, Detail: diff})
	require.Equal(t, []protocol.Content{protocol.TextContent(diff)}, about, "a plan is Markdown")
}

// TestLongAnswersAreShownWhole: a button shows as much of an answer as it has room for, so the text has all answers.
func TestLongAnswersAreShownWhole(t *testing.T) {
	same := strings.Repeat("Do as you think is best ", 10)
	a := &sessions.Approval{Kind: sessions.ApprovalQuestion, Options: []sessions.ApprovalOption{
		{ID: "a", Label: same + "delete NOTHING", Kind: sessions.AnswerOption}, {ID: "b", Label: same + "\u202edelete EVERYTHING" + strings.Repeat("x", 200), Kind: sessions.AnswerOption},
	}}
	options := permissionOptions(a)
	require.Equal(t, "1: "+same+"delete NOTHING", options[1].Name, "behind No answer")
	require.Contains(t, options[2].Name, "2: "+same+"<U+202E>delete EVERYTHING")
	about := aboutApproval(a)
	require.Len(t, about, 2)
	text := about[1].(*protocol.Text).Content.Text
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len(line), 81, line)
	}
	joined := strings.Join(strings.Fields(text), " ")
	require.Contains(t, joined, "1: "+same+"delete NOTHING 2: "+same+"<U+202E>delete EVERYTHINGx")
	require.Equal(t, 200, strings.Count(text, "x"))
	a.Options = []sessions.ApprovalOption{{ID: "a", Label: "Red"}}
	require.Len(t, aboutApproval(a), 1)
}

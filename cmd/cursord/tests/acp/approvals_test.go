//go:build unix

package acp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestApprovals: an agent that asks, by the driver acp: the editor's person answers, and nothing runs without a yes.
func TestApprovals(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		answer any
		runs   bool
	}{
		"yes":    {selects("allow-once"), true},
		"no":     {selects("reject-once"), false},
		"closed": {world.Obj{"outcome": world.Obj{"outcome": "cancelled"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := asking(t, `{"fake":"shell","command":"echo ran >ran.txt","ask":true}`, `{"fake":"say","text":"Done."}`)
			c := opens(w, nil)
			c.answering(func(rpc.Message) any { return one.answer })
			s := c.session()
			mark := c.mark()
			id := c.asks(s, "Run it")
			m := c.hears("a question", mark, func(m rpc.Message) bool { return m.Method == "session/request_permission" })
			require.Contains(t, string(m.Params), "echo ran")
			require.Equal(t, "end_turn", c.stops(id))
			require.Equal(t, one.runs, w.Get("ran.txt") == "ran\n")
			calls := callsOf(c.updates(s, mark, id))
			require.Len(t, calls, 1, "the question and the call are one")
			require.Equal(t, "pending", calls[0].statuses[0])
			require.Equal(t, one.runs, slices.Contains(calls[0].statuses, "in_progress"), "only what was allowed runs")
			last := calls[0].statuses[len(calls[0].statuses)-1]
			require.Equal(t, map[bool]string{true: "completed", false: "failed"}[one.runs], last)
		})
	}
}

// TestQuestions: a question is answered, or not, and the prompt goes on in any case.
func TestQuestions(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		answer any
		says   string
		later  string // what a load says of it
	}{
		"an answer": {selects("a"), "a", "→ a"},
		"none":      {selects("cursord:no-answer"), "", "→ (no answer)"},
		"closed":    {world.Obj{"outcome": world.Obj{"outcome": "cancelled"}}, "", "→ (no answer)"},
		"unknown":   {selects("zzz"), "", "→ (no answer)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := asking(t, `{"fake":"question","text":"Which?","options":["a","b"]}`, `{"fake":"say","text":"Done."}`)
			c := opens(w, nil)
			c.answering(func(m rpc.Message) any {
				var p struct {
					Options []struct{ OptionID, Name string }
				}
				require.NoError(t, json.Unmarshal(m.Params, &p))
				for _, o := range p.Options {
					if o.Name == one.says {
						return selects(o.OptionID)
					}
				}
				return one.answer
			})
			s := c.session()
			all := c.goesThrough(s, "Ask")
			require.Contains(t, said(all, "agent_message_chunk"), "Done.")
			calls := callsOf(all)
			require.Len(t, calls, 1, "the question and its call are one")
			require.Equal(t, []string{"pending", "completed"}, calls[0].statuses)
			require.NotContains(t, w.CursordOK("approvals"), "Which?")
			again := opens(w, nil)
			again.loads(s)
			loaded := callsOf(again.updates(s, 0, ""))
			require.Len(t, loaded, 1)
			require.Equal(t, []string{"completed"}, loaded[0].statuses)
			require.Contains(t, fmt.Sprint(loaded[0].content), "Which?\n"+one.later)
		})
	}
}

// TestQuestionsInWords: an editor has no place for words in a permission, so the question says where they can be given.
func TestQuestionsInWords(t *testing.T) {
	t.Parallel()
	w := asking(t, `{"fake":"question","text":"Which name?","options":[]}`, `{"fake":"say","text":"Done."}`)
	c := opens(w, nil)
	c.answering(func(rpc.Message) any { return nil })
	id := c.asks(c.session(), "Ask")
	m := c.hears("a question", 0, func(m rpc.Message) bool { return m.Method == "session/request_permission" })
	how := regexp.MustCompile("Answer in a terminal: `cursord approve ([a-z0-9]+) --text").FindSubmatch(m.Params)
	require.Len(t, how, 2, "%s", m.Params)
	w.CursordOK("approve", string(how[1]), "--text", "Ada")
	require.Equal(t, "end_turn", c.stops(id))
}

// TestCommandsOfSeveralLines: a title that ended with the first line hid what the others do, and a terminal client printed the command's own
// control characters.
func TestCommandsOfSeveralLines(t *testing.T) {
	t.Parallel()
	w := asking(t, `{"fake":"shell","command":"ls\necho \u001b[31mx\tred >ran.txt","ask":true}`, `{"fake":"say","text":"Done."}`)
	c := opens(w, nil)
	c.answering(func(rpc.Message) any { return selects("reject-once") })
	s := c.session()
	calls := c.goesThrough(s, "Run it")
	var p struct{ ToolCall struct{ Title string } }
	m := c.hears("a question", 0, func(m rpc.Message) bool { return m.Method == "session/request_permission" })
	require.NoError(t, json.Unmarshal(m.Params, &p))
	require.Equal(t, "ls ⏎ echo ␛[31mx red >ran.txt", p.ToolCall.Title)
	require.Equal(t, p.ToolCall.Title, callsOf(calls)[0].title)
	for _, m := range c.all() {
		require.NotContains(t, strings.ToLower(string(m.Params)), `\u001b`)
	}
	require.True(t, has(c.hears("the call", 0, func(m rpc.Message) bool { return has(m, `"tool_call"`) }), `"rawInput":{"command":"ls\necho ␛[31mx\tred >ran.txt"}`))
}

// TestDeniedWithoutAQuestion: a call that nobody was asked about has failed at once, whenever the agent says that it has ended.
func TestDeniedWithoutAQuestion(t *testing.T) {
	t.Parallel()
	long := "echo ran >ran.txt; echo " + strings.Repeat("x", 70<<10)
	w := asking(t, `{"fake":"shell","command":"`+long+`","ask":true}`, `{"fake":"say","text":"Done."}`)
	c := opens(w, nil)
	calls := callsOf(c.goesThrough(c.session(), "Run it"))
	require.Len(t, calls, 1)
	require.Equal(t, []string{"pending", "failed"}, calls[0].statuses)
	require.Contains(t, fmt.Sprint(calls[0].content), "nobody was asked")
	require.Equal(t, "(absent)", w.Get("ran.txt"))
}

// TestPlans: a plan is one call, which is open until it is decided, and what was decided is in the transcript.
func TestPlans(t *testing.T) {
	t.Parallel()
	for option, want := range map[string]struct{ status, says string }{
		"accept": {"completed", "The plan was accepted."}, "reject": {"failed", "the plan was rejected"},
	} {
		t.Run(option, func(t *testing.T) {
			t.Parallel()
			w := asking(t, `{"fake":"plan","text":"1. do it"}`, `{"fake":"say","text":"Done."}`)
			c := opens(w, nil)
			c.answering(func(rpc.Message) any { return selects(option) })
			s := c.session()
			calls := callsOf(c.goesThrough(s, "Plan"))
			require.Len(t, calls, 1)
			require.Equal(t, []string{"pending", want.status}, calls[0].statuses)
			require.Regexp(t, `1\. do it(.|\n)*`+want.says, fmt.Sprint(calls[0].content))
			again := opens(w, nil)
			again.loads(s)
			loaded := callsOf(again.updates(s, 0, ""))
			require.Len(t, loaded, 1)
			require.Regexp(t, `1\. do it(.|\n)*`+want.says, fmt.Sprint(loaded[0].content))
		})
	}
}

// TestAcceptedPlanIsCarriedOut: the prompt is answered once the agent has carried the plan out. The turn ended with the plan.
func TestAcceptedPlanIsCarriedOut(t *testing.T) {
	t.Parallel()
	w := asking(t, `{"fake":"plan","text":"1. write f"}`)
	c := opens(w, nil)
	c.answering(func(rpc.Message) any {
		w.Plays(`{"fake":"edit","path":"f","text":"done\n"}`)
		return selects("accept")
	})
	s := c.session()
	c.must("session/set_mode", world.Obj{"sessionId": s, "modeId": "plan"}, nil)
	calls := callsOf(c.goesThrough(s, "Plan"))
	require.Len(t, calls, 2)
	require.Equal(t, []string{"pending", "completed"}, calls[0].statuses)
	require.Equal(t, "completed", calls[1].statuses[len(calls[1].statuses)-1])
	require.Contains(t, fmt.Sprint(calls[1].content), "done")
	require.Equal(t, "done\n", w.Get("f"))
}

// TestLoadWhileTheAgentAsks: the question comes behind what the agent had said before it, once, also if the session is opened again.
func TestLoadWhileTheAgentAsks(t *testing.T) {
	t.Parallel()
	w := asking(t, `{"fake":"say","text":"before"}`, `{"fake":"shell","command":"echo ran >ran.txt","ask":true}`, `{"fake":"say","text":"after"}`)
	first := opens(w, nil)
	first.answering(func(rpc.Message) any { return nil })
	s := first.session()
	first.asks(s, "Run it")
	isQuestion := func(m rpc.Message) bool { return m.Method == "session/request_permission" }
	first.hears("a question", 0, isQuestion)
	c := opens(w, nil)
	c.answering(func(rpc.Message) any { return nil })
	for range 3 {
		mark := c.mark()
		id := c.sends("session/load", world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": []any{}})
		require.NoError(t, c.answers(id, nil))
		question := c.hears("a question", mark, isQuestion)
		order := []string{}
		for _, m := range c.all()[mark:] {
			switch {
			case has(m, "agent_message_chunk", "before"):
				order = append(order, "said")
			case m.IsResponse() && string(m.ID) == id:
				order = append(order, "answered")
			case has(m, `"tool_call"`):
				order = append(order, "call")
			case string(m.ID) == string(question.ID):
				order = append(order, "question")
			}
		}
		require.Equal(t, []string{"said", "call", "answered", "question"}, order)
	}
	// A resume leaves the call and the question as they are. Nothing that waits has failed.
	mark := c.mark()
	c.must("session/resume", world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": []any{}}, nil)
	c.must("session/set_mode", world.Obj{"sessionId": s, "modeId": "ask"}, nil)
	for _, m := range c.all()[mark:] {
		require.False(t, isQuestion(m) || has(m, `"tool_call`), "%s", m.Params)
	}
	for _, m := range c.all() {
		require.False(t, has(m, `"failed"`), "%s", m.Params)
	}
	mark = c.mark()
	id := c.sends("session/load", world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": []any{}})
	c.notifies("$/cancel_request", world.Obj{"requestId": json.RawMessage(id)})
	_ = c.answers(id, nil) // it may have been too late
	first.in.Close()
	c.hears("a question again, or still", 0, isQuestion)
	e := w.Joins()
	var list rpc.ApprovalList
	e.Must("approval/list", world.Obj{"workspace": w.Root}, &list)
	e.Must("approval/answer", world.Obj{"approvalId": list.Approvals[0].ID, "optionId": "allow-once"}, nil)
	c.update(mark, "agent_message_chunk", "after")
	c.hears("that the question is over", mark, func(m rpc.Message) bool { return m.Method == "$/cancel_request" })
}

// TestApprovalElsewhere: a question that is open when an editor loads the session is put there, too; another client's answer withdraws it.
func TestApprovalElsewhere(t *testing.T) {
	t.Parallel()
	w := asking(t, `{"fake":"shell","command":"echo ran >ran.txt","ask":true}`, `{"fake":"say","text":"Done."}`)
	first := opens(w, nil)
	first.answering(func(rpc.Message) any { return nil })
	s := first.session()
	first.asks(s, "Run it")
	asked := func(c *client) rpc.Message {
		return c.hears("a question", 0, func(m rpc.Message) bool { return m.Method == "session/request_permission" })
	}
	asked(first)
	first.in.Close()

	c := opens(w, nil)
	c.answering(func(rpc.Message) any { return nil })
	c.loads(s)
	question := asked(c)
	e := w.Joins()
	var list rpc.ApprovalList
	e.Must("approval/list", world.Obj{"workspace": w.Root}, &list)
	require.Len(t, list.Approvals, 1)
	e.Must("approval/answer", world.Obj{"approvalId": list.Approvals[0].ID, "optionId": "allow-once"}, nil)
	withdrawn := c.hears("its withdrawal", 0, func(m rpc.Message) bool { return m.Method == "$/cancel_request" })
	var p struct{ RequestID json.RawMessage }
	require.NoError(t, json.Unmarshal(withdrawn.Params, &p))
	require.Equal(t, string(question.ID), string(p.RequestID))
	c.update(0, "agent_message_chunk", "Done.")
	require.Equal(t, "ran\n", w.Get("ran.txt"))
}

// TestAnEditorThatCannotAsk says where the question can be answered. Once the prompt waited, and nothing said why.
func TestAnEditorThatCannotAsk(t *testing.T) {
	t.Parallel()
	w := asking(t, `{"fake":"shell","command":"echo ran >ran.txt","ask":true}`, `{"fake":"say","text":"Done."}`)
	c := opens(w, nil) // which refuses what it is asked
	s := c.session()
	id := c.asks(s, "Run it")
	c.update(0, "agent_message_chunk", "this editor could not ask for it. Answer in a terminal (`cursord approvals`")
	w.CursordOK("deny")
	require.Equal(t, "end_turn", c.stops(id))
	require.Equal(t, "(absent)", w.Get("ran.txt"))
}

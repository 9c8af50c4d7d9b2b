//go:build unix

package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// trusted makes a world whose folder is trusted, and plays these lines.
func trusted(t testing.TB, lines ...string) *world.World {
	t.Helper()
	w := world.New(t)
	if len(lines) > 0 {
		w.Plays(lines...)
	}
	w.Trusts()
	return w
}

// asking is trusted with an agent that asks people.
func asking(t testing.TB, lines ...string) *world.World {
	t.Helper()
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Plays(lines...)
	w.Trusts()
	return w
}

// waiting is an agent that says a word, waits for the file ../NAME, and says another.
func waiting(name string) []string {
	return world.Playing([]string{world.Piece("begun "), world.Waits(name), world.Piece("gone on"), world.Flush("begun gone on"), world.Succeeds("begun gone on")})
}

// TestTurn plays a turn with everything in it: thoughts, text, calls, todos. All of it comes before the answer, in order.
func TestTurn(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(30, nil), world.Numbered(30, map[int]string{20: "agent 20\n"})
	todos := `{"updateTodosToolCall":{"args":{"todos":[{"id":"1","content":"read","status":"TODO_STATUS_COMPLETED"},{"id":"2","content":"write","status":"TODO_STATUS_IN_PROGRESS"}]}`
	lines := world.Playing(
		[]string{world.Thinks("Let me see. "), world.Thinks("Yes."), world.ThoughtEnd, world.Piece("I will "), world.Piece("do it."), world.Flush("I will do it.")},
		[]string{world.Started("t1", todos+`}}`), world.Completed("t1", todos+`,"result":{"success":{"todos":[{"id":"1","content":"read","status":"TODO_STATUS_COMPLETED"},{"id":"2","content":"write","status":"TODO_STATUS_IN_PROGRESS"}]}}}}`)},
		world.Edits("c1", "f.txt", before, after),
		[]string{world.Started("t2", `{"updateTodosToolCall":{"args":{}}}`), world.Completed("t2", `{"updateTodosToolCall":{"args":{},"result":{"success":{"todos":[]}}}}`)},
		[]string{
			world.Started("c2", `{"shellToolCall":{"args":{"command":"make"}}}`), world.Execs("echo made > made.txt"),
			world.Completed("c2", `{"shellToolCall":{"args":{"command":"make"},"result":{"success":{"exitCode":0,"stdout":"built\n","stderr":""}}}}`),
		},
		[]string{world.Piece(" Done."), world.Succeeds("I will do it. Done.")},
	)
	w := trusted(t, lines...)
	w.Put("f.txt", before)
	c := opens(w, nil)
	s := c.session()
	mark := c.mark()
	id := c.asks(s, "Do it")
	require.Equal(t, "end_turn", c.stops(id))

	all := c.updates(s, mark, id)
	require.Equal(t, "Let me see. Yes.", said(all, "agent_thought_chunk"))
	require.Equal(t, "I will do it. Done.", said(all, "agent_message_chunk"))
	require.Empty(t, said(all, "user_message_chunk"), "the editor has its own prompt")
	require.NotContains(t, fmt.Sprint(kindsOf(c.updates(s, 0, ""))[len(c.updates(s, 0, id)):]), "message_chunk", "nothing of the turn comes behind the answer")

	calls := callsOf(all)
	require.Len(t, calls, 2)
	edit, shell := calls[0], calls[1]
	require.Equal(t, "Edit f.txt", edit.title)
	require.Equal(t, []string{"edit", "in_progress", "completed"}, append([]string{edit.kind}, edit.statuses...))
	require.Equal(t, w.Path("f.txt"), edit.path)
	require.Equal(t, 20, edit.line)
	require.Equal(t, []string{`f.txt "line 17\nline 18\nline 19\nline 20\nline 21\nline 22\nline 23\n"→"line 17\nline 18\nline 19\nagent 20\nline 21\nline 22\nline 23\n"`}, showsChanges(calls)[0])
	require.Equal(t, []string{"execute", "in_progress", "completed"}, append([]string{shell.kind}, shell.statuses...))
	require.Len(t, shell.content, 2, "%v", shell.content)
	require.Equal(t, map[string]any{"type": "diff", "path": w.Path("made.txt"), "oldText": nil, "newText": "made\n"}, shell.content[0], "what a command changed is shown, too")
	require.Contains(t, fmt.Sprint(shell.content[1]), "built")

	var plan []string
	for _, u := range all {
		if u.Update.SessionUpdate == "plan" {
			entries := ""
			for _, e := range u.Update.Entries {
				entries += e.Content + " " + e.Status + ","
			}
			plan = append(plan, entries)
		}
	}
	require.Equal(t, []string{"read completed,write in_progress,", ""}, plan, "the agent takes its list away in the end")
	require.Contains(t, fmt.Sprint(kindsOf(all)), "usage_update")
	require.Contains(t, fmt.Sprint(kindsOf(all)), "session_info_update")
}

func kindsOf(all []update) (kinds []string) {
	for _, u := range all {
		kinds = append(kinds, u.Update.SessionUpdate)
	}
	return kinds
}

// A toolCall is what became of a call.
type toolCall struct {
	id, title, kind, path string
	line                  int
	statuses              []string
	content               []any
}

func callsOf(all []update) (calls []*toolCall) {
	byID := map[string]*toolCall{}
	for _, u := range all {
		call := byID[u.Update.ToolCallID]
		switch u.Update.SessionUpdate {
		case "tool_call":
			call = &toolCall{id: u.Update.ToolCallID, kind: u.Update.Kind}
			byID[call.id] = call
			calls = append(calls, call)
		case "tool_call_update":
		default:
			continue
		}
		if call == nil {
			panic("an update of an unknown call " + u.Update.ToolCallID)
		}
		if u.Update.Title != "" {
			call.title = u.Update.Title
		}
		if s := u.Update.Status; s != "" && (len(call.statuses) == 0 || call.statuses[len(call.statuses)-1] != s) {
			call.statuses = append(call.statuses, s)
		}
		if u.Update.Content != nil {
			call.content = nil
			_ = json.Unmarshal(u.Update.Content, &call.content)
		}
		if len(u.Update.Locations) > 0 {
			call.path, call.line = u.Update.Locations[0].Path, u.Update.Locations[0].Line
		}
	}
	return calls
}

// TestLargeEdit: an edit whose texts are cut in the daemon's notifications comes with what it has changed, before the answer.
func TestLargeEdit(t *testing.T) {
	t.Parallel()
	before := world.Numbered(3000, nil)
	after := world.Numbered(3000, map[int]string{1500: "agent 1500\n"})
	w := trusted(t, world.Lines(world.Edits("c1", "f.txt", before, after))...)
	w.Put("f.txt", before)
	c := opens(w, nil)
	s := c.session()
	calls := callsOf(c.goesThrough(s, "Do it"))
	require.Len(t, calls, 1)
	require.Equal(t, []string{`f.txt "line 1497\nline 1498\nline 1499\nline 1500\nline 1501\nline 1502\nline 1503\n"→"line 1497\nline 1498\nline 1499\nagent 1500\nline 1501\nline 1502\nline 1503\n"`}, showsChanges(calls)[0])
	require.Equal(t, 1500, calls[0].line)
}

// TestFailures: a turn that fails answers its prompt with an error that says what to do; what was said comes before.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		lines []string
		code  int
		kind  string
	}{
		"login":   {[]string{`{"fake":"stderr","text":"Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.\n"}`, `{"fake":"exit","code":1}`}, -32000, "agentNotLoggedIn"},
		"crashed": {world.Playing([]string{world.Piece("half a wo"), `{"fake":"exit","code":1}`}), -32603, "agentCrashed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := trusted(t, one.lines...)
			c, other, later := opens(w, nil), opens(w, nil), opens(w, nil)
			s := c.session()
			open := world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": []any{}}
			other.must("session/load", open, nil)
			mark := c.mark()
			id := c.asks(s, "Do it")
			var e *rpc.Error
			require.ErrorAs(t, c.answers(id, nil), &e)
			require.Equal(t, one.kind, string(e.Data.Kind))
			require.Equal(t, one.code, e.Code)
			if e.Data.Hint != "" {
				require.Equal(t, 1, strings.Count(e.Message, e.Data.Hint), e.Message)
			}
			// The others once saw a turn without an end.
			other.update(0, "agent_message_chunk", "**cursord:** "+e.Message)
			later.must("session/load", open, nil)
			require.Contains(t, said(later.updates(s, 0, ""), "agent_message_chunk"), "**cursord:** "+e.Message)
			require.NotContains(t, said(c.updates(s, mark, ""), "agent_message_chunk"), e.Message)
			if name == "crashed" {
				require.Equal(t, "half a wo", said(c.updates(s, mark, id), "agent_message_chunk"))
			}
		})
	}
}

// TestCancel: a cancelled prompt is answered as such, not by an error; open calls are closed before.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Playing([]string{
		world.Started("c1", `{"shellToolCall":{"args":{"command":"sleep"}}}`), world.Piece("x"), world.Waits("never"),
	})...)
	c := opens(w, nil)
	s := c.session()
	mark := c.mark()
	first := c.asks(s, "first")
	second := c.asks(s, "second")
	c.update(mark, `"tool_call"`)
	c.notifies("session/cancel", world.Obj{"sessionId": s})
	require.Equal(t, "cancelled", c.stops(first))
	require.Equal(t, "cancelled", c.stops(second), "prompts that wait are cancelled too")
	calls := callsOf(c.updates(s, mark, first))
	require.Len(t, calls, 1)
	require.Equal(t, []string{"in_progress", "failed"}, calls[0].statuses)
	require.Len(t, w.Runs(), 1)

	c.notifies("session/cancel", world.Obj{"sessionId": s}) // which does nothing
	w.Plays(world.Playing([]string{world.Piece("third"), world.Succeeds("third")})...)
	require.Equal(t, "end_turn", c.prompts(s, "third"))
}

// TestCancelRequest: one prompt is withdrawn, and another one goes on; a request that is not known is ignored.
func TestCancelRequest(t *testing.T) {
	t.Parallel()
	w := trusted(t, waiting("go")...)
	c := opens(w, nil)
	s := c.session()
	first := c.asks(s, "first")
	second := c.asks(s, "second")
	c.update(0, "begun")
	c.notifies("$/cancel_request", world.Obj{"requestId": json.RawMessage(second)})
	require.Equal(t, "cancelled", c.stops(second))
	c.notifies("$/cancel_request", world.Obj{"requestId": 17})
	c.notifies("$/cancel_request", world.Obj{})
	w.Put("../go", "")
	require.Equal(t, "end_turn", c.stops(first))
}

// TestPromptDuringPrompt: prompts wait for each other, and each is answered at its own end.
func TestPromptDuringPrompt(t *testing.T) {
	t.Parallel()
	w := trusted(t, waiting("go")...)
	c := opens(w, nil)
	s := c.session()
	mark := c.mark()
	ids := []string{c.asks(s, "one"), c.asks(s, "two"), c.asks(s, "three")}
	c.update(mark, "begun")
	w.Put("../go", "")
	for i, id := range ids {
		require.Equal(t, "end_turn", c.stops(id))
		require.Equal(t, strings.Repeat("begun gone on", i+1), said(c.updates(s, mark, id), "agent_message_chunk"))
	}
	var prompts []string
	for _, turn := range turnsOf(w, s) {
		prompts = append(prompts, turn.Prompt)
	}
	require.Equal(t, []string{"three", "two", "one"}, prompts, "the latest first")
}

// TestTwoSessions: two sessions on one connection do not mix.
func TestTwoSessions(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Playing([]string{world.Piece("{{prompt}} "), world.Piece("and "), world.Piece("on"), world.Succeeds("")})...)
	w.Put("../config.toml", "parallel_turns = 4\n")
	c := opens(w, nil)
	one, two := c.session(), c.session()
	mark := c.mark()
	var ids []string
	for range 5 {
		ids = append(ids, c.asks(one, "first"), c.asks(two, "second"))
	}
	for _, id := range ids {
		require.Equal(t, "end_turn", c.stops(id))
	}
	require.Equal(t, strings.Repeat("first and on", 5), said(c.updates(one, mark, ""), "agent_message_chunk"))
	require.Equal(t, strings.Repeat("second and on", 5), said(c.updates(two, mark, ""), "agent_message_chunk"))
}

// TestPromptBehindAnotherSession: the first prompt of a session that waits for a turn of another session says so, once. The second, which
// waits for the first, says nothing.
func TestPromptBehindAnotherSession(t *testing.T) {
	t.Parallel()
	w := trusted(t, waiting("go")...)
	c := opens(w, nil)
	one, two := c.session(), c.session()
	mark := c.mark()
	first := c.asks(one, "first")
	c.update(mark, "begun")
	behind := []string{c.asks(two, "second"), c.asks(two, "third")}
	c.update(mark, "Another turn runs in this folder.")
	w.Put("../go", "")
	require.Equal(t, "end_turn", c.stops(first))
	for _, id := range behind {
		require.Equal(t, "end_turn", c.stops(id))
	}
	require.Equal(t, 1, strings.Count(said(c.updates(two, mark, ""), "agent_message_chunk"), "Another turn runs"))
	require.NotContains(t, said(c.updates(one, mark, ""), "agent_message_chunk"), "Another turn runs")
}

// TestStopReasons: the editor gets the agent's reason for an end before it was done, and a person reads it.
func TestStopReasons(t *testing.T) {
	t.Parallel()
	for reason, words := range map[string]string{
		"max_tokens": "it reached a limit", "max_turn_requests": "it reached a limit", "refusal": "the model refused to go on", "end_turn": "",
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := asking(t, `{"fake":"say","text":"So far."}`, `{"fake":"stop","text":"`+reason+`"}`)
			c := opens(w, nil)
			s := c.session()
			mark := c.mark()
			id := c.asks(s, "go")
			require.Equal(t, reason, c.stops(id))
			require.Contains(t, said(c.updates(s, mark, id), "agent_message_chunk"), words)
			again := opens(w, nil)
			again.loads(s)
			require.Contains(t, said(again.updates(s, 0, ""), "agent_message_chunk"), words)
		})
	}
}

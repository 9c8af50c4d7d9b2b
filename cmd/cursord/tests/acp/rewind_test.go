//go:build unix

package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

// TestRewindCommand: the person sees what a rewind changes, and only a yes takes turns back.
func TestRewindCommand(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines(world.Edits("c1", "f.txt", "one\n", "one\nagent's\n"))...)
	w.Put("f.txt", "one\n")
	c := opens(w, nil)
	s := c.session()
	isQuestion := func(m rpc.Message) bool { return m.Method == "session/request_permission" }
	rewinds := func(words string, answer any) string {
		t.Helper()
		c.answering(func(rpc.Message) any { return answer })
		all := c.goesThrough(s, words)
		for _, call := range callsOf(all) {
			require.Contains(t, []string{"completed", "failed"}, call.statuses[len(call.statuses)-1], "no call is left open")
		}
		return said(all, "agent_message_chunk")
	}
	require.Contains(t, rewinds("/rewind", nil), "Nothing to rewind: the session has no turns.")
	c.prompts(s, "Do it")
	require.Equal(t, "one\nagent's\n", w.Get("f.txt"))
	require.Contains(t, rewinds("/rewind 2", nil), "the session has 1 turn")
	require.Contains(t, rewinds("/rewind nothing", nil), "names no turn of this session")

	mark := c.mark()
	require.Contains(t, rewinds("/rewind", selects("leave")), "Nothing was taken back")
	question := string(c.hears("a question", mark, isQuestion).Params)
	require.Contains(t, question, "-agent's")
	require.Contains(t, question, "1 turn and 1 change of files")
	require.Contains(t, rewinds("/rewind", world.Obj{"outcome": world.Obj{"outcome": "cancelled"}}), "Nothing was taken back")
	require.Equal(t, "one\nagent's\n", w.Get("f.txt"))

	// The question ends with its prompt.
	for _, cancels := range []func(id string){
		func(string) { c.notifies("session/cancel", world.Obj{"sessionId": s}) },
		func(id string) {
			c.line(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":` + id + `}}`)
		},
	} {
		c.answering(func(rpc.Message) any { return nil })
		mark = c.mark()
		id := c.asks(s, "/rewind")
		c.hears("a question", mark, isQuestion)
		cancels(id)
		require.Equal(t, "cancelled", c.stops(id))
		c.hears("its withdrawal", mark, func(m rpc.Message) bool { return m.Method == "$/cancel_request" })
	}
	require.Equal(t, "one\nagent's\n", w.Get("f.txt"))

	require.Contains(t, rewinds("/rewind 1", selects("rewind")), "Took back 1 turn and 1 change of files")
	require.Equal(t, "one\n", w.Get("f.txt"))
	e := w.Joins()
	var left rpc.TurnList
	e.Must("turn/list", world.Obj{"sessionId": s}, &left)
	require.Empty(t, left.Turns)
	require.Contains(t, rewinds("/undo", nil), "rewind")
	require.Equal(t, "one\nagent's\n", w.Get("f.txt"))
}

// TestRewindOfNoFiles: a rewind that changes no file is no decision, so nothing says that /undo takes it back. One during a turn says
// what to do in an editor.
func TestRewindOfNoFiles(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Streams("Hello"), world.Done)
	c := opens(w, nil)
	s := c.session()
	c.prompts(s, "Say hello")
	c.answering(func(m rpc.Message) any {
		if m.Method == "session/request_permission" {
			return selects("rewind")
		}
		return nil
	})
	text := said(c.goesThrough(s, "/rewind"), "agent_message_chunk")
	require.Contains(t, text, "Took back 1 turn and 0 changes of files")
	require.NotContains(t, text, "/undo")

	w.Plays(`{"fake":"hang"}`)
	id := c.asks(s, "Wait")
	e := w.Opens()
	e.Until("the turn runs", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Status == sessions.TurnRunning })
	require.Contains(t, said(c.goesThrough(s, "/rewind"), "agent_message_chunk"), "a turn of this session is running or queued – stop it in the editor first")
	c.notifies("session/cancel", world.Obj{"sessionId": s})
	require.Equal(t, "cancelled", c.stops(id))
}

// TestRewindTakesWhatItHasShown: a yes to a rewind of one turn once took two back, if another client had asked meanwhile.
func TestRewindTakesWhatItHasShown(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines(world.Edits("c1", "f.txt", "one\n", "one\nagent's\n"))...)
	w.Put("f.txt", "one\n")
	c := opens(w, nil)
	s := c.session()
	c.prompts(s, "Do it")
	c.answering(func(rpc.Message) any { return nil })
	mark := c.mark()
	id := c.asks(s, "/rewind")
	question := c.hears("a question", mark, func(m rpc.Message) bool { return m.Method == "session/request_permission" })
	w.Plays(world.Lines(world.Edits("c2", "g.txt", "(absent)", "two\n"))...)
	w.Opens().Turn(world.Obj{"sessionId": s, "prompt": "And more"})
	raw, err := json.Marshal(selects("rewind"))
	require.NoError(t, err)
	c.line(string(rpc.AppendResponse(nil, question.ID, raw, nil)))
	require.Equal(t, "end_turn", c.stops(id))
	require.Contains(t, said(c.updates(s, mark, id), "agent_message_chunk"), "Nothing was taken back: the session has gone on since")
	require.Len(t, turnsOf(w, s), 2)
	require.Equal(t, "one\nagent's\n", w.Get("f.txt"))
	require.Equal(t, "two\n", w.Get("g.txt"))
}

// TestRecapCommand: where the agent has lost the chat, the notice offers /recap, which asks the prompt again with the transcript.
func TestRecapCommand(t *testing.T) {
	t.Parallel()
	w := trusted(t, `{"fake":"begin"}`, `{"fake":"say","text":"The word is plum."}`, `{"fake":"finish"}`)
	c := opens(w, nil)
	s := c.session()
	require.Contains(t, said(c.goesThrough(s, "/recap"), "agent_message_chunk"), "no prompt to ask again")
	c.prompts(s, "remember the word")
	require.Contains(t, said(c.goesThrough(s, "/recap"), "agent_message_chunk"), "The agent has lost no chat in the last turn")
	require.Len(t, w.Runs(), 1)
	w.Plays(`{"type":"system","subtype":"init","session_id":"another","model":"m"}`, world.Done)
	mark := c.mark()
	id := c.sends("session/prompt", world.Obj{"sessionId": s, "prompt": []world.Obj{
		{"type": "text", "text": "which word of "}, {"type": "resource_link", "name": "a.go", "uri": "file://" + w.Path("a.go") + "#L3-7"},
	}})
	require.Equal(t, "end_turn", c.stops(id))
	notice := said(c.updates(s, mark, id), "agent_message_chunk")
	require.Contains(t, notice, "send `/recap`")
	require.NotContains(t, notice, "turn/start")
	require.Equal(t, "end_turn", c.prompts(s, "/recap"))
	runs := w.Runs()
	require.Len(t, runs, 3)
	require.True(t, strings.HasSuffix(strings.TrimSpace(runs[2].Prompt), "</transcript>\n<file path=\"a.go\" lines=\"3-7\" />\n</context>\n\nwhich word of @a.go"), runs[2].Prompt)
	require.Contains(t, runs[2].Prompt, "The word is plum.")
}

// TestRewindElsewhere: an editor that shows turns which another client takes back is told, once, and what follows comes as always. The
// editor whose command it was knows.
func TestRewindElsewhere(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines([]string{world.Piece("Hello"), world.Flush("Hello")})...)
	first, other := opens(w, nil), opens(w, nil)
	s := first.session()
	for _, prompt := range []string{"One.", "Two.", "Three."} {
		first.prompts(s, prompt)
	}
	other.loads(s)
	resumed := opens(w, nil)
	resumed.must("session/resume", world.Obj{"sessionId": s, "cwd": w.Root}, nil)
	turns := turnsOf(w, s)
	e := w.Joins()
	e.Must("session/rewind", world.Obj{"sessionId": s, "turnId": turns[1].ID}, nil)
	for _, c := range []*client{first, other, resumed} {
		c.update(0, "went back to before the prompt “Two.”")
	}
	first.answering(func(rpc.Message) any { return selects("rewind") })
	require.Equal(t, "end_turn", first.prompts(s, "/rewind"))
	other.update(0, "went back to before the prompt “One.”")
	mark := other.mark()
	require.Equal(t, "end_turn", first.prompts(s, "Four."))
	other.update(mark, "agent_message_chunk", "Hello")
	require.Equal(t, "Four.", said(other.updates(s, mark, ""), "user_message_chunk"))
	require.Equal(t, 1, strings.Count(said(first.updates(s, 0, ""), "agent_message_chunk"), "went back"))
	require.Equal(t, 2, strings.Count(said(other.updates(s, 0, ""), "agent_message_chunk"), "went back"))
	mark = other.mark()
	other.loads(s)
	require.Equal(t, "Four.", said(other.updates(s, mark, ""), "user_message_chunk"))
}

//go:build unix

package acp

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent"
)

// TestUpdatesOfAnotherSession are no part of the turn: people are told once that there were some.
func TestUpdatesOfAnotherSession(t *testing.T) {
	t.Parallel()
	c := newTalk(t, "/w")
	c.p.session = "s"
	of := func(session, update string) string {
		return strings.Replace(updates(update), `"params":{`, `"params":{"sessionId":`+session+`,`, 1)
	}
	const word = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"WORD"}}`
	c.says(of(`"s"`, strings.Replace(word, "WORD", "a", 1)), of(`"other"`, strings.Replace(word, "WORD", "b", 1)))
	c.says(of(`"other"`, `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","status":"in_progress","rawInput":{"command":"x"}}`))
	c.says(of(`null`, strings.Replace(word, "WORD", "c", 1)), updates(strings.Replace(word, "WORD", "d", 1)))
	require.Equal(t, "text a\nnotice The agent sent updates of another session than this one. They are not shown here. Look at its changes of files with care.\ntext cd", c.transcript())
	require.Equal(t, map[string]int{"acp/update of another session": 2}, c.turn.dec.unknown)
}

// TestLateUpdatesOfAnEarlierTurn make no new call: that turn, and its calls, have ended. An id that is used again is a new call.
func TestLateUpdatesOfAnEarlierTurn(t *testing.T) {
	t.Parallel()
	const (
		begins = `{"sessionUpdate":"tool_call","toolCallId":"1","kind":"read","status":"in_progress","rawInput":{"path":"/w/a"}}`
		ends   = `{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`
		other  = `{"sessionUpdate":"tool_call_update","toolCallId":"2","kind":"read","status":"completed","rawInput":{"path":"/w/b"}}`
		bare   = `{"sessionUpdate":"tool_call_update","kind":"read","status":"completed","rawInput":{"path":"/w/c"}}`
	)
	c := newTalk(t, "/w")
	c.says(updates(begins), updates(bare))
	next := func() {
		c.turn.over(nil, agent.Outcome{})
		c.events = nil
		c.turn = &turn{p: c.p, req: c.turn.req, emit: c.turn.emit, dec: newDecoder("/w", time.Now, false), done: make(chan struct{}), patience: newPatience(c.p, time.Hour)}
		c.turn.begin("next")
	}
	next()
	c.says(updates(ends), updates(ends))
	require.Empty(t, c.transcript())
	require.Equal(t, map[string]int{lateUpdate: 2}, c.turn.dec.unknown)
	next()
	c.says(updates(ends), updates(other), updates(bare))
	require.Equal(t, "start read \"Read b\" 1 paths\ncompleted read \"Read b\" 1 paths\nstart read \"Read c\" 1 paths\ncompleted read \"Read c\" 1 paths", c.transcript(), "in the turn after the next, too")
	next()
	c.says(updates(begins), updates(ends))
	require.Equal(t, "start read \"Read a\" 1 paths\ncompleted read \"Read a\" 1 paths", c.transcript())
	next()
	c.says(asksFor("7", `{"toolCallId":"1","kind":"execute","rawInput":{"command":"a"}}`))
	require.NoError(t, c.turn.answer("a1", agent.ApprovalAnswer{OptionID: "y"}))
	c.hears()
	require.Contains(t, c.transcript(), `start shell "a"`)
}

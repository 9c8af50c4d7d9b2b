//go:build unix

package acp

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

// TestTurnsOutliveEditors: the end of the input, SIGTERM and SIGKILL end the agent's face, and no turn. Once a prompt had no answer then.
func TestTurnsOutliveEditors(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*client){
		"EOF":  func(c *client) { c.in.Close() },
		"TERM": func(c *client) { _ = c.cmd.Process.Signal(syscall.SIGTERM) },
		"KILL": func(c *client) { _ = c.cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := trusted(t, waiting("go")...)
			c := opens(w, nil)
			s := c.session()
			prompt := c.asks(s, "Do it")
			c.update(0, "begun")
			end(c)
			state, err := c.cmd.Process.Wait()
			require.NoError(t, err)
			if name != "KILL" {
				var e *rpc.Error
				require.ErrorAs(t, c.answers(prompt, nil), &e)
				require.Equal(t, rpc.CodeCancelled, e.Code)
			}
			require.Equal(t, name == "EOF", state.Success(), "%v", state)
			require.Equal(t, sessions.TurnRunning, turnsOf(w, s)[0].Status)
			w.Put("../go", "")
			require.Eventually(t, func() bool { return turnsOf(w, s)[0].Status == sessions.TurnCompleted }, world.Patience, 10*time.Millisecond)

			c = opens(w, nil)
			c.loads(s)
			require.Equal(t, "begun gone on", said(c.updates(s, 0, ""), "agent_message_chunk"))
		})
	}
}

// TestDeafEditor: an editor that does not read holds up no turn, costs little memory, and then gets everything in order. It may cancel
// meanwhile.
func TestDeafEditor(t *testing.T) {
	t.Parallel()
	const lines = 40_000
	word := strings.Repeat("word ", 40)
	w := trusted(t, world.InitLine, `{"fake":"repeat","n":40000}`, world.Streams(word), world.Done)
	w.Huge = true
	c := opens(w, nil)
	s := c.session()
	e := w.Joins()
	c.stopsReading()
	mark := c.mark()
	id := c.asks(s, "Go on and on")
	require.Eventually(t, func() bool {
		var list rpc.TurnList
		e.Must("turn/list", world.Obj{"sessionId": s}, &list)
		return len(list.Turns) == 1 && list.Turns[0].Status == sessions.TurnCompleted
	}, world.Patience, 20*time.Millisecond, "the turn ends without its editor")
	memory := world.Resident(c.cmd.Process.Pid, "VmHWM")
	require.Less(t, memory, 150.0, "MB")
	c.reads()
	require.Equal(t, "end_turn", c.stops(id))
	require.Equal(t, lines*len(word), len(said(c.updates(s, mark, id), "agent_message_chunk")))

	w.Plays(world.InitLine, `{"fake":"repeat","n":100000000}`, world.Streams(word), world.Done)
	c.stopsReading()
	id = c.asks(s, "Go on for ever")
	require.Eventually(t, func() bool {
		var list rpc.TurnList
		e.Must("turn/list", world.Obj{"sessionId": s}, &list)
		return len(list.Turns) == 2 && list.Turns[0].Status == sessions.TurnRunning
	}, world.Patience, 20*time.Millisecond)
	c.notifies("session/cancel", world.Obj{"sessionId": s})
	require.Eventually(t, func() bool {
		var list rpc.TurnList
		e.Must("turn/list", world.Obj{"sessionId": s}, &list)
		return list.Turns[0].Status == sessions.TurnCancelled
	}, world.Patience, 20*time.Millisecond)
	c.reads()
	require.Equal(t, "cancelled", c.stops(id))
}

// TestDaemonRestart: the daemon is killed in mid-turn. The prompt is answered with an error, and the session goes on with the next daemon.
func TestDaemonRestart(t *testing.T) {
	t.Parallel()
	w := trusted(t, waiting("never")...)
	w.CursordOK("stop")
	w.Start()
	c := opens(w, nil)
	s := c.session()
	mark := c.mark()
	first, second := c.asks(s, "one"), c.asks(s, "two")
	c.update(mark, "begun")
	require.Eventually(t, func() bool { return len(turnsOf(w, s)) == 2 }, world.Patience, 10*time.Millisecond)
	w.Kill()
	for _, id := range []string{first, second} {
		var e *rpc.Error
		require.ErrorAs(t, c.answers(id, nil), &e)
		require.Equal(t, -32603, e.Code)
		require.NotEmpty(t, e.Data.Kind)
	}
	require.Equal(t, "begun ", said(c.updates(s, mark, ""), "agent_message_chunk"))
	w.Plays(world.Playing([]string{world.Piece("again"), world.Succeeds("again")})...)
	require.Equal(t, "again", said(c.goesThrough(s, "three"), "agent_message_chunk"))
}

// TestAnotherDatabase: sessions of a database that is gone are not open any more, and new ones can be made.
func TestAnotherDatabase(t *testing.T) {
	t.Parallel()
	w := trusted(t, waiting("never")...)
	w.CursordOK("stop")
	w.Start()
	c := opens(w, nil)
	s := c.session()
	id := c.asks(s, "one")
	c.update(0, "begun")
	require.NoError(t, os.Rename(w.Path("../state"), w.Path("../gone"))) // before the editor's connection makes another daemon
	w.Kill()
	require.Error(t, c.answers(id, nil))
	require.Eventually(t, func() bool {
		return c.calls("session/prompt", world.Obj{"sessionId": s, "prompt": words("x")}, nil) != nil
	}, world.Patience, 10*time.Millisecond)
	w.Trusts()
	w.Plays(world.Playing([]string{world.Piece("again"), world.Succeeds("again")})...)
	require.Equal(t, "end_turn", c.prompts(c.session(), "two"))
}

// TestTrustElsewhere: a question for trust ends when a prompt finds that the folder is trusted now, and no prompt waits for it any more.
func TestTrustElsewhere(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	c := opens(w, nil)
	c.answering(func(rpc.Message) any { return nil })
	s := c.session()
	first := c.asks(s, "one")
	c.hears("a question", 0, func(m rpc.Message) bool { return m.Method == "session/request_permission" })
	w.Trusts()
	second := c.asks(s, "two")
	require.Equal(t, "end_turn", c.stops(first))
	require.Equal(t, "end_turn", c.stops(second))
	c.hears("its withdrawal", 0, func(m rpc.Message) bool { return m.Method == "$/cancel_request" })
	calls := callsOf(c.updates(s, 0, ""))
	require.Equal(t, []string{"pending", "completed"}, calls[0].statuses)
}

// TestTrust: the first prompt in a folder asks a person, as a permission. Without a yes nothing runs.
func TestTrust(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		answer any
		runs   bool
	}{
		"yes":         {selects("trust"), true},
		"no":          {selects("deny"), false},
		"no option":   {world.Obj{"outcome": world.Obj{"outcome": "selected"}}, false},
		"cancelled":   {world.Obj{"outcome": world.Obj{"outcome": "cancelled"}}, false},
		"nonsense":    {[]any{}, false},
		"not capable": {&rpc.Error{Code: rpc.CodeMethodNotFound, Message: "no"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			c := opens(w, nil)
			c.answering(func(rpc.Message) any { return one.answer })
			s := c.session()
			mark := c.mark()
			first, second := c.asks(s, "one"), c.asks(s, "two")
			for _, id := range []string{first, second} {
				if one.runs {
					require.Equal(t, "end_turn", c.stops(id))
					continue
				}
				var e *rpc.Error
				require.ErrorAs(t, c.answers(id, nil), &e)
				require.Equal(t, "workspaceUntrusted", string(e.Data.Kind))
			}
			asked := 0
			for _, m := range c.all() {
				if m.Method != "session/request_permission" {
					continue
				}
				asked++
				var p struct {
					ToolCall struct{ Title string }
					Options  []struct{ Kind string }
				}
				require.NoError(t, json.Unmarshal(m.Params, &p))
				require.Contains(t, p.ToolCall.Title, w.Root)
				require.Equal(t, []struct{ Kind string }{{"allow_once"}, {"reject_once"}}, p.Options)
			}
			require.LessOrEqual(t, asked, 2)
			last := "failed"
			if one.runs {
				require.Equal(t, 1, asked)
				last = "completed"
			}
			call := callsOf(c.updates(s, mark, first))[0]
			require.Equal(t, []string{"pending", last}, call.statuses)
			if !one.runs {
				require.Contains(t, fmt.Sprint(call.content), w.Root+" is not trusted, so the agent did not begin – send the prompt again")
				require.Empty(t, w.Runs())
			}
		})
	}
}

// TestCancelDuringTrust: a question that nobody answers is withdrawn by a cancel; the prompts behind it ask again.
func TestCancelDuringTrust(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	c := opens(w, nil)
	c.answering(func(rpc.Message) any { return nil })
	s := c.session()
	question := func(mark int) rpc.Message {
		return c.hears("a question", mark, func(m rpc.Message) bool { return m.Method == "session/request_permission" })
	}
	first := c.asks(s, "one")
	asked := question(0)
	second := c.asks(s, "two")
	mark := c.mark()
	c.notifies("$/cancel_request", world.Obj{"requestId": json.RawMessage(first)})
	require.Equal(t, "cancelled", c.stops(first))
	withdrawn := c.hears("its withdrawal", mark, func(m rpc.Message) bool { return m.Method == "$/cancel_request" })
	require.JSONEq(t, `{"requestId":`+string(asked.ID)+`}`, string(withdrawn.Params))
	question(mark)
	c.notifies("session/cancel", world.Obj{"sessionId": s})
	require.Equal(t, "cancelled", c.stops(second))
	require.Empty(t, w.Runs())
}

// TestClose: closing a session cancels the editor's own turns in it, and no others.
func TestClose(t *testing.T) {
	t.Parallel()
	w := trusted(t, waiting("go")...)
	c := opens(w, nil)
	mine, others := c.session(), c.session()
	w.Put("../config.toml", "parallel_turns = 4\n")
	w.CursordOK("config", "reload")
	e := w.Joins()
	id := c.asks(mine, "mine")
	theirs := e.Asks(world.Obj{"sessionId": others, "prompt": "theirs"})
	for _, s := range []string{mine, others} {
		c.hears("its begin", 0, func(m rpc.Message) bool { return has(m, s, "begun") })
	}
	c.must("session/close", world.Obj{"sessionId": mine}, nil)
	require.Equal(t, sessions.TurnCancelled, turnsOf(w, mine)[0].Status, "it is closed when the answer comes")
	c.must("session/close", world.Obj{"sessionId": others}, nil)
	require.Equal(t, "cancelled", c.stops(id))
	w.Put("../go", "")
	var ended rpc.TurnResult
	require.NoError(t, e.Call("turn/wait", world.Obj{"turnId": theirs.ID}, &ended))
	require.Equal(t, sessions.TurnCompleted, ended.Turn.Status)
}

// TestCloseEndsCalls: a call that ran while its session was closed once stayed open for that editor.
func TestCloseEndsCalls(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Playing([]string{world.Started("c1", `{"shellToolCall":{"args":{"command":"make"}}}`), world.Waits("never")})...)
	c := opens(w, nil)
	s := c.session()
	prompt := c.asks(s, "Build")
	c.update(0, `"tool_call"`)
	id := c.sends("session/close", world.Obj{"sessionId": s})
	require.Equal(t, "cancelled", c.stops(prompt))
	require.NoError(t, c.answers(id, nil))
	calls := callsOf(c.updates(s, 0, prompt))
	require.Len(t, calls, 1)
	require.Equal(t, []string{"in_progress", "failed"}, calls[0].statuses)
}

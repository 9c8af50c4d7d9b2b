//go:build unix

package acp

import (
	"encoding/json"
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
			w := world.New(t)
			w.Put("../config.toml", "driver = \"acp\"\n")
			w.Trusts()
			w.Plays(`{"fake":"shell","command":"echo ran >ran.txt","ask":true}`, `{"fake":"say","text":"Done."}`)
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
			last := calls[0].statuses[len(calls[0].statuses)-1]
			require.Equal(t, map[bool]string{true: "completed", false: "failed"}[one.runs], last)
		})
	}
}

// TestApprovalElsewhere: a question that is open when an editor loads the session is put there, too; another client's answer withdraws it.
func TestApprovalElsewhere(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Trusts()
	w.Plays(`{"fake":"shell","command":"echo ran >ran.txt","ask":true}`, `{"fake":"say","text":"Done."}`)
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
	c.must("session/load", world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": []any{}}, nil)
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
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Trusts()
	w.Plays(`{"fake":"shell","command":"echo ran >ran.txt","ask":true}`, `{"fake":"say","text":"Done."}`)
	c := opens(w, nil) // which refuses what it is asked
	s := c.session()
	id := c.asks(s, "Run it")
	c.update(0, "agent_message_chunk", "this editor could not ask for it. Answer in a terminal (cursord approvals")
	w.CursordOK("deny")
	require.Equal(t, "end_turn", c.stops(id))
	require.Equal(t, "(absent)", w.Get("ran.txt"))
}

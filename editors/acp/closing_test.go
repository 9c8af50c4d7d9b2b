package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// TestNothingAfterAClose: an answer of the daemon that comes behind the close of its session once led to an update of that.
func TestNothingAfterAClose(t *testing.T) {
	e := edits(t)
	e.sends(`{"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{"sessionId":"s","modeId":"ask"}}`)
	change := e.request("session/update")
	e.sends(`{"jsonrpc":"2.0","id":4,"method":"session/close","params":{"sessionId":"s"}}`)
	e.hears("the close", func(m rpc.Message) bool { return string(m.ID) == "4" })
	e.replies(change, strings.NewReplacer(`"seq":2`, `"seq":5`, `"mode":"agent"`, `"mode":"ask"`).Replace(canned["session/create"]))
	e.hears("the answer", func(m rpc.Message) bool { return string(m.ID) == "3" })
	require.Empty(t, e.told())
}

// runsCall has a turn with a call that runs.
func (e *editor) runsCall() {
	e.turns("t", "running", 3, nil)
	e.notifies("item/changed", obj{"workspace": "/ws", "seq": 4, "item": obj{
		"id": "t:0", "turnId": "t", "sessionId": "s", "workspace": "/ws", "index": 0, "kind": "tool", "status": "running", "startedAt": moment, "seq": 4,
		"tool": obj{"callId": "c", "name": "shell", "rawName": "shell", "title": "make", "paths": []string{}},
	}})
	e.hears("the call", func(m rpc.Message) bool { return strings.Contains(string(m.Params), `"tool_call"`) })
}

// TestDeletedDuringAnotherLoad: a call that ran when its session was loaded again and then deleted elsewhere once stayed open for the editor.
func TestDeletedDuringAnotherLoad(t *testing.T) {
	e := edits(t)
	e.runsCall()
	e.sends(`{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"cwd":"/ws","sessionId":"s"}}`)
	e.replies(e.request("session/read"), canned["session/create"])
	export := e.request("session/export")
	e.notifies("session/changed", obj{"workspace": "/ws", "seq": 6, "sessionId": "s", "removed": true})
	e.replies(export, `{"parts":[]}`)
	var ended []string
	e.hears("the load", func(m rpc.Message) bool {
		if m.Method == "session/update" {
			ended = append(ended, string(m.Params))
		}
		return string(m.ID) == "3"
	})
	require.Equal(t, []string{`{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t:0","status":"failed"}}`}, ended)
}

// TestDeletedElsewhere: another client may delete a session before the editor has been told the end of its turn, as after a daemon that was killed.
func TestDeletedElsewhere(t *testing.T) {
	e := edits(t)
	e.runsCall()
	e.notifies("session/changed", obj{"workspace": "/ws", "seq": 6, "sessionId": "s", "removed": true})
	require.Equal(t, []string{"tool_call_update failed"}, e.told())
}

// TestAnotherLoadThatFails leaves the session as it was. Its prompts were once answered as cancelled, although their turns went on.
func TestAnotherLoadThatFails(t *testing.T) {
	e := edits(t)
	e.sends(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`)
	var started struct{ TurnID string }
	require.NoError(t, json.Unmarshal(e.request("turn/start").Params, &started))
	e.turns(started.TurnID, "running", 4, nil)
	e.sends(`{"jsonrpc":"2.0","id":4,"method":"session/load","params":{"cwd":"/ws","sessionId":"s"}}`)
	e.replies(e.request("session/read"), canned["session/create"])
	e.items(started.TurnID, 0, 5, "done") // while it is loaded
	e.tells(rpc.AppendResponse(nil, e.request("session/export").ID, nil, &rpc.Error{Code: -32603, Message: "the disk is full"}))
	var said []string
	until := func(id string) rpc.Message {
		return e.hears(id, func(m rpc.Message) bool {
			if strings.Contains(string(m.Params), "agent_message_chunk") {
				said = append(said, string(m.Params))
			}
			return m.IsResponse() && string(m.ID) != "9"
		})
	}
	require.Equal(t, "4", string(until("4").ID))
	e.turns(started.TurnID, "completed", 6, nil)
	m := until("3")
	require.Equal(t, "3", string(m.ID))
	require.JSONEq(t, `{"stopReason":"end_turn"}`, string(m.Result))
	require.Len(t, said, 1, "what came meanwhile")
}

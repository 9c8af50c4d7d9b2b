package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

const moment = "2026-01-02T03:04:05.000Z"

// turns notifies the form of a turn.
func (e *editor) turns(id, status string, seq int, more obj) {
	e.notifies("turn/changed", obj{"workspace": "/ws", "seq": seq, "turn": aTurn(id, status, seq, more)})
}

func aTurn(id, status string, seq int, more obj) obj {
	t := obj{"id": id, "sessionId": "s", "workspace": "/ws", "prompt": "ask " + id, "status": status, "createdAt": moment, "startedAt": moment, "seq": seq}
	for name, value := range more {
		t[name] = value
	}
	return t
}

// items notifies an item that has ended: a call, if it has no text.
func (e *editor) items(turn string, index, seq int, text string) {
	i := obj{
		"id": fmt.Sprint(turn, ":", index), "turnId": turn, "sessionId": "s", "workspace": "/ws", "index": index, "kind": "assistant", "status": "completed",
		"text": text, "startedAt": moment, "seq": seq,
	}
	if text == "" {
		i["kind"], i["tool"] = "tool", obj{"callId": fmt.Sprint("c", index), "name": "shell", "rawName": "shell", "title": "make", "paths": []string{}}
	}
	e.notifies("item/changed", obj{"workspace": "/ws", "seq": seq, "item": i})
}

// told returns what the editor is told of the session, up to the answer to a request that it makes now.
func (e *editor) told() (told []string) {
	e.sends(`{"jsonrpc":"2.0","id":9,"method":"session/list","params":{}}`)
	e.hears("the answer", func(m rpc.Message) bool {
		var u struct {
			Update struct {
				SessionUpdate, Title, Status string
				Content                      json.RawMessage
			}
		}
		if m.Method == "session/update" {
			require.NoError(e.t, json.Unmarshal(m.Params, &u))
			var block struct{ Text string }
			_ = json.Unmarshal(u.Update.Content, &block) // a call has a list
			kind := strings.TrimSuffix(u.Update.SessionUpdate, "_message_chunk")
			told = append(told, strings.Join(strings.Fields(kind+" "+u.Update.Title+block.Text+" "+u.Update.Status), " "))
		}
		return string(m.ID) == "9"
	})
	return told
}

// TestMissedTurns: what an editor gets of a turn that it has not seen begin comes by the order of the last changes, in which the turn is behind its
// items. The editor gets it in the order of the transcript, with the prompt and the end.
func TestMissedTurns(t *testing.T) {
	broke := obj{"error": obj{"kind": "agentFailed", "message": "it broke"}}
	unstarted := obj{"error": broke["error"], "startedAt": nil}
	second, third := obj{"startedAt": "2026-01-02T03:04:06.000Z", "error": broke["error"]}, obj{"startedAt": "2026-01-02T03:04:07.000Z"}
	for name, one := range map[string]struct {
		comes func(e *editor)
		lists []obj // the turns that the daemon has then; nil: nobody asks for them
		later func(e *editor)
		want  []string
	}{
		"an answer": {
			func(e *editor) {
				e.items("a", 1, 5, "")
				e.items("a", 0, 6, "first")
				e.items("a", 2, 7, "second")
				e.turns("a", "completed", 8, nil)
			},
			[]obj{aTurn("a", "completed", 8, nil)}, nil,
			[]string{"user ask a", "agent first", "tool_call make completed", "agent second"},
		},
		"an end that comes later": {
			func(e *editor) { e.items("a", 0, 5, "first") }, []obj{aTurn("a", "failed", 8, broke)},
			func(e *editor) {
				e.items("a", 1, 6, "second")
				e.turns("a", "failed", 8, broke)
				e.items("a", 1, 6, "second") // what comes again is said once
				e.turns("a", "failed", 8, broke)
			},
			[]string{"user ask a", "agent first", "agent second", "agent > **cursord:** it broke"},
		},
		"several": {
			func(e *editor) {
				e.items("a", 0, 5, "one")
				e.turns("a", "completed", 6, nil)
				e.turns("b", "failed", 7, second)
				e.items("c", 0, 8, "three")
			},
			[]obj{aTurn("c", "completed", 9, third), aTurn("b", "failed", 7, second), aTurn("a", "completed", 6, nil)},
			func(e *editor) { e.turns("c", "completed", 9, third) },
			[]string{"user ask a", "agent one", "user ask b", "agent > **cursord:** it broke", "user ask c", "agent three"},
		},
		"one that a rewind has removed": {
			func(e *editor) { e.items("a", 0, 5, "one") }, []obj{}, func(e *editor) { e.turns("b", "cancelled", 9, nil) }, []string{"user ask b"},
		},
		"failed":      {func(e *editor) { e.turns("a", "failed", 8, broke) }, nil, nil, []string{"user ask a", "agent > **cursord:** it broke"}},
		"interrupted": {func(e *editor) { e.turns("a", "interrupted", 8, unstarted) }, nil, nil, []string{"user ask a", "agent > **cursord:** it broke"}},
		"cancelled":   {func(e *editor) { e.turns("a", "cancelled", 8, nil) }, nil, nil, []string{"user ask a"}},
		"one that leaves the queue while another runs": {
			func(e *editor) {
				e.turns("a", "running", 4, nil)
				e.turns("b", "queued", 5, unstarted)
				e.turns("b", "cancelled", 6, unstarted)
				e.items("a", 0, 7, "one")
				e.turns("a", "completed", 8, nil)
			},
			nil, nil, []string{"user ask a", "agent one", "user ask b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := edits(t)
			one.comes(e)
			if one.lists != nil {
				raw, err := json.Marshal(obj{"turns": one.lists})
				require.NoError(t, err)
				for m := e.request("turn/list"); m.Method != "approval/list"; m = <-e.calls { // behind what is told
					if m.Method == "turn/list" {
						e.replies(m, string(raw))
					}
				}
			}
			if one.later != nil {
				one.later(e)
			}
			require.Equal(t, one.want, e.told())
		})
	}
}

// TestQuestionOfAMissedTurn comes behind the prompt.
func TestQuestionOfAMissedTurn(t *testing.T) {
	e := edits(t)
	e.answersItself("approval/list")
	asked := approvalOf("permission", "pending", permission, nil)
	e.notifies("approval/changed", asked)
	raw, err := json.Marshal(obj{"turns": []obj{aTurn("t", "running", 8, nil)}})
	require.NoError(t, err)
	e.replies(e.request("turn/list"), string(raw))
	raw, err = json.Marshal(obj{"approvals": []any{asked["approval"]}})
	require.NoError(t, err)
	e.replies(e.request("approval/list"), string(raw))
	for _, part := range []string{"user_message_chunk", `"tool_call"`} {
		m := e.hears(part, func(m rpc.Message) bool {
			return strings.Contains(string(m.Params), "message_chunk") || strings.Contains(string(m.Params), `"tool_call"`)
		})
		require.Contains(t, string(m.Params), part)
	}
	e.asked("session/request_permission")
}

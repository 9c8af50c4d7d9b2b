package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
	"cursord/sessions"
)

// TestNewsOfALoad: what changes while a session is loaded comes before the answer and in the order of the transcript, whatever ended first;
// each word comes once.
func TestNewsOfALoad(t *testing.T) {
	e := edits(t)
	at := `"createdAt":"2026-01-02T03:04:05.000Z","startedAt":"2026-01-02T03:04:05.000Z"`
	item := func(index int, kind string, seq int, rest string) string {
		return fmt.Sprintf(`{"id":"t:%d","turnId":"t","sessionId":"s","workspace":"/ws","index":%d,"kind":%q,"seq":%d,%s,"startedAt":"2026-01-02T03:04:05.000Z"}`, index, index, kind, seq, rest)
	}
	command := func(index, seq int, status string) string {
		return item(index, "tool", seq, fmt.Sprintf(`"status":%q,"tool":{"callId":"c%d","name":"shell","rawName":"shell","title":"command %d","paths":[]}`, status, index, index))
	}
	changed := func(item string, seq uint64) {
		var i sessions.Item
		require.NoError(t, json.Unmarshal([]byte(item), &i))
		e.notifies("item/changed", rpc.ItemChanged{Workspace: "/ws", Seq: seq, Item: &i})
	}
	e.sends(`{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"cwd":"/ws","sessionId":"s"}}`)
	e.replies(e.request("session/read"), `{"session":{"id":"s","workspace":"/ws","mode":"agent","isolation":"none","turns":1,"seq":2,"createdAt":"2026-01-02T03:04:05.000Z","updatedAt":"2026-01-02T03:04:05.000Z"}}`)
	e.replies(e.request("session/export"), `{"parts":[{"turn":{"id":"t","sessionId":"s","prompt":"Go","status":"running","seq":3,`+at+`}},
		{"item":`+command(0, 4, "running")+`},{"item":`+item(1, "assistant", 5, `"status":"running"`)+`}]}`)
	read := e.request("item/read")
	changed(command(2, 6, "completed"), 6)
	changed(item(3, "assistant", 7, `"status":"completed","text":"done"`), 7)
	changed(command(0, 8, "completed"), 8)
	e.notifies("item/delta", rpc.DeltaParams{Workspace: "/ws", SessionID: "s", TurnID: "t", ItemID: "t:1", Kind: "assistant", Offset: 2, Text: "e two"})
	e.replies(read, `{"item":`+item(1, "assistant", 5, `"status":"running","text":"one"`)+`}`)

	var told []string
	e.hears("the answer", func(m rpc.Message) bool {
		var u struct {
			Update struct {
				SessionUpdate, Title, Status string
				Content                      struct{ Text string }
			}
		}
		if m.Method == "session/update" {
			require.NoError(t, json.Unmarshal(m.Params, &u))
			told = append(told, u.Update.SessionUpdate+" "+u.Update.Title+u.Update.Content.Text+" "+u.Update.Status)
		}
		return string(m.ID) == "3"
	})
	require.Equal(t, []string{
		"user_message_chunk Go ", "tool_call command 0 completed", "agent_message_chunk one ", "agent_message_chunk  two ",
		"tool_call command 2 completed", "agent_message_chunk done ",
	}, told)
}

// TestLateNotifications: what was read when a session was loaded may be newer than the notifications that come then. They say nothing again.
func TestLateNotifications(t *testing.T) {
	const (
		times = `"startedAt":"2026-01-02T03:04:05.000Z"`
		about = `"session":{"id":"s","workspace":"/ws","mode":"agent","isolation":"none","turns":1,"seq":2,"createdAt":"2026-01-02T03:04:05.000Z","updatedAt":"2026-01-02T03:04:05.000Z"}`
	)
	turn := func(status string, seq int) string {
		return fmt.Sprintf(`{"id":"t","sessionId":"s","prompt":"Go","status":%q,"seq":%d,"createdAt":"2026-01-02T03:04:05.000Z",%s}`, status, seq, times)
	}
	item := func(status, text string, seq int) string {
		return fmt.Sprintf(`{"id":"t:0","turnId":"t","sessionId":"s","workspace":"/ws","index":0,"kind":"assistant","status":%q,"text":%q,"seq":%d,%s}`, status, text, seq, times)
	}
	for name, one := range map[string]struct{ turn, exported, read string }{
		"it runs":    {turn("running", 3), item("running", "", 5), item("running", "one two", 5)},
		"it ended":   {turn("running", 3), item("running", "", 5), item("completed", "one two three", 8)},
		"all of it":  {turn("completed", 9), item("completed", "one two three", 8), ""},
		"with pause": {turn("running", 3), item("completed", "one two three", 8), ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := edits(t)
			e.sends(`{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"cwd":"/ws","sessionId":"s"}}`)
			read := e.request("session/read")
			e.notifies("item/changed", json.RawMessage(`{"workspace":"/ws","seq":4,"item":`+strings.Replace(item("running", "", 4), "t:0", "t:9", 1)+`}`)) // behind the request: it waits
			e.replies(read, `{`+about+`}`)
			e.replies(e.request("session/export"), `{"parts":[{"turn":`+one.turn+`},{"item":`+one.exported+`}]}`)
			if one.read != "" {
				e.replies(e.request("item/read"), `{"item":`+one.read+`}`)
			}
			var text string
			until := func(id string) {
				e.hears(id, func(m rpc.Message) bool {
					var u struct {
						Update struct {
							SessionUpdate string
							Content       struct{ Text string }
						}
					}
					if m.Method == "session/update" {
						require.NoError(t, json.Unmarshal(m.Params, &u))
						text += u.Update.Content.Text
					}
					return string(m.ID) == id
				})
			}
			until("3")
			late := func(seq int, member, object string) {
				e.notifies(member+"/changed", json.RawMessage(fmt.Sprintf(`{"workspace":"/ws","seq":%d,%q:%s}`, seq, member, object)))
			}
			late(3, "turn", turn("running", 3))
			late(5, "item", item("running", "", 5))
			offset := 0
			for _, piece := range []string{"one", " two", " three"} {
				e.notifies("item/delta", rpc.DeltaParams{Workspace: "/ws", SessionID: "s", TurnID: "t", ItemID: "t:0", Kind: "assistant", Offset: offset, Text: piece})
				offset += len(piece)
			}
			late(8, "item", item("completed", "one two three", 8))
			late(9, "turn", turn("completed", 9))
			e.sends(`{"jsonrpc":"2.0","id":4,"method":"session/list","params":{}}`)
			e.replies(e.request("session/list"), `{"sessions":[]}`) // behind the notifications
			until("4")
			require.Equal(t, "Goone two three", text)
		})
	}
}

// TestApprovalsWhileASessionIsOpened: a question that ended meanwhile was put to the editor's person and never withdrawn, and one that came then
// was not put at all.
func TestApprovalsWhileASessionIsOpened(t *testing.T) {
	const (
		about = `{"session":{"id":"s","workspace":"/ws","mode":"agent","isolation":"none","turns":1,"seq":2,"createdAt":"` + moment + `","updatedAt":"` + moment + `"}}`
		item  = `{"id":"t:0","turnId":"t","sessionId":"s","workspace":"/ws","index":0,"kind":"assistant","status":"running","seq":5,"startedAt":"` + moment + `"}`
	)
	turn, err := json.Marshal(aTurn("t", "running", 3, nil))
	require.NoError(t, err)
	pending, over := approvalOf("permission", "pending", permission, nil), approvalOf("permission", "withdrawn", permission, nil)
	listed := func(approvals ...any) string {
		raw, err := json.Marshal(obj{"approvals": append([]any{}, approvals...)})
		require.NoError(t, err)
		return string(raw)
	}
	for name, one := range map[string]struct {
		listed string
		comes  []obj
		asked  bool
	}{
		"it ended":          {listed(pending["approval"]), []obj{over}, false},
		"it came":           {listed(), []obj{pending}, true},
		"it came and ended": {listed(), []obj{pending, over}, false},
		"it came again":     {listed(pending["approval"]), []obj{pending}, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := edits(t)
			e.answersItself("approval/list")
			e.sends(`{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"cwd":"/ws","sessionId":"s"}}`)
			e.replies(e.request("session/read"), about)
			e.replies(e.request("session/export"), `{"parts":[{"turn":`+string(turn)+`},{"item":`+item+`}]}`)
			e.replies(e.request("approval/list"), one.listed)
			read := e.request("item/read")
			for _, n := range one.comes {
				e.notifies("approval/changed", n)
			}
			e.replies(read, `{"item":`+item+`}`)
			e.hears("the answer", func(m rpc.Message) bool { return string(m.ID) == "3" })
			asked := 0
			e.sends(`{"jsonrpc":"2.0","id":9,"method":"session/list","params":{}}`)
			e.hears("the answer", func(m rpc.Message) bool {
				if m.Method == "session/request_permission" {
					asked++
				}
				return string(m.ID) == "9"
			})
			require.Equal(t, map[bool]int{true: 1}[one.asked], asked)
		})
	}
}

// TestAListThatIsBehind: what the daemon has listed may be taken in behind a notification that came after the list.
func TestAListThatIsBehind(t *testing.T) {
	e := edits(t)
	e.answersItself("approval/list")
	pending, over := approvalOf("permission", "pending", permission, nil), approvalOf("permission", "withdrawn", permission, nil)
	e.notifies("approval/changed", pending)
	turns, err := json.Marshal(obj{"turns": []obj{aTurn("t", "running", 8, nil)}})
	require.NoError(t, err)
	e.replies(e.request("turn/list"), string(turns))
	list := e.request("approval/list")
	e.notifies("approval/changed", over)
	raw, err := json.Marshal(obj{"approvals": []any{pending["approval"]}})
	require.NoError(t, err)
	e.replies(list, string(raw))
	e.sends(`{"jsonrpc":"2.0","id":9,"method":"session/list","params":{}}`)
	e.hears("the answer", func(m rpc.Message) bool {
		require.NotEqual(t, "session/request_permission", m.Method)
		return string(m.ID) == "9"
	})
}

package acp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/rpc"
)

// TestNotNowIsTrue: who answers "Not now" is told what the folder is by then. It may have been trusted elsewhere while the question was open.
func TestNotNowIsTrue(t *testing.T) {
	for now, want := range map[string]string{
		`false`: "/ws is not trusted, so the agent did not begin – send the prompt again to be asked again, or run: cursord trust /ws",
		`true`:  "the agent did not begin, because nobody allowed it here, although /ws was trusted elsewhere meanwhile – send the prompt again to have it begin",
	} {
		e := edits(t)
		e.answersItself("turn/start")
		e.sends(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`)
		e.tells(rpc.AppendResponse(nil, e.request("turn/start").ID, nil, &rpc.Error{
			Code: -32020, Message: "no", Data: rpc.ErrorData{Kind: api.KindWorkspaceUntrusted, Path: "/ws"},
		}))
		e.replies(e.request("workspace/trust"), `{"workspace":"/ws","trusted":false}`)
		e.answers(e.asked("session/request_permission"), `"result":{"outcome":{"outcome":"selected","optionId":"deny"}}`)
		look := e.request("workspace/trust")
		require.Contains(t, string(look.Params), `"dryRun":true`)
		e.replies(look, `{"workspace":"/ws","trusted":`+now+`}`)
		var got rpc.Error
		require.NoError(t, json.Unmarshal(e.hears("the end", func(m rpc.Message) bool { return m.IsResponse() && string(m.ID) == "3" }).Error, &got))
		require.Equal(t, want, got.Message)
	}
}

package acp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/rpc"
)

// TestTooLarge: a prompt over the limit is an error of the client, which is told what to do; a folder over the limit for copies is none.
func TestTooLarge(t *testing.T) {
	e := &rpc.Error{Code: -32021, Message: "the prompt has 9 bytes; the limit is 8", Data: rpc.ErrorData{Kind: api.KindTooLarge, Field: "prompt", Hint: "name files by path"}}
	got := failure(e, "session/prompt")
	require.Equal(t, rpc.CodeInvalidParams, got.Code)
	require.Equal(t, "the prompt has 9 bytes; the limit is 8 – name files by path", got.Message)
	e.Data.Field = ""
	require.Equal(t, rpc.CodeInternal, failure(e, "session/prompt").Code)
}

// TestMethodsOfTheDaemonAreNotNamed: an editor knows the methods of ACP, and a person the commands.
func TestMethodsOfTheDaemonAreNotNamed(t *testing.T) {
	e := edits(t)
	died := func(method string) {
		e.answersItself(method)
		e.tells(rpc.AppendResponse(nil, e.request(method).ID, nil, &rpc.Error{
			Code: rpc.CodeUnavailable, Message: rpc.EndedBefore + method, Data: rpc.ErrorData{Kind: api.KindUnavailable, Hint: "look whether it has taken effect before you try again"},
		}))
	}
	e.request("session/create")
	e.answersItself("session/create")
	e.sends(`{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/ws"}}`)
	died("session/create")
	answer := e.hears("the answer", func(m rpc.Message) bool { return string(m.ID) == "3" })
	require.Contains(t, string(answer.Error), `"the daemon ended before it answered session/new – look whether`)

	e.sends(`{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"/undo"}]}}`)
	died("diff/undo")
	said := e.hears("the answer", func(m rpc.Message) bool { return strings.Contains(string(m.Params), "agent_message_chunk") })
	require.Contains(t, string(said.Params), "the daemon ended before it answered /undo – look whether")
}

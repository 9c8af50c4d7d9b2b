package acp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

const loads = `{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"cwd":"/ws","sessionId":"s"}}`

// answered returns the next answers that the editor gets.
func (e *editor) answered(n int) (list []rpc.Message) {
	for range n {
		list = append(list, e.hears("an answer", func(m rpc.Message) bool { return m.IsResponse() }))
	}
	return list
}

// closed is an editor with a session that it has closed.
func closed(t *testing.T) *editor {
	e := edits(t)
	e.sends(`{"jsonrpc":"2.0","id":"closed","method":"session/close","params":{"sessionId":"s"}}`)
	e.answered(1)
	return e
}

// TestACloseWaitsForTheLoadBeforeIt: a close overtook the load of its session, which stayed open then.
func TestACloseWaitsForTheLoadBeforeIt(t *testing.T) {
	for name, e := range map[string]*editor{"not open": closed(t), "open": edits(t)} {
		t.Run(name, func(t *testing.T) {
			e.sends(loads)
			read := e.request("session/read")
			e.sends(`{"jsonrpc":"2.0","id":4,"method":"session/close","params":{"sessionId":"s"}}`)
			e.sends(`{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`)
			e.sends(`{"jsonrpc":"2.0","id":6,"method":"session/list"}`)
			require.Equal(t, "6", string(e.answered(1)[0].ID), "what is about no session waits for none")
			e.replies(read, canned["session/create"])
			e.replies(e.request("session/export"), `{"parts":[]}`)
			got := e.answered(3)
			require.Equal(t, []string{"3", "4", "5"}, []string{string(got[0].ID), string(got[1].ID), string(got[2].ID)})
			require.Nil(t, got[0].Error)
			require.Nil(t, got[1].Error)
			require.Contains(t, string(got[2].Error), "is not open here")
		})
	}
}

// TestAPromptWaitsForTheLoadBeforeIt: it was told that its session is not open.
func TestAPromptWaitsForTheLoadBeforeIt(t *testing.T) {
	e := closed(t)
	e.sends(strings.Replace(loads, "load", "resume", 1))
	read := e.request("session/read")
	e.sends(`{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`)
	e.replies(read, canned["session/create"])
	e.replies(e.request("session/read"), canned["session/create"])
	require.Contains(t, e.called("turn/start"), `"go"`)
	require.Nil(t, e.answered(1)[0].Error)
}

// TestWhatWaitsForALoadIsCancelled ends as it does while it runs.
func TestWhatWaitsForALoadIsCancelled(t *testing.T) {
	for _, by := range []string{`"session/cancel","params":{"sessionId":"s"}`, `"$/cancel_request","params":{"requestId":4}`} {
		e := closed(t)
		e.sends(loads)
		read := e.request("session/read")
		e.sends(`{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`)
		e.sends(`{"jsonrpc":"2.0","method":` + by + `}`)
		got := e.answered(1)[0]
		require.Equal(t, "4", string(got.ID))
		require.JSONEq(t, `{"stopReason":"cancelled"}`, string(got.Result))
		e.replies(read, canned["session/create"])
		e.replies(e.request("session/export"), `{"parts":[]}`)
		require.Equal(t, "3", string(e.answered(1)[0].ID))
	}
}

// TestALoadThatIsCancelledHoldsNothingUp: what came behind it is carried out at once.
func TestALoadThatIsCancelledHoldsNothingUp(t *testing.T) {
	e := edits(t)
	e.sends(loads)
	read := e.request("session/read")
	e.sends(`{"jsonrpc":"2.0","id":4,"method":"session/close","params":{"sessionId":"s"}}`)
	e.sends(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}`)
	got := e.answered(2)
	require.Equal(t, []string{"3", "4"}, []string{string(got[0].ID), string(got[1].ID)})
	require.Nil(t, got[1].Error)
	e.replies(read, canned["session/create"])
}

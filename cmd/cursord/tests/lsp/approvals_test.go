//go:build unix

package lsp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

// TestLSPApprovals: what the agent asks is a question of the editor with the whole command and a first answer that allows nothing.
// Closing it answers nothing; an answer elsewhere takes it back.
func TestLSPApprovals(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Plays(`{"fake":"shell","ask":true,"command":"echo one >>ran"}`, `{"fake":"shell","ask":true,"command":"echo two >>ran"}`)
	w.Start()
	e := w.Opens()
	c := lsp(w, world.LSPCapabilities(), nil)
	mark := c.mark() // the client closes questions without an answer
	c.does("cursord.ask", "do it")
	asked := c.hearsAfter(mark, "window/showMessageRequest", "echo one")
	var p struct{ Actions []struct{ Title string } }
	require.NoError(t, json.Unmarshal(asked.Params, &p))
	require.Equal(t, "Reject", p.Actions[0].Title)
	c.hearsAfter(mark, "window/showMessage", "cursord.approvals asks again")
	require.Equal(t, "(absent)", w.Get("ran"))
	c.answering(func(m rpc.Message) any {
		if m.Method == "window/showMessageRequest" && strings.Contains(string(m.Params), "echo one") {
			return world.Obj{"title": "Allow once"}
		}
		return nil
	})
	mark = c.mark()
	c.does("cursord.approvals")
	c.hearsAfter(mark, "window/showMessageRequest", "echo two")
	require.Equal(t, "one\n", w.Get("ran"))
	second := e.Until("the second question", func(n world.Notification) bool {
		return n.Approval != nil && n.Approval.Status == sessions.ApprovalPending && strings.Contains(n.Approval.Command, "two")
	}).Approval
	e.Must("approval/answer", world.Obj{"approvalId": second.ID, "optionId": "reject-once"}, nil)
	e.Ends(second.TurnID)
	mark = c.mark()
	c.does("cursord.approvals")
	c.hearsAfter(mark, "window/showMessage", "no agent asks anything")
	require.Equal(t, "one\n", w.Get("ran"))
}

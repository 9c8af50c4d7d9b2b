//go:build unix

package lsp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

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
	require.Equal(t, "Look again later", p.Actions[0].Title)
	require.Equal(t, "Reject", p.Actions[1].Title)
	require.Equal(t, "Only remind me", p.Actions[len(p.Actions)-1].Title)
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

// TestLSPAnswersAtAnyPlace: what the agent asks can be answered by a code action of any line, and a closed question is a diagnostic until
// then. The key for trust puts the question again: it says nothing of a folder that is trusted.
func TestLSPAnswersAtAnyPlace(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Put("f", "one\ntwo\n")
	w.Plays(`{"fake":"shell","ask":true,"command":"echo one >>ran"}`)
	w.Start()
	w.Opens()
	c := lsp(w, world.LSPCapabilities(), nil)
	d := c.opens("f")
	mark := c.mark()
	c.does("cursord.ask", "do it")
	c.hearsAfter(mark, "textDocument/publishDiagnostics", "the agent waits for your answer", "echo one")
	mark = c.mark()
	c.does("cursord.allow")
	c.hearsAfter(mark, "window/showMessageRequest", "echo one")
	c.hearsAfter(mark, "window/showMessage", "waits for the answer")
	for _, m := range c.all()[mark:] {
		require.NotContains(t, string(m.Params), "is trusted")
	}
	c.hears("$/progress", "waits for your answer")
	mark = c.mark()
	c.chooses(d.uri, 1, "Answer the agent: Allow once: $ echo one >>ran")
	c.hearsAfter(mark, "window/showMessage", "done")
	require.Equal(t, "one\n", w.Get("ran"))
	c.waitsForHunks("f", 0)
	for _, a := range c.actions(d.uri, 1, nil) {
		require.NotContains(t, a.Title, "the agent asks")
	}
}

// TestLSPQuestionsWaitWhileSomebodyTypes: a question comes only two seconds after the last change of a text.
func TestLSPQuestionsWaitWhileSomebodyTypes(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Put("f", "one\n")
	w.Plays(world.Waits("go"), `{"fake":"shell","ask":true,"command":"echo one >>ran"}`)
	w.Start()
	e := w.Opens()
	c := lsp(w, world.LSPCapabilities(), nil)
	d := c.opens("f")
	c.does("cursord.ask", "do it")
	began := time.Now()
	d.sets("one and more\n")
	c.does("cursord.status") // it has the change
	w.Put("../go", "")
	e.Until("the question", func(n world.Notification) bool {
		return n.Approval != nil && n.Approval.Status == sessions.ApprovalPending
	})
	c.hears("window/showMessageRequest", "echo one")
	require.GreaterOrEqual(t, time.Since(began), 2*time.Second)
}

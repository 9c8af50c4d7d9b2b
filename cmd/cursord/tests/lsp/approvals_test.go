//go:build unix

package lsp

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

// askingTwice is a world whose agent asks before each of two commands, with a client and an editor.
func askingTwice(t *testing.T) (*world.World, *world.Editor, *langClient) {
	t.Helper()
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Plays(`{"fake":"shell","ask":true,"command":"echo one >>ran"}`, `{"fake":"shell","ask":true,"command":"echo two >>ran"}`)
	w.Start()
	return w, w.Opens(), lsp(w, world.LSPCapabilities(), nil)
}

// TestLSPApprovals: what the agent asks is a question of the editor with the whole command and a first answer that allows nothing.
// Closing it answers nothing; an answer elsewhere takes it back.
func TestLSPApprovals(t *testing.T) {
	t.Parallel()
	w, e, c := askingTwice(t)
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
		require.NotContains(t, string(m.Params), "cursord: trusted")
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

// TestLSPLongQuestions: a question that is too long for a small popup is cut, and nothing can be allowed or chosen there. The code actions of
// the document with the whole of it have all answers.
func TestLSPLongQuestions(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Put("f", "one\n")
	w.Plays(
		`{"fake":"shell","ask":true,"command":"`+strings.Repeat(`true one of many\n`, 24)+`echo last >>ran"}`,
		`{"fake":"plan","text":"`+strings.Repeat(`1. a step\n`, 18)+`"}`,
		`{"fake":"question","text":"Which colour?","options":["Red","Blue"]}`,
	)
	w.Start()
	w.Opens()
	c := lsp(w, world.LSPCapabilities(), nil)
	f := c.opens("f")
	c.answering(func(m rpc.Message) any {
		switch {
		case m.Method != "window/showMessageRequest":
			return nil
		case strings.Contains(string(m.Params), "Which colour?"):
			return world.Obj{"title": "No answer"}
		}
		return world.Obj{"title": "Show the whole"}
	})
	for _, one := range []struct{ last, allow string }{{"echo last >>ran", "Answer the agent: Allow once: "}, {"1. a step\nA rejection with a text: cursord deny", "Answer the agent: Accept the plan: "}} {
		mark := c.mark()
		if one.last == "echo last >>ran" {
			c.does("cursord.ask", "do it")
		}
		var p struct {
			Message string
			Actions []struct{ Title string }
		}
		require.NoError(t, json.Unmarshal(c.hearsAfter(mark, "window/showMessageRequest", `Show the whole`).Params, &p))
		require.LessOrEqual(t, strings.Count(p.Message, "\n"), 7, p.Message)
		require.NotContains(t, p.Message, "cursord ")
		require.Len(t, p.Actions, 4)
		for _, a := range p.Actions {
			require.NotRegexp(t, "Allow|Accept|Always", a.Title)
		}
		uri, _ := c.shown(mark, "QUESTION.md")
		whole, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
		require.NoError(t, err)
		require.Contains(t, string(whole), one.last)
		has := func(at string) (title string) {
			for _, a := range c.actions(at, 0, nil) {
				if strings.HasPrefix(a.Title, one.allow) {
					title = a.Title
				}
			}
			return title
		}
		d := c.opensFile(uri, string(whole))
		require.Empty(t, has(f.uri), "nobody allows what they have not seen")
		title := has(uri)
		require.NotEmpty(t, title)
		d.sets("another text")
		require.Empty(t, has(uri))
		d.sets(string(whole))
		c.chooses(uri, 0, title)
		d.closes()
	}
	c.hears("window/showMessageRequest", "Which colour?", "No answer")
	c.hears("window/showMessage", "done")
	require.Equal(t, "last\n", w.Get("ran"))
}

// TestLSPAnsweredElsewhere: where an editor leaves the popup of an ended question open, an answer there says that it comes too late. The next
// question comes only then.
func TestLSPAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	w, e, c := askingTwice(t)
	c.answering(func(m rpc.Message) any {
		if m.Method == "window/showMessageRequest" {
			return unanswered
		}
		return nil
	})
	c.does("cursord.ask", "do it")
	first := c.hears("window/showMessageRequest", "echo one")
	_, stderr, status := w.Cursord("deny")
	require.Zero(t, status, stderr)
	e.Until("the second question", func(n world.Notification) bool {
		return n.Approval != nil && n.Approval.Status == sessions.ApprovalPending && strings.Contains(n.Approval.Command, "two")
	})
	c.hears("$/cancelRequest")
	for _, m := range c.all() {
		require.False(t, m.Method == "window/showMessageRequest" && strings.Contains(string(m.Params), "echo two"), "it would take the keys")
	}
	c.replies(first, world.Obj{"title": "Allow once"})
	c.hears("window/showMessage", `too late for \"Allow once\": it was already answered with Reject`)
	c.replies(c.hears("window/showMessageRequest", "echo two"), world.Obj{"title": "Reject"})
	c.hears("window/showMessage", "done")
	require.Equal(t, "(absent)", w.Get("ran"))
}

//go:build unix

package emacs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestEmacsApprovals: a question is shown below without the focus and in the mode line; keys in its buffer answer it, and a key for a
// question that has gone answers no other.
func TestEmacsApprovals(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("../config.toml", "driver = \"acp\"\nparallel_turns = 2\n")
		w.Plays(`{"fake":"shell","ask":true,"command":"echo one >>ran"}`, `{"fake":"shell","ask":true,"command":"echo two >>ran"}`,
			`{"fake":"question","text":"Which colour?","options":["Red","Blue"]}`, `{"fake":"shell","ask":true,"command":"echo three >>ran"}`)
		w.Start()
		c := w.Opens()
		e := emacsOpens(w, t, bin, "")
		before := e.eval(`(buffer-name (window-buffer))`)
		turn := c.Asks(world.Obj{"prompt": "begin"})
		asked := func(part string) *sessions.Approval {
			t.Helper()
			a := c.Until(part, func(m world.Notification) bool {
				return m.Approval != nil && m.Approval.Status == sessions.ApprovalPending && strings.Contains(m.Approval.Command+m.Approval.Title, part)
			}).Approval
			e.poll(part, func() bool { return strings.Contains(e.buffer("*cursord asks*"), part) })
			return a
		}
		answer := func(id string) string {
			t.Helper()
			return c.Until("the answer", func(m world.Notification) bool {
				return m.Approval != nil && m.Approval.ID == id && m.Approval.Status != sessions.ApprovalPending
			}).Approval.Answer.OptionID
		}
		one := asked("echo one >>ran")
		e.until("it is shown", `(and (get-buffer-window "*cursord asks*") t)`)
		require.Equal(t, before, e.eval(`(buffer-name (window-buffer))`), "it has not taken the focus")
		e.until("the mode line", `(and (string-search "asks you" (cursord-lighter)) t)`)
		require.Equal(t, "Read the question, and answer it here", // elsewhere it only selects the buffer
			e.eval(`(condition-case err (progn (call-interactively 'cursord-approve) nil) (user-error (error-message-string err)))`))
		require.Equal(t, "(absent)", w.Get("ran"))
		e.until("the buffer", `(equal (buffer-name) "*cursord asks*")`)
		e.keys("y")
		require.Equal(t, "allow-once", answer(one.ID))
		two := asked("echo two >>ran")
		other := c.Asks(world.Obj{"prompt": "beside it"})
		c.Until("a second question", func(m world.Notification) bool { return m.Approval != nil && m.Approval.TurnID == other.ID })
		e.poll("both", func() bool { return strings.Contains(e.buffer("*cursord asks*"), "echo one >>ran") })
		e.command("cursord-approvals")
		e.eval(`(progn (goto-char (point-min)) (search-forward "echo two") nil)`)
		c.Must("approval/answer", world.Obj{"approvalId": two.ID, "optionId": "reject-once"}, nil)
		e.poll("it is gone", func() bool { return !strings.Contains(e.buffer("*cursord asks*"), "echo two >>ran") })
		require.Equal(t, "No agent asks anything here", e.eval(`(condition-case err (progn (execute-kbd-macro (kbd "y")) nil) (user-error (error-message-string err)))`),
			"the key was for the question that has gone")
		c.Must("turn/cancel", world.Obj{"turnId": other.ID}, nil)
		c.Ends(other.ID)
		require.Equal(t, "reject-once", answer(two.ID))
		question := asked("Which colour?")
		e.eval(`(progn (select-window (get-buffer-window %q)) nil)`, before)
		e.command("cursord-next-attention") // what waits for the person
		e.until("the buffer again", `(equal (buffer-name) "*cursord asks*")`)
		require.Contains(t, e.messages(), "cursord: the agent asks: Which colour?; M-x cursord-approvals answers")
		e.eval(`(progn (goto-char (point-min)) (search-forward "2 Blue") nil)`)
		e.keys("RET")
		require.Equal(t, "o2", answer(question.ID))
		three := asked("echo three >>ran")
		c.Must("approval/answer", world.Obj{"approvalId": three.ID, "optionId": "reject-once"}, nil)
		e.until("it goes away", `(not (get-buffer-window "*cursord asks*"))`)
		c.Ends(turn.ID)
		require.Equal(t, "one\n", w.Get("ran"))
	})
}

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
		require.Equal(t, "Point is at no question: TAB goes to the next one", e.eval(`(condition-case err (progn (execute-kbd-macro (kbd "y")) nil) (user-error (error-message-string err)))`),
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

// aQuestion has an agent ask about a command in an Emacs in a terminal, which shows the file f beside what else is to be shown.
func aQuestion(t *testing.T, bin string, script ...string) (*world.World, *world.Editor, *emacs, *world.Tmux) {
	t.Helper()
	w := world.New(t)
	w.Put("../config.toml", "driver = \"acp\"\n")
	w.Put("f", "one\n")
	w.Put("g", "two\n")
	w.Plays(script...)
	w.Start()
	w.Trusts()
	c := w.Opens()
	e, tm := terminalEmacs(w, t, bin, "(cursord-mode)")
	e.eval(`(progn (find-file %q) (cursord-workspace-open) nil)`, w.Path("f"))
	e.until("the subscription", `(cursord-workspace-ready (cursord-workspace-find))`)
	return w, c, e, tm
}

// TestEmacsApprovalElsewhereKeepsTheFocus: a question that is answered elsewhere goes away, and what a person types goes where it went.
func TestEmacsApprovalElsewhereKeepsTheFocus(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		ask := `{"fake":"shell","ask":true,"command":"echo `
		w, c, e, tm := aQuestion(t, bin, ask+`one"}`, `{"fake":"wait","path":"{{cwd}}/../go"}`, ask+`two"}`)
		turn := c.Asks(world.Obj{"prompt": "begin"})
		asked := func(part string) *sessions.Approval {
			t.Helper()
			a := c.Until(part, func(m world.Notification) bool {
				return m.Approval != nil && m.Approval.Status == sessions.ApprovalPending && strings.Contains(m.Approval.Command, part)
			}).Approval
			e.until("it is shown", `(get-buffer-window "*cursord asks*")`)
			return a
		}
		one := asked("echo one")
		tm.Types("M-x", "f", "o", "o")
		e.until("the minibuffer", `(and (minibufferp (window-buffer)) (equal "foo" (with-current-buffer (window-buffer) (minibuffer-contents))))`)
		c.Must("approval/answer", world.Obj{"approvalId": one.ID, "optionId": "allow-once"}, nil)
		e.until("it goes away", `(not (get-buffer-window "*cursord asks*"))`)
		tm.Types("b", "a", "r")
		e.until("what was typed", `(equal "foobar" (with-current-buffer (window-buffer) (and (minibufferp) (minibuffer-contents))))`)
		require.Equal(t, "one\n", e.buffer("f"))
		e.poll("the minibuffer to end", func() bool { // the quit may end a question of the test instead
			tm.Types("C-g")
			out, err := e.ask("(minibufferp (window-buffer))")
			return err == nil && strings.TrimSpace(out) == "nil"
		})
		w.Put("../go", "")
		two := asked("echo two") // while f was selected
		e.eval(`(progn (select-window (split-window)) (find-file %q) nil)`, w.Path("g"))
		told := `(not (null (string-search "the agent asks: echo two" (or (current-message) ""))))`
		e.until("the echo area tells of it", told)
		c.Must("approval/answer", world.Obj{"approvalId": two.ID, "optionId": "allow-once"}, nil)
		e.until("it goes away", `(not (get-buffer-window "*cursord asks*"))`)
		e.until("the echo area tells of it no more", `(not `+told+`)`)
		c.Ends(turn.ID)
		require.Equal(t, "g", e.eval(`(buffer-name)`))
		e.quiet()
	})
}

// TestEmacsApprovalsInARow: whoever has answered one question is still in its buffer when the next one comes; the keys are at the
// answers that they give, and only those that give one.
func TestEmacsApprovalsInARow(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w, c, e, tm := aQuestion(t, bin, `{"fake":"shell","ask":true,"command":"echo one >>ran"}`, `{"fake":"shell","ask":true,"command":"echo two >>ran"}`)
		turn := c.Asks(world.Obj{"prompt": "begin"})
		e.poll("the question", func() bool { return strings.Contains(e.buffer("*cursord asks*"), "echo one") })
		require.Regexp(t, `1 Allow once \(y\)\n2 Allow always\n3 Always in this folder, .* \(a\)\n4 Reject \(n\)\n`, e.buffer("*cursord asks*"))
		require.Equal(t, false, e.eval(`(or (with-current-buffer "*cursord asks*" (or (buffer-modified-p) (string-search "a text" header-line-format))) :json-false)`))
		e.command("cursord-approvals")
		e.eval(`(setq cursord--approval-reading 3600)`)
		tm.Types("y")
		e.poll("the next one", func() bool { return strings.Contains(e.buffer("*cursord asks*"), "echo two") })
		require.Equal(t, "*cursord asks*", e.eval(`(buffer-name)`))
		tm.Types("y") // at once: nobody has read it
		untilScreen(tm, e, `has just come: read it`)
		// A key that is held does not answer, however long: each press begins the time anew.
		ago := func(seconds int) {
			e.eval(`(with-current-buffer "*cursord asks*" (message nil) (setcar cursord--approval-came (time-subtract (car cursord--approval-came) %d)) nil)`, seconds)
		}
		for range 3 {
			ago(3000)
			tm.Types("y")
			untilScreen(tm, e, `has just come: read it`)
		}
		e.eval(`(progn (setq cursord--approval-reading 0) nil)`)
		tm.Types("y")
		c.Ends(turn.ID)
		e.until("back in the file", `(equal (buffer-name) "f")`)
		require.Equal(t, "one\n", e.buffer("f"))
		require.Equal(t, "one\ntwo\n", w.Get("ran"))
		e.quiet()
	})
}

// TestEmacsDeclines: "n" ends a question that offers no such answer, and a text for a plan is said to be a no.
func TestEmacsDeclines(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		_, c, e, tm := aQuestion(t, bin, `{"fake":"question","text":"Which colour?","options":["Red","Blue"]}`,
			`{"fake":"plan","text":"# Paint\n\nPaint it."}`, `{"fake":"say","text":"over"}`)
		e.eval(`(setq cursord--approval-reading 0)`)
		turn := c.Asks(world.Obj{"prompt": "begin"})
		answered := func(part string) sessions.ApprovalAnswer {
			t.Helper()
			return *c.Until(part, func(m world.Notification) bool {
				return m.Approval != nil && m.Approval.Status == sessions.ApprovalAnswered && strings.Contains(m.Approval.Title+m.Approval.Detail, part)
			}).Approval.Answer
		}
		e.poll("the question", func() bool { return strings.Contains(e.buffer("*cursord asks*"), "Which colour?") })
		e.command("cursord-approvals")
		require.Contains(t, e.buffer("*cursord asks*"), "1 Red\n2 Blue\nn no answer: the agent goes on without one\n")
		untilScreen(tm, e, `(?m)^ *n no answer  RET the answer at point`)
		tm.Types("n")
		require.Equal(t, sessions.ApprovalAnswer{OptionID: "cursord:none"}, answered("Which colour?"))
		e.poll("the plan", func() bool { return strings.Contains(e.buffer("*cursord asks*"), "Paint it.") })
		require.Contains(t, e.buffer("*cursord asks*"), "1 Accept the plan (y)\n2 Reject the plan (n)\nt a no, with a text of yours\n\n")
		tm.Types("t")
		untilScreen(tm, e, `(?m)^Reject the plan, and say:$`)
		tm.Types("not yet", "Enter")
		require.Equal(t, sessions.ApprovalAnswer{OptionID: "reject", Text: "not yet"}, answered("Paint it."))
		c.Ends(turn.ID)
		e.quiet()
	})
}

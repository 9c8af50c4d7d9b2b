//go:build unix

package approvals

import (
	"bufio"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestRunAtATerminal: "cursord run" asks at its terminal and takes only a clear answer; what was typed before does not count.
func TestRunAtATerminal(t *testing.T) {
	t.Parallel()
	w := asking(t, "", `{"fake":"wait","path":"../go"}`, runs, `{"fake":"question","text":"Which colour?","options":["Red","Blue"]}`, `{"fake":"say","text":"over"}`)
	e := w.Opens()
	tm := w.Terminal(t)
	tm.Types("cursord run 'do it'", "Enter")
	e.Until("the turn", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Status == sessions.TurnRunning })
	tm.Types("y", "Enter") // before there is a question
	w.Put("../go", "")
	a := asked(e)
	tm.Shows("The agent asks for permission")
	tm.Shows("  echo ran >>ran")
	tm.Shows("Type a letter and press Enter. Ctrl-C cancels the turn.\n  y Allow once\n  n Reject\n  a Always in this folder, exactly this command\n  e other answers")
	tm.Types("Enter", "sure", "Enter")
	tm.Shows("That is none of the answers.")
	tm.Types("Escape", "Enter")
	tm.Shows("Escape and arrow keys answer nothing.")
	require.Len(t, pending(e), 1)
	notRun(w)
	tm.Types("e", "Enter")
	tm.Shows("2 Allow always")
	notRun(w)
	tm.Answers("y", "Enter")
	require.Equal(t, "allow-once", ended(e, a.ID).Answer.OptionID)
	tm.Shows("answered: Allow once")
	tm.Shows("The agent asks: Which colour?")
	require.Equal(t, "ran\n", w.Get("ran"))
	w.CursordOK("approve", pending(e)[0].ID, "1") // somebody else answers
	tm.Shows("answered: Red")
	tm.Shows("over")
	tm.Until("$")
}

// TestAnswersInAWindowThatShrinks makes the window small while a question is open. Enter shows the question again, also its command, which has
// left the screen; no key is lost, and none answers by itself.
func TestAnswersInAWindowThatShrinks(t *testing.T) {
	t.Parallel()
	resizes := func(tm *world.Tmux, columns, rows string) {
		t.Helper()
		out, err := tm.Command("resize-window", "-x", columns, "-y", rows).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	t.Run("run", func(t *testing.T) {
		t.Parallel()
		w, e, tm, a := askedAtTerminal(t, "cursord run 'do it'")
		tm.Types("e")
		resizes(tm, "40", "10")
		tm.Types("Enter")
		tm.Shows("  4 Reject")
		require.NotContains(t, tm.Screen(), "echo ran >>ran")
		tm.Types("Enter")
		tm.Shows("  echo ran >>ran")
		tm.Types("y")
		resizes(tm, "20", "3")
		resizes(tm, "60", "24")
		require.Len(t, pending(e), 1)
		notRun(w)
		tm.AnswersAgain([]string{"Enter"}, []string{"y", "Enter"})
		require.Equal(t, "allow-once", ended(e, a.ID).Answer.OptionID)
		tm.Until("$")
	})
	t.Run("chat", func(t *testing.T) {
		t.Parallel()
		w := asking(t, "", runs, `{"fake":"say","text":"over"}`)
		e := w.Opens()
		tm := chats(t, w)
		tm.Types("do it", "Enter")
		a := asked(e)
		tm.Shows("e other answers")
		tm.Types("-l", "no, I would rather have")
		for _, size := range [][2]string{{"40", "24"}, {"20", "6"}, {"10", "2"}, {"20", "10"}} {
			resizes(tm, size[0], size[1])
		}
		tm.Until("\n> no, I would\n  rather have")
		tm.Types("C-u", "n")
		tm.Until("\n> n")
		resizes(tm, "90", "24")
		tm.Until("\n> n")
		require.Len(t, pending(e), 1)
		tm.AnswersAgain([]string{"Enter"}, []string{"n", "Enter"})
		require.Equal(t, "reject-once", ended(e, a.ID).Answer.OptionID)
		tm.Shows("over")
		notRun(w)
		tm.Types("/quit", "Enter")
		tm.Until("$")
	})
}

// TestRunWithoutATerminal answers nothing, and says on stderr how to answer; so does a run that prints JSON.
func TestRunWithoutATerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"run", "do it"}, {"run", "--quiet", "--output-format", "json", "do it"}, {"run", "--json", "do it"}} {
		w := asking(t, "", runs)
		e := w.Opens()
		cmd := w.Command(args...)
		cmd.Stdin = strings.NewReader("y\ny\n")
		var out, errOut strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errOut
		require.NoError(t, cmd.Start())
		a := asked(e)
		require.Len(t, pending(e), 1)
		notRun(w)
		w.CursordOK("deny", a.ID)
		require.NoError(t, cmd.Wait(), errOut.String())
		require.Contains(t, errOut.String(), "echo ran >>ran")
		require.Contains(t, errOut.String(), "answer with: cursord approve "+a.ID[:6]+", or cursord deny "+a.ID[:6])
		notRun(w)
		if args[1] == "--json" {
			require.Contains(t, out.String(), `"method":"approval/changed"`)
		}
	}
}

// TestRunAsksNobody: "cursord run --approvals deny" waits for nobody.
func TestRunAsksNobody(t *testing.T) {
	t.Parallel()
	w := asking(t, "", runs, `{"fake":"say","text":"over"}`)
	w.Opens()
	_, errOut, status := w.Cursord("run", "--approvals", "deny", "do it")
	require.Zero(t, status, errOut)
	require.Contains(t, errOut, "Denied without asking")
	notRun(w)
	_, errOut, status = w.Cursord("run", "--approvals", "never", "do it")
	require.Equal(t, 2, status, errOut)
}

// TestChat: the chat shows the question; y answers it only if the line was begun after it came.
func TestChat(t *testing.T) {
	t.Parallel()
	w := asking(t, "", `{"fake":"wait","path":"../go"}`, runs, `{"fake":"say","text":"over"}`)
	e := w.Opens()
	tm := chats(t, w)
	tm.Types("do it", "Enter")
	e.Until("the turn", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Status == sessions.TurnRunning })
	tm.Types("y") // a prompt that is being written
	tm.Shows("> y")
	w.Put("../go", "")
	a := asked(e)
	tm.Shows("  y Allow once")
	tm.Shows("  echo ran >>ran")
	tm.Types("Enter")
	tm.Shows("queued: y")
	require.Len(t, pending(e), 1)
	notRun(w)
	tm.Answers("y", "Enter")
	require.Equal(t, "allow-once", ended(e, a.ID).Answer.OptionID)
	tm.Shows("answered: Allow once")
	b := e.Until("the next question", func(n world.Notification) bool {
		return n.Approval != nil && n.Approval.ID != a.ID && n.Approval.Status == sessions.ApprovalPending
	}).Approval
	tm.Shows("> y")
	tm.Answers("/deny", "Enter")
	require.Equal(t, "reject-once", ended(e, b.ID).Answer.OptionID)
	tm.Shows("answered: Reject")
	tm.Types("/approve", "Enter")
	tm.Shows("no agent asks anything here")
	require.Equal(t, "ran\n", w.Get("ran"))
	tm.Types("/quit", "Enter")
	tm.Until("$")
}

// TestChatLateAnswer: a line that was begun as the answer to a question is no prompt when somebody else has answered meanwhile.
func TestChatLateAnswer(t *testing.T) {
	t.Parallel()
	w := asking(t, "", runs)
	e := w.Opens()
	tm := chats(t, w)
	tm.Types("do it", "Enter")
	a := asked(e)
	tm.Shows("  y Allow once")
	tm.Types("y")
	tm.Shows("> y")
	_, stderr, status := w.Cursord("deny", a.ID)
	require.Zero(t, status, stderr)
	tm.Shows("answered: Reject")
	tm.Types("Enter")
	tm.Shows("that question has ended: y was not sent")
	stdout, stderr, status := w.Cursord("wait", "@1")
	require.Zero(t, status, stderr)
	require.NotContains(t, stdout, "> y")
	var list struct{ Turns []sessions.Turn }
	e.Must("session/read", world.Obj{"sessionId": a.SessionID}, &list)
	require.Len(t, list.Turns, 1)
	tm.Types("/quit", "Enter")
	tm.Until("$")
}

// TestChatMistypedAnswer: a line that was meant as an answer and is none is no prompt; a prompt that waits can be taken back.
func TestChatMistypedAnswer(t *testing.T) {
	t.Parallel()
	w := asking(t, "", `{"fake":"question","text":"Which colour?","options":["Red","Blue","Green"]}`, `{"fake":"say","text":"over"}`)
	e := w.Opens()
	tm := chats(t, w)
	tm.Types("do it", "Enter")
	a := asked(e)
	tm.Shows("  3 Green")
	tm.Types("4", "Enter")
	tm.Shows("That is none of the answers.")
	require.NotContains(t, tm.Screen(), "queued")
	tm.Types("and then paint", "Enter")
	tm.Shows("queued: and then paint")
	tm.Types("/cancel @1", "Enter")
	tm.Poll("the prompt taken back", func() bool { return !strings.Contains(tm.Screen(), "queued: and then paint") })
	tm.Answers("3", "Enter")
	require.Equal(t, "o3", ended(e, a.ID).Answer.OptionID)
	require.Equal(t, sessions.TurnCompleted, e.Ends(a.TurnID).Status)
	var list struct{ Turns []sessions.Turn }
	e.Must("session/read", world.Obj{"sessionId": a.SessionID}, &list)
	require.Len(t, list.Turns, 2)
	require.Equal(t, sessions.TurnCancelled, list.Turns[1].Status)
	tm.Types("/cancel @1", "Enter")
	tm.Shows("has ended already")
	tm.Types("/quit", "Enter")
	tm.Until("$")

	// A terminal that cannot be drawn on takes answers by commands alone.
	tm.Types("clear; TERM=dumb cursord chat", "Enter")
	tm.Shows("A line is a prompt")
	tm.Types("again", "Enter")
	b := e.Until("the question", func(n world.Notification) bool {
		return n.Approval != nil && n.Approval.ID != a.ID && n.Approval.Status == sessions.ApprovalPending
	}).Approval
	tm.Shows("answer with: /approve, /deny")
	tm.Types("2", "Enter")
	tm.Shows("The agent asks you: answer with /approve or /deny. 2 was not sent.")
	tm.Types("/approve 2", "Enter")
	require.Equal(t, "o2", ended(e, b.ID).Answer.OptionID)
	require.Equal(t, sessions.TurnCompleted, e.Ends(b.TurnID).Status)
	tm.Types("/quit", "Enter")
}

// TestChatBeginsAtAQuestion: a chat that begins while the agent asks shows the question below the turn.
func TestChatBeginsAtAQuestion(t *testing.T) {
	t.Parallel()
	w := asking(t, "", `{"fake":"say","text":"before it"}`, runs)
	e := w.Opens()
	tm := w.Terminal(t)
	e.Must("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it"}, nil)
	asked(e)
	tm.Types("cursord chat", "Enter")
	tm.Poll("the question", func() bool {
		return strings.Contains(tm.Screen(), "y Allow once") && strings.Contains(tm.Screen(), "> do it")
	})
	screen := tm.Screen()
	require.Less(t, strings.Index(screen, "> do it"), strings.Index(screen, "y Allow once"), screen)
	require.Less(t, strings.Index(screen, "before it"), strings.Index(screen, "y Allow once"), screen)
	tm.Answers("n", "Enter")
	tm.Types("/quit", "Enter")
}

// TestWait: "cursord wait" says what its turn asks and how to answer, also what was asked before; at a terminal it takes the answer, and
// Ctrl-C ends the wait alone.
func TestWait(t *testing.T) {
	t.Parallel()
	w := asking(t, "", runs, `{"fake":"question","text":"Which colour?","options":["Red","Blue"]}`, runs, `{"fake":"say","text":"over"}`)
	e := w.Opens()
	turn := e.Asks(world.Obj{"prompt": "run it"})
	a := asked(e)

	tm := w.Terminal(t)
	tm.Types("cursord wait", "Enter")
	tm.Shows("Type a letter and press Enter. Ctrl-C ends the wait, not the turn.")
	tm.Answers("y", "Enter")
	require.Equal(t, "allow-once", ended(e, a.ID).Answer.OptionID)
	tm.Shows("The agent asks: Which colour?")
	tm.Shows("  n no answer; the agent goes on without one")
	require.Equal(t, "ran\n", w.Get("ran"))
	tm.Types("C-c")
	tm.Until("$")
	require.Len(t, pending(e), 1)

	for _, args := range [][]string{{"wait", turn.ID}, {"wait", "--json"}} {
		cmd := w.Command(args...)
		cmd.Stdin = strings.NewReader("n\n")
		errs, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(errs)
		until := func(part string) {
			t.Helper()
			for lines.Scan() {
				if strings.Contains(lines.Text(), part) {
					return
				}
			}
			t.Fatalf("%q did not come", part)
		}
		until("cursord deny " + pending(e)[0].ID[:3])
		if args[1] == turn.ID {
			w.CursordOK("approve", pending(e)[0].ID, "2")
			until("answered: Blue")
			until("echo ran >>ran")
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
			continue
		}
		w.CursordOK("deny")
		for lines.Scan() {
		}
		require.NoError(t, cmd.Wait())
	}
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	require.Equal(t, "ran\n", w.Get("ran"), "a command ran that nobody allowed")
}

// TestCtrlC: at a question of "cursord run" it cancels the turn, and the command does not run.
func TestCtrlC(t *testing.T) {
	t.Parallel()
	w, e, tm, a := askedAtTerminal(t, "cursord run 'do it'; echo status $?")
	tm.Types("C-c")
	require.Equal(t, sessions.ApprovalWithdrawn, ended(e, a.ID).Status)
	tm.Shows("status 130")
	require.Equal(t, sessions.TurnCancelled, e.Ends(a.TurnID).Status)
	notRun(w)
}

// TestPlanAtATerminal: "cursord run" shows a plan once, as what the agent says, and asks below it; "cursord approvals" has its text.
func TestPlanAtATerminal(t *testing.T) {
	t.Parallel()
	w := asking(t, "", `{"fake":"plan","text":"# Paint\n\nPaint the fence."}`, `{"fake":"say","text":"over"}`)
	e := w.Opens()
	tm := w.Terminal(t)
	tm.Types("clear; cursord run 'plan it'", "Enter")
	a := asked(e)
	tm.Shows("y Accept the plan")
	require.Equal(t, 1, strings.Count(tm.Screen(), "Paint the fence."), tm.Screen())
	require.Contains(t, tm.Screen(), "The agent has a plan: Plan")
	require.Contains(t, w.CursordOK("approvals"), "Paint the fence.")
	tm.Answers("y", "Enter")
	require.Equal(t, sessions.ApprovalAnswered, ended(e, a.ID).Status)
	tm.Until("$")
}

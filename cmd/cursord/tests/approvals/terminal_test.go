//go:build unix

package approvals

import (
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
	shows := func(part string) {
		t.Helper()
		tm.Poll(part, func() bool { return strings.Contains(tm.Screen(), part) })
	}
	tm.Types("cursord run 'do it'", "Enter")
	e.Until("the turn", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Status == sessions.TurnRunning })
	tm.Types("y", "Enter") // before there is a question
	w.Put("../go", "")
	a := asked(e)
	shows("The agent asks for permission")
	shows("  echo ran >>ran")
	shows("y Allow once · n Reject · a Always in this folder, also with more arguments · e")
	tm.Types("Enter", "sure", "Enter")
	shows("that is none of the answers")
	require.Len(t, pending(e), 1)
	notRun(w)
	tm.Types("e", "Enter")
	shows("2 Allow always")
	notRun(w)
	tm.Types("y", "Enter")
	require.Equal(t, "allow-once", ended(e, a.ID).Answer.OptionID)
	shows("answered: Allow once")
	shows("The agent asks: Which colour?")
	require.Equal(t, "ran\n", w.Get("ran"))
	w.CursordOK("approve", pending(e)[0].ID, "1") // somebody else answers
	shows("answered: Red")
	shows("over")
	tm.Until("$")
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
	tm := w.Terminal(t)
	shows := func(part string) {
		t.Helper()
		tm.Poll(part, func() bool { return strings.Contains(tm.Screen(), part) })
	}
	tm.Types("cursord chat", "Enter")
	shows("Enter sends")
	tm.Types("do it", "Enter")
	e.Until("the turn", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Status == sessions.TurnRunning })
	tm.Types("y") // a prompt that is being written
	shows("> y")
	w.Put("../go", "")
	a := asked(e)
	shows("y Allow once · n Reject")
	shows("  echo ran >>ran")
	tm.Types("Enter")
	shows("queued: y")
	require.Len(t, pending(e), 1)
	notRun(w)
	tm.Types("y", "Enter")
	require.Equal(t, "allow-once", ended(e, a.ID).Answer.OptionID)
	shows("answered: Allow once")
	b := e.Until("the next question", func(n world.Notification) bool {
		return n.Approval != nil && n.Approval.ID != a.ID && n.Approval.Status == sessions.ApprovalPending
	}).Approval
	shows("> y")
	tm.Types("/deny", "Enter")
	require.Equal(t, "reject-once", ended(e, b.ID).Answer.OptionID)
	shows("answered: Reject")
	tm.Types("/approve", "Enter")
	shows("no agent asks anything here")
	require.Equal(t, "ran\n", w.Get("ran"))
	tm.Types("/quit", "Enter")
	tm.Until("$")
}

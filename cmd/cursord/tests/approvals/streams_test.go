//go:build unix

package approvals

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestRunWithStreamsElsewhere: a pipe in place of the keyboard, or a file in place of the screen, takes no question away from who is at the
// terminal, and what the agent said before the question stands on a line of its own.
func TestRunWithStreamsElsewhere(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"a pipe to stdin": "echo log | cursord run 'do it'", "no stdin": "cursord run 'do it' </dev/null", "stderr in a file": "cursord run 'do it' 2>../err",
		"both": "echo log | cursord run 'do it' 2>../err", "the answer in a file": "echo log | cursord run 'do it' >../out", "quiet": "cursord run --quiet 'do it'",
		"no screen": "cursord run 'do it' >../out 2>../err", "wait": "cursord run --background 'do it' >../id; echo | cursord wait 2>../err",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := asking(t, "", `{"fake":"say","text":"I run it."}`, runs, `{"fake":"say","text":"over"}`)
			e := w.Opens()
			tm := w.Terminal(t)
			tm.Types("clear; "+line, "Enter")
			a := asked(e)
			tm.Shows("e other answers")
			require.Contains(t, "\n"+tm.Screen(), "\nThe agent asks for permission")
			require.Contains(t, tm.Screen(), "\n  echo ran >>ran")
			require.NotContains(t, tm.Screen(), "cursord approve")
			tm.Answers("y", "Enter")
			require.Equal(t, "allow-once", ended(e, a.ID).Answer.OptionID)
			require.Equal(t, sessions.TurnCompleted, e.Ends(a.TurnID).Status)
			tm.Until("$")
		})
	}
}

// TestRunsBesideEachOther: of two commands in the foreground one asks at the terminal, so that no answer goes to the other's question.
func TestRunsBesideEachOther(t *testing.T) {
	t.Parallel()
	w := asking(t, "", runs)
	e := w.Opens()
	tm := w.Terminal(t)
	const one = "cursord run --isolation copy 'do it' </dev/null"
	tm.Types("sh -c \""+one+" & "+one+"; wait\"", "Enter")
	tm.Poll("two questions", func() bool { return strings.Count(tm.Screen(), "asks for permission") == 2 })
	require.Equal(t, 1, strings.Count(tm.Screen(), "e other answers"), tm.Screen())
	require.Equal(t, 1, strings.Count(tm.Screen(), "answer with: cursord approve"), tm.Screen())
	for _, a := range pending(e) {
		w.CursordOK("deny", a.ID)
	}
	tm.Until("$")
}

// TestAnsweredWhileTyping: what a person has begun to type does not stand before how somebody else answered, nor reach the next program.
func TestAnsweredWhileTyping(t *testing.T) {
	t.Parallel()
	w, e, tm, a := askedAtTerminal(t, "cursord run 'do it'")
	tm.Types("yy")
	tm.Poll("the keys", func() bool { return strings.HasSuffix(tm.Screen(), "\nyy") })
	w.CursordOK("deny", a.ID)
	tm.Shows("\nanswered: Reject\n")
	require.NotContains(t, tm.Screen(), "yy")
	require.Equal(t, sessions.TurnCompleted, e.Ends(a.TurnID).Status)
	tm.Until("\n$")
}

// TestAttemptsSayWhoAsks: a question of "cursord run --attempts" names the attempt, and so does its status, there and in the list.
func TestAttemptsSayWhoAsks(t *testing.T) {
	t.Parallel()
	w := asking(t, "", runs)
	e := w.Opens()
	tm := w.Terminal(t)
	tm.Types("cursord run --attempts 2 'do it'", "Enter")
	for range 2 {
		e.Until("a question", func(n world.Notification) bool {
			return n.Approval != nil && n.Approval.Status == sessions.ApprovalPending
		})
	}
	tm.Poll("both wait", func() bool { return strings.Count(tm.Screen(), ": waits for your answer") == 2 })
	require.Regexp(t, `\nAttempt [12] asks for permission:`, tm.Screen())
	require.Equal(t, 2, strings.Count(w.CursordOK("attempts"), "asks you"))
	for _, a := range pending(e) {
		w.CursordOK("deny", a.ID)
	}
	tm.Shows("drop the rest")
}

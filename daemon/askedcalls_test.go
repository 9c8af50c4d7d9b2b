package daemon

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/daemon/internal/approvals"
	"cursord/sessions"
)

// TestACallHasItsPlaceFromItsQuestion: its item is stored with the question, behind what was said before it and in front of what is said later,
// and is the item of the call whatever becomes of it.
func TestACallHasItsPlaceFromItsQuestion(t *testing.T) {
	t.Parallel()
	call := agent.Call{ID: "c1", Name: "shell", RawName: "shell", Title: "make", Command: "make"}
	req := run("1", "make")
	req.CallID, req.Call = call.ID, &call
	for name, c := range map[string]struct {
		answer string // "": the agent takes its question back
		events []agent.Event
		want   sessions.ItemStatus
	}{
		"allowed":   {"once", []agent.Event{agent.ToolStart{Call: call}, agent.ToolEnd{Call: call, State: agent.CallCompleted}}, sessions.ItemCompleted},
		"refused":   {"no", []agent.Event{agent.ToolEnd{Call: call, State: agent.CallRejected}}, sessions.ItemRejected},
		"withdrawn": {"", []agent.Event{agent.ApprovalWithdrawn{ID: "1"}, agent.ToolEnd{Call: call, State: agent.CallRejected}}, sessions.ItemRejected},
		"no end":    {"once", []agent.Event{agent.ToolStart{Call: call}}, sessions.ItemCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openSpace(t, nil)
			a := asks(t, w)
			w.says(a.turn, agent.Text{Text: "before "})
			p := a.asks(req)
			require.Equal(t, sessions.ItemID(a.turn.turn.ID, 1), p.ItemID)
			asked, err := w.d.store.Item(p.ItemID)
			require.NoError(t, err)
			require.Equal(t, sessions.ItemRunning, asked.Status)
			require.Equal(t, "make", asked.Tool.Command)
			require.Equal(t, p.CreatedAt, asked.StartedAt, "by that a start after a crash knows that the call has not begun")
			w.says(a.turn, agent.Text{Text: "after"})
			if c.answer != "" {
				_, err := w.d.AnswerApproval(p.ID, c.answer, "")
				require.NoError(t, err)
				a.answered("1")
			}
			w.says(a.turn, c.events...)
			w.sendEvents(turnEvents{turn: a.turn, outcome: &agent.Outcome{Status: agent.Cancelled}})
			w.ended(t)
			_, items, _, err := w.d.store.Transcript(a.turn.turn.SessionID, "", 0)
			require.NoError(t, err)
			require.Len(t, items, 3)
			require.Equal(t, []string{"before ", "", "after"}, []string{items[0].Text, items[1].Text, items[2].Text})
			require.Equal(t, c.want, items[1].Status)
		})
	}
}

// TestAnAllowedCallBeginsWithItsAnswer: what a person saves while the agent asks is not the call's, also if the daemon is killed after the answer.
func TestAnAllowedCallBeginsWithItsAnswer(t *testing.T) {
	t.Parallel()
	w := openSpace(t, nil)
	a := asks(t, w)
	req := run("1", "make")
	req.CallID, req.Call = "c1", &agent.Call{ID: "c1", Name: "shell", RawName: "shell", Title: "make", Command: "make"}
	p := a.asks(req)
	asked, err := w.d.store.Item(p.ItemID)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return sessions.Now().After(asked.StartedAt.Time) }, patience, 1)
	_, err = w.d.AnswerApproval(p.ID, "once", "")
	require.NoError(t, err)
	begun, err := w.d.store.Item(p.ItemID)
	require.NoError(t, err)
	require.Equal(t, sessions.ItemRunning, begun.Status)
	require.True(t, begun.StartedAt.After(asked.StartedAt.Time))
	w.ends(a.turn)
	w.ended(t)
}

// TestADeniedCallHasItsPlaceFromItsQuestion: a call that is denied without a question, and the notice of it, stand between what was said before and
// what is said later, as clients got them.
func TestADeniedCallHasItsPlaceFromItsQuestion(t *testing.T) {
	t.Parallel()
	noOptions, long := run("1", "make"), run("1", strings.Repeat("x", approvals.MaxCommand+1))
	noOptions.Options = nil
	for name, req := range map[string]agent.ApprovalRequested{"no options": noOptions, "a long command": long} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openSpace(t, nil)
			a := asks(t, w)
			call := agent.Call{ID: "c1", Name: "shell", RawName: "shell", Title: "make", Command: req.Command}
			req.CallID, req.Call = call.ID, &call
			w.says(a.turn, agent.Text{Text: "before "}, req)
			a.answered("1")
			require.Empty(t, a.pending())
			asked, err := w.d.store.Item(sessions.ItemID(a.turn.turn.ID, 1))
			require.NoError(t, err)
			require.Equal(t, sessions.ItemRunning, asked.Status)
			w.says(a.turn, agent.Text{Text: "after"}, agent.ToolEnd{Call: call, State: agent.CallRejected})
			w.ends(a.turn)
			w.ended(t)
			_, items, _, err := w.d.store.Transcript(a.turn.turn.SessionID, "", 0)
			require.NoError(t, err)
			require.Len(t, items, 4)
			require.Equal(t, "before ", items[0].Text)
			require.Equal(t, sessions.ItemRejected, items[1].Status)
			require.Contains(t, items[2].Text, "Denied without asking")
			require.Equal(t, "after", items[3].Text)
		})
	}
}

// TestANoticeStandsBetweenTheTextAroundIt: the transcript has it where clients got it.
func TestANoticeStandsBetweenTheTextAroundIt(t *testing.T) {
	t.Parallel()
	w := openSpace(t, nil)
	a := asks(t, w)
	w.says(a.turn, agent.Text{Text: "before"}, agent.Notice{Text: "notice"}, agent.Text{Text: "after"}, agent.Thinking{Text: "so"}, agent.Notice{Text: "another"}, agent.Thinking{Text: "then"})
	w.ends(a.turn)
	w.ended(t)
	_, items, _, err := w.d.store.Transcript(a.turn.turn.SessionID, "", 0)
	require.NoError(t, err)
	var texts []string
	for _, it := range items {
		texts = append(texts, it.Text)
	}
	require.Equal(t, []string{"before", "notice", "after", "so", "another", "then"}, texts)
}

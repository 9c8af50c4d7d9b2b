package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
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

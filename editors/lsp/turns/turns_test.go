package turns

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestEnded: what the agent said is told only of a turn that is complete, and its latest words count before the result.
func TestEnded(t *testing.T) {
	t.Parallel()
	result := "It is done.\nReally."
	for _, one := range []struct {
		turn             sessions.Turn
		said, how, words string
	}{
		{sessions.Turn{Status: sessions.TurnCompleted, Result: &result}, "", "done", " · It is done.…"},
		{sessions.Turn{Status: sessions.TurnCompleted, Result: &result}, "Fine.", "done", " · Fine."},
		{sessions.Turn{Status: sessions.TurnCompleted}, "", "done", ""},
		{sessions.Turn{Status: sessions.TurnCancelled, Result: &result}, "Fine.", "cancelled", ""},
		{sessions.Turn{Status: sessions.TurnFailed}, "Fine.", "failed", ""},
		{sessions.Turn{Status: sessions.TurnFailed, Error: &sessions.TurnError{Message: " no\n", Hint: "log in"}}, "", "failed: no – log in", ""},
		{sessions.Turn{Status: sessions.TurnInterrupted}, "", "interrupted: the daemon ended", ""},
	} {
		how, words := Ended(&one.turn, one.said)
		require.Equal(t, one.how, how)
		require.Equal(t, one.words, words)
	}
}

package attempts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// TestProgress has a line for each change of an attempt, knows a check from its first notification on, and is over with the last one.
func TestProgress(t *testing.T) {
	t.Parallel()
	turn := func(id, session string, status sessions.TurnStatus, check bool) *sessions.Turn {
		return &sessions.Turn{ID: id, SessionID: session, Status: status, Check: check, Prompt: "make\x1b[2J"}
	}
	var out strings.Builder
	b := newProgress(&out, []*sessions.Turn{turn("t1", "s1", sessions.TurnQueued, false), turn("t2", "s2", sessions.TurnQueued, false)})
	update := func(of *sessions.Turn) bool { return b.update(note{Turn: of}) }
	require.True(t, update(turn("t1", "s1", sessions.TurnRunning, false)))
	require.False(t, update(turn("t3", "s3", sessions.TurnRunning, false)), "another session's")
	require.False(t, update(turn("t4", "s1", sessions.TurnRunning, false)), "a later prompt of the session")
	waits := turn("t1", "s1", sessions.TurnRunning, false)
	waits.Waiting = true
	require.True(t, update(waits))
	require.Equal(t, "Attempt 2", b.asks(&sessions.Approval{SessionID: "s2"}))
	require.True(t, update(turn("t1", "s1", sessions.TurnRunning, false)))
	require.True(t, b.update(note{Item: &sessions.Item{SessionID: "s1", Tool: &sessions.Tool{Title: "Edit a"}}}))
	require.True(t, update(turn("c1", "s1", sessions.TurnQueued, true)))
	require.True(t, update(turn("t1", "s1", sessions.TurnCompleted, false)))
	failed := turn("t2", "s2", sessions.TurnFailed, false)
	failed.Error = &sessions.TurnError{Kind: "usageLimit"}
	require.True(t, update(failed))
	require.Equal(t, []string{"c1"}, b.active())
	require.True(t, update(turn("c1", "s1", sessions.TurnFailed, true)))
	require.True(t, b.over())
	b.end()
	update(turn("c1", "s1", sessions.TurnCompleted, true))
	require.Equal(t, `attempt 1: queued
attempt 2: queued
attempt 1: running
attempt 1: waits for your answer
attempt 1: running
attempt 1: checking: make␛[2J
attempt 2: failed: usage limit
attempt 1: completed; check failed
`, out.String())
	require.Equal(t, sessions.TurnFailed, b.turn("t2").Status)
}

// TestWords has each way in which an attempt and its check can stand.
func TestWords(t *testing.T) {
	t.Parallel()
	two := 2
	for want, c := range map[string]*api.AttemptCheck{
		"-": nil, "passed": {Status: sessions.TurnCompleted}, "passed, stale": {Status: sessions.TurnCompleted, Stale: true},
		"exit code 2": {Status: sessions.TurnFailed, ExitCode: &two}, "failed": {Status: sessions.TurnFailed}, "running": {Status: sessions.TurnRunning},
		"interrupted": {Status: sessions.TurnInterrupted},
	} {
		require.Equal(t, want, checkOf(c))
	}
	require.Equal(t, "nothing to review", lines(api.AttemptState{}))
	require.Equal(t, "+2 -1", lines(api.AttemptState{Hunks: 1, Added: 2, Removed: 1}))
	require.Equal(t, "+2 -1, 1 beside yours", lines(api.AttemptState{Hunks: 1, Added: 2, Removed: 1, Beside: 1}))
	require.Error(t, CheckNumber(0))
	require.Error(t, CheckNumber(Most+1))
	require.NoError(t, CheckNumber(Most))
}

package ask

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/view"
	"cursord/rpc"
	"cursord/sessions"
)

// TestResult has one way in which a command ends for each way in which a turn does.
func TestResult(t *testing.T) {
	t.Parallel()
	require.NoError(t, Result(&sessions.Turn{Status: sessions.TurnCompleted}))
	cancelled := CancelledError{}
	require.ErrorAs(t, Result(&sessions.Turn{Status: sessions.TurnCancelled}), &cancelled)
	require.NoError(t, cancelled.Cause)

	e := (*rpc.Error)(nil)
	began := sessions.Now()
	require.ErrorAs(t, Result(&sessions.Turn{Status: sessions.TurnInterrupted, SessionID: "S", StartedAt: &began}), &e)
	require.Equal(t, "the daemon stopped while the turn ran", e.Message)
	require.Equal(t, "go on with: cursord run --session S …", e.Data.Hint)
	require.ErrorAs(t, Result(&sessions.Turn{Status: sessions.TurnInterrupted, SessionID: "S", Prompt: "fix it"}), &e)
	require.Equal(t, "the daemon stopped before the turn began", e.Message, "it was queued")
	require.Equal(t, "send it again with: cursord run --session S 'fix it'", e.Data.Hint)
	require.ErrorAs(t, Result(&sessions.Turn{Status: sessions.TurnInterrupted, SessionID: "S", Prompt: "two\nlines"}), &e)
	require.Equal(t, "send it again with: cursord run --session S …", e.Data.Hint)
	require.EqualError(t, Result(&sessions.Turn{Status: sessions.TurnFailed}), "the turn failed")
	failed := &sessions.Turn{Status: sessions.TurnFailed, Error: &sessions.TurnError{Message: "no\x1b[2J", Hint: "try"}}
	require.ErrorAs(t, Result(failed), &e)
	require.NotContains(t, e.Message, "\x1b")
	require.Equal(t, "try", e.Data.Hint)
}

// TestStallGivesUp waits for a daemon that can store nothing, less long once the turn is cancelled, and not at all for one that
// says something.
func TestStallGivesUp(t *testing.T) {
	t.Parallel()
	begin := func() *stall { return newStall(nil, view.NewFollower("t", nil, nil)) }
	s := begin()
	require.NoError(t, s.answered(""))
	require.NoError(t, s.answered("no space left"), "it has only just begun")
	require.False(t, s.since.IsZero())
	s.since = time.Now().Add(-stallPatience)
	e := (*rpc.Error)(nil)
	require.ErrorAs(t, s.answered("no space left"), &e)
	require.Equal(t, "nothing was heard of the turn for 20s, and the database takes no changes: no space left", e.Message)
	require.NoError(t, s.answered(""), "it stores again")
	require.True(t, s.since.IsZero())

	s = begin()
	s.grace, s.since = true, time.Now().Add(-stallGrace)
	require.ErrorContains(t, s.answered("no space left"), "the turn was cancelled, and the database takes no changes")

	s = begin()
	s.since = time.Now().Add(-stallPatience)
	s.f.News.Add(1)
	require.NoError(t, s.answered("no space left"), "something was heard meanwhile")
	require.True(t, s.since.IsZero())
}

// TestCancelledError leads to why the end was not awaited.
func TestCancelledError(t *testing.T) {
	t.Parallel()
	cause := errors.New("the disk is full")
	require.ErrorIs(t, CancelledError{cause}, cause)
}

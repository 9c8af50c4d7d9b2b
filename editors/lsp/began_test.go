package lsp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
	"cursord/sessions"
)

// TestATurnIsToldBeforeItsAnswer: the notification of a turn that opens a session may come before the answer to its start, when a daemon
// was lost. A command that the editor gives then is about the session.
func TestATurnIsToldBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	s, p := &Server{}, &prompt{params: rpc.TurnStartParams{TurnID: "t"}}
	w := &workspace{opening: p, fresh: true}
	w.began(&sessions.Turn{ID: "another", SessionID: "another"})
	require.Empty(t, s.nextSession(w))
	w.began(&sessions.Turn{ID: "t", SessionID: "s"})
	require.Equal(t, "s", s.nextSession(w))
	require.False(t, w.fresh)
}

// TestAPromptIsSentBeforeItsAnswer: a prompt that was denied is not offered again once another one is sent, whose turn may end before the
// answer to its start is handled.
func TestAPromptIsSentBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.w.unsent = "denied"
	p := &prompt{workspace: d.w, params: rpc.TurnStartParams{TurnID: "t", Prompt: "sent"}}
	d.startTurn(p)
	require.Empty(t, d.w.unsent)
	d.drop(p)
	require.Equal(t, "sent", d.w.unsent)
}

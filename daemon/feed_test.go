package daemon

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/params"
	"cursord/sessions"
)

// patience bounds every wait of these tests; no test waits for its end.
const patience = 30 * time.Second

// openSpace returns a workspace with its loop. commit, unless nil, is called before each commit, which fails with its error.
func openSpace(t *testing.T, commit func() error) *workspace {
	t.Helper()
	o := Options{StateDir: t.TempDir(), Config: config.Default()}
	if commit != nil {
		o.fault = func(Step) error { return commit() }
	}
	d, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	root, err := params.Root(t.TempDir())
	require.NoError(t, err)
	w, err := d.workspaceAt(root)
	require.NoError(t, err)
	return w
}

// in runs f in the loop.
func (w *workspace) in(t *testing.T, f func()) {
	t.Helper()
	require.NoError(t, w.call(f))
}

// settled waits until all submitted changes are stored and published.
func (w *workspace) settled(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() (idle bool) {
		w.in(t, func() { idle = w.published == w.seq && len(w.events) == 0 })
		return idle
	}, patience, time.Millisecond)
}

// ended is settled for a time when each turn has been told of its end, which may wait for the store.
func (w *workspace) ended(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() (ended bool) {
		w.in(t, func() { ended = len(w.turns) == 0 })
		return ended
	}, patience, time.Millisecond)
	w.settled(t)
}

// aTurn begins a turn whose agent is the test.
func (w *workspace) aTurn(t *testing.T) *liveTurn {
	t.Helper()
	var lt *liveTurn
	w.in(t, func() {
		s, err := w.newSession(api.SessionParams{})
		require.NoError(t, err)
		ls := &liveSession{session: s, turns: 1, running: true}
		w.sessions[s.ID] = ls
		turn := &sessions.Turn{
			ID: newID(), SessionID: s.ID, Workspace: w.root, Prompt: "p", Mode: sessions.ModeAgent,
			Status: sessions.TurnRunning, CreatedAt: sessions.Now(), StartedAt: now(),
		}
		lt = &liveTurn{session: ls, turn: turn, openCalls: map[string][]openCall{}}
		lt.ctx, lt.cancel = context.WithCancelCause(context.Background())
		w.turns[turn.ID] = lt
		w.d.unfinished.Add(1)
		var c commit
		w.putSession(&c, ls, s)
		w.put(&c, turn, nil)
		w.submit(&c)
	})
	t.Cleanup(func() { // of a failed test
		w.in(t, func() {
			if !lt.status().Final() {
				w.turnSaid(turnEvents{turn: lt, outcome: &agent.Outcome{Status: agent.Cancelled}})
			}
		})
	})
	return lt
}

// says passes events of the agent to the turn; ends ends the turn.
func (w *workspace) says(t *liveTurn, events ...agent.Event) {
	w.sendEvents(turnEvents{turn: t, events: events})
}

func (w *workspace) ends(t *liveTurn) {
	w.sendEvents(turnEvents{turn: t, outcome: &agent.Outcome{Status: agent.Completed}})
}

// A commitGate blocks commits while it is closed, and makes them fail while it has an error.
type commitGate struct {
	shut atomic.Pointer[chan struct{}]
	fail atomic.Pointer[error]
}

func (g *commitGate) commit() error {
	if c := g.shut.Load(); c != nil {
		<-*c
	}
	if err := g.fail.Load(); err != nil {
		return *err
	}
	return nil
}

// close blocks commits until the returned function is called.
func (g *commitGate) close() (open func()) {
	c := make(chan struct{})
	g.shut.Store(&c)
	return func() {
		g.shut.Store(nil)
		close(c)
	}
}

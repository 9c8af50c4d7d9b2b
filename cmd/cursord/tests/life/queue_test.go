//go:build unix

package life

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestQueue tests which turns run side by side and which wait.
func TestQueue(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	w.Plays(world.InitLine, `{"fake":"wait","path":"go-{{prompt}}"}`, world.Succeeds("Done."))
	status := func(id string) sessions.TurnStatus {
		var out struct{ Turn *sessions.Turn }
		var page struct{ Turns []*sessions.Turn }
		for _, n := range slices.Backward(e.All()) {
			if n.Turn != nil && n.Turn.ID == id {
				return n.Turn.Status
			}
		}
		e.Must("session/read", world.Obj{"sessionId": id}, &page)
		return out.Turn.Status
	}
	runs := func(id string) {
		e.Until(id+" to run", func(n world.Notification) bool {
			return n.Turn != nil && n.Turn.ID == id && n.Turn.Status == sessions.TurnRunning
		})
	}
	ask := func(id string, params world.Obj) *sessions.Turn {
		params["turnId"], params["prompt"] = id, id
		turn := e.Asks(params)
		e.Until(id, func(n world.Notification) bool { return n.Turn != nil && n.Turn.ID == id })
		return turn
	}
	state := func(id string) (s sessions.SessionState) {
		var page struct{ Session *sessions.Session }
		e.Must("session/read", world.Obj{"sessionId": id}, &page)
		return page.Session.State
	}
	a := ask("a", world.Obj{})
	runs("a")
	b := ask("b", world.Obj{})                                   // another session, which waits for the workspace
	ask("c", world.Obj{"mode": "ask"})                           // runs beside a
	ask("d", world.Obj{"mode": "plan"})                          // runs beside a
	ask("e", world.Obj{"mode": "ask", "sessionId": a.SessionID}) // waits for its session
	ask("f", world.Obj{"mode": "ask", "sessionId": b.SessionID}) // waits for b
	runs("c")
	runs("d")
	for _, id := range []string{"b", "e", "f"} {
		require.Equal(t, sessions.TurnQueued, status(id), id)
	}
	require.Equal(t, sessions.SessionRunning, state(a.SessionID))
	require.Equal(t, sessions.SessionQueued, state(b.SessionID))
	var daemonStatus struct {
		Clients, Workspaces int
		Turns               struct{ Running, Queued int }
		MemoryBytes         int
		Socket, Database    string
	}
	e.Must("daemon/status", world.Obj{}, &daemonStatus)
	require.Equal(t, 3, daemonStatus.Turns.Running)
	require.Equal(t, 3, daemonStatus.Turns.Queued)
	require.Equal(t, 1, daemonStatus.Workspaces)
	require.Equal(t, w.Socket(), daemonStatus.Socket)
	require.Positive(t, daemonStatus.MemoryBytes)
	for _, id := range []string{a.SessionID, b.SessionID} {
		require.Equal(t, -32002, e.Fails("session/delete", world.Obj{"sessionId": id}).Code)
	}
	var list struct {
		Workspaces []struct {
			Workspace         string
			Sessions, Running int
			Trusted           bool
		}
	}
	e.Must("workspace/list", world.Obj{}, &list)
	require.Len(t, list.Workspaces, 1)
	require.Equal(t, 4, list.Workspaces[0].Sessions)
	require.Equal(t, 3, list.Workspaces[0].Running)
	require.True(t, list.Workspaces[0].Trusted)

	// When a waiting turn is cancelled, the turn behind it starts.
	var cancelled struct{ Turn *sessions.Turn }
	e.Must("turn/cancel", world.Obj{"turnId": "b"}, &cancelled)
	require.Equal(t, sessions.TurnCancelled, cancelled.Turn.Status)
	runs("f")
	w.Put("go-a", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends("a").Status)
	runs("e")
	// A cancel of a running turn answers with the running turn, and then ends it.
	e.Must("turn/cancel", world.Obj{"turnId": "e"}, &cancelled)
	require.Equal(t, sessions.TurnRunning, cancelled.Turn.Status)
	require.Equal(t, sessions.TurnCancelled, e.Ends("e").Status)
	e.Must("turn/cancel", world.Obj{"turnId": "e"}, &cancelled)
	require.Equal(t, sessions.TurnCancelled, cancelled.Turn.Status)
	e.Must("turn/cancel", world.Obj{"turnId": "a"}, &cancelled)
	require.Equal(t, sessions.TurnCompleted, cancelled.Turn.Status)
	require.Equal(t, -32001, e.Fails("turn/cancel", world.Obj{"turnId": "none"}).Code)
	require.Equal(t, -32001, e.Fails("turn/wait", world.Obj{"turnId": "none"}).Code)
	for _, id := range []string{"c", "d", "f"} {
		w.Put("go-"+id, "")
		require.Equal(t, sessions.TurnCompleted, e.Ends(id).Status)
	}
	// A start with the same name and prompt returns the same turn; another prompt is an error.
	again := e.Asks(world.Obj{"turnId": "a", "prompt": "a"})
	require.Equal(t, sessions.TurnCompleted, again.Status)
	require.Equal(t, "turnId", e.Fails("turn/start", world.Obj{"workspace": w.Root, "turnId": "a", "prompt": "other"}).Data.Field)
	world.Audit(t, e.All())
	for _, run := range w.Runs() {
		require.NotEqual(t, "b", run.Prompt, "what was cancelled in the queue never ran")
	}
}

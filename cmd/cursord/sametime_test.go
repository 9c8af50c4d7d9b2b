package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/daemon/api"
	"cursord/sessions"
)

// folder makes a workspace beside the world's own, which it trusts.
func (e *editor) folder(name string) string {
	e.t.Helper()
	dir := filepath.Join(e.w.dir, name)
	require.NoError(e.t, os.Mkdir(dir, 0o755))
	e.must("workspace/trust", obj{"workspace": dir, "trusted": true}, nil)
	return dir
}

// TestOneTurnIDInTwoWorkspaces starts turns of the same name at the same moment in two workspaces: one is started, the
// other refused for its name, and no agent runs for it.
func TestOneTurnIDInTwoWorkspaces(t *testing.T) {
	t.Parallel()
	const rounds = 20
	w := newWorld(t)
	w.start()
	e := w.opens()
	workspaces := [2]string{w.ws, e.folder("other")}
	clients := [2]*editor{w.joins(), w.joins()}
	w.plays(initLine, succeeds(""))
	for i := range rounds {
		id := fmt.Sprintf("turn-%d", i)
		errs := make([]chan error, len(clients))
		for n, c := range clients {
			errs[n] = make(chan error, 1)
			go func() {
				errs[n] <- c.call("turn/start", obj{"workspace": workspaces[n], "prompt": "x", "turnId": id}, nil)
			}()
		}
		started := 0
		for n := range clients {
			err := <-errs[n]
			if err == nil {
				started++
				continue
			}
			require.ErrorContains(t, err, "turnId: another turn has this id")
		}
		require.Equal(t, 1, started)
		var done struct{ Turn *sessions.Turn }
		e.must("turn/wait", obj{"turnId": id}, &done)
		require.Equal(t, sessions.TurnCompleted, done.Turn.Status)
	}
	require.Len(t, w.runs(), rounds)
	// What was refused has left nothing behind, and a name is free for a call that could not begin.
	require.Len(t, e.sessionIDs(), rounds)
	require.Equal(t, -32001, e.fails("turn/start", obj{"workspace": w.ws, "prompt": "x", "turnId": "late", "sessionId": "none"}).Code)
	e.must("turn/start", obj{"workspace": workspaces[1], "prompt": "x", "turnId": "late"}, nil)
	e.must("turn/wait", obj{"turnId": "late"}, nil)
}

// TestTwoImportsOfOneSession imports a file twice at the same moment: it is there once, and whole.
func TestTwoImportsOfOneSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e := w.opens()
	workspaces := [2]string{w.ws, e.folder("other")}
	clients := [2]*editor{w.joins(), w.joins()}
	for i := range 10 {
		id := fmt.Sprintf("s%d", i)
		file := w.exported(id, time.Now(), 100)
		errs := make(chan error, len(clients))
		for n, c := range clients {
			go func() { errs <- c.call("session/import", obj{"path": file, "workspace": workspaces[n]}, nil) }()
		}
		first, second := <-errs, <-errs
		if first == nil {
			first, second = second, first
		}
		require.NoError(t, second)
		require.ErrorContains(t, first, "is here already")
		var read struct{ Items []*sessions.Item }
		e.must("session/read", obj{"sessionId": id}, &read)
		require.Len(t, read.Items, 1)
	}
}

// TestATurnAndAnImportOfOneName has a client name its turn as one in a file that is imported meanwhile, while the disk is
// slow: whichever comes first has the name.
func TestATurnAndAnImportOfOneName(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the turn", "the import"} {
		t.Run(first, func(t *testing.T) {
			w := newWorld(t)
			w.put("../commits", "")
			w.start(undertest.CommitFault + "=" + filepath.Join(w.dir, "commits"))
			e := w.opens()
			other := e.folder("other")
			w.plays(initLine, succeeds(""))
			file := w.exported("s", time.Now(), 100)
			calls := map[string]func() error{
				"the turn": func() error {
					return w.joins().call("turn/start", obj{"workspace": w.ws, "prompt": "mine", "turnId": "turn-s"}, nil)
				},
				"the import": func() error {
					return w.joins().call("session/import", obj{"path": file, "workspace": other}, nil)
				},
			}
			w.put("../commits", "500ms")
			begun := make(chan error, 1)
			go func() { begun <- calls[first]() }()
			require.Eventually(t, func() bool {
				var status api.Status
				e.must("daemon/status", nil, &status)
				return status.Storage.Waiting > 0
			}, patience, time.Millisecond)
			delete(calls, first)
			for second, call := range calls {
				require.ErrorContains(t, call(), "turn", second)
			}
			w.put("../commits", "")
			require.NoError(t, <-begun)
			var done struct{ Turn *sessions.Turn }
			e.must("turn/wait", obj{"turnId": "turn-s"}, &done)
			require.Equal(t, first == "the turn", done.Turn.Prompt == "mine")
		})
	}
}

// TestADecisionOnAnotherWorkspacesTurn names a turn that is not of the workspace, and changes nothing.
func TestADecisionOnAnotherWorkspacesTurn(t *testing.T) {
	t.Parallel()
	w, e := reviewing(t, "f", "a\n", "b\n")
	turn := e.turns()[0].ID
	other := e.folder("other")
	for _, method := range []string{"diff/accept", "diff/reject"} {
		for workspace, id := range map[string]string{w.ws: "none", other: turn} {
			failed := e.fails(method, obj{"workspace": workspace, "turnId": id})
			require.Equal(t, -32001, failed.Code, "%s in %s", method, workspace)
		}
	}
	w.requireTree(tree{"f": "b\n"})
	require.Equal(t, 1, e.decides("diff/reject", obj{"turnId": turn}).Applied)
	require.Zero(t, e.decides("diff/reject", obj{"turnId": turn}).Applied, "of which nothing is left")
}

// TestDiffsOfAnUnknownTurn has the lists of changes tell a turn that is not there from one without changes.
func TestDiffsOfAnUnknownTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e := w.opens()
	other := e.folder("other")
	w.plays(initLine, succeeds(""))
	turn := e.turn(nil)
	for _, method := range []string{"diff/list", "diff/unified"} {
		e.must(method, obj{"workspace": w.ws, "turnId": turn.ID}, nil)
		for workspace, id := range map[string]string{w.ws: "none", other: turn.ID} {
			failed := e.fails(method, obj{"workspace": workspace, "turnId": id})
			require.Equal(t, -32001, failed.Code, "%s in %s", method, workspace)
		}
	}
}

// TestLongestDeltaInterval subscribes with an interval in which no turn ends: the text of an item comes in one delta,
// before the item's end.
func TestLongestDeltaInterval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e, live := w.joins(), w.opens()
	e.must("workspace/subscribe", obj{"workspace": w.ws, "deltaInterval": math.MaxInt}, nil)
	w.plays(initLine, piece("one "), waits("go1"), piece("two "), waits("go2"), piece("three"), succeeds(""))
	turn := live.asks(nil)
	live.says("one ")
	w.put("../go1", "")
	live.says("two ")
	w.put("../go2", "")
	e.ends(turn.ID)
	require.Equal(t, []string{"one two three"}, e.said(turn.ID, sessions.ItemAssistant))
	deltas := 0
	for _, n := range e.all() {
		if n.Method == "item/delta" {
			deltas++
		}
	}
	require.Equal(t, 1, deltas)
}

//go:build unix

package wire

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// folder makes another workspace beside the world's own, and trusts it.
func folder(e *world.Editor, name string) string {
	e.T.Helper()
	dir := filepath.Join(e.World.Dir, name)
	require.NoError(e.T, os.Mkdir(dir, 0o755))
	e.Must("workspace/trust", world.Obj{"workspace": dir, "trusted": true}, nil)
	return dir
}

// TestOneTurnIDInTwoWorkspaces starts turns with the same id at the same moment in two workspaces. One starts; the other is
// refused because of its id, and no agent runs for it.
func TestOneTurnIDInTwoWorkspaces(t *testing.T) {
	t.Parallel()
	const rounds = 20
	w := world.New(t)
	w.Start()
	e := w.Opens()
	workspaces := [2]string{w.Root, folder(e, "other")}
	clients := [2]*world.Editor{w.Joins(), w.Joins()}
	w.Plays(world.InitLine, world.Succeeds(""))
	for i := range rounds {
		id := fmt.Sprintf("turn-%d", i)
		errs := make([]chan error, len(clients))
		for n, c := range clients {
			errs[n] = make(chan error, 1)
			go func() {
				errs[n] <- c.Call("turn/start", world.Obj{"workspace": workspaces[n], "prompt": "x", "turnId": id}, nil)
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
		e.Must("turn/wait", world.Obj{"turnId": id}, &done)
		require.Equal(t, sessions.TurnCompleted, done.Turn.Status)
	}
	require.Len(t, w.Runs(), rounds)
	// The refused turn leaves nothing behind, and an id stays free if its turn could not begin.
	require.Len(t, e.SessionIDs(), rounds)
	require.Equal(t, -32001, e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "x", "turnId": "late", "sessionId": "none"}).Code)
	e.Must("turn/start", world.Obj{"workspace": workspaces[1], "prompt": "x", "turnId": "late"}, nil)
	e.Must("turn/wait", world.Obj{"turnId": "late"}, nil)
}

// TestTwoImportsOfOneSession imports a file twice at the same moment: the session is there once, and whole.
func TestTwoImportsOfOneSession(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	workspaces := [2]string{w.Root, folder(e, "other")}
	clients := [2]*world.Editor{w.Joins(), w.Joins()}
	for i := range 10 {
		id := fmt.Sprintf("s%d", i)
		file := w.Exported(id, time.Now(), 100)
		errs := make(chan error, len(clients))
		for n, c := range clients {
			go func() { errs <- c.Call("session/import", world.Obj{"path": file, "workspace": workspaces[n]}, nil) }()
		}
		first, second := <-errs, <-errs
		if first == nil {
			first, second = second, first
		}
		require.NoError(t, second)
		require.ErrorContains(t, first, "exists already")
		var read struct{ Items []*sessions.Item }
		e.Must("session/read", world.Obj{"sessionId": id}, &read)
		require.Len(t, read.Items, 1)
	}
}

// TestATurnAndAnImportOfOneName starts a turn with the id of a turn in a file that is imported at the same time, on a slow
// disk. The first of the two calls gets the id.
func TestATurnAndAnImportOfOneName(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the turn", "the import"} {
		t.Run(first, func(t *testing.T) {
			w := world.New(t)
			w.Put("../commits", "")
			w.Start(undertest.CommitFault + "=" + filepath.Join(w.Dir, "commits"))
			e := w.Opens()
			other := folder(e, "other")
			w.Plays(world.InitLine, world.Succeeds(""))
			file := w.Exported("s", time.Now(), 100)
			calls := map[string]func() error{
				"the turn": func() error {
					return w.Joins().Call("turn/start", world.Obj{"workspace": w.Root, "prompt": "mine", "turnId": "turn-s"}, nil)
				},
				"the import": func() error {
					return w.Joins().Call("session/import", world.Obj{"path": file, "workspace": other}, nil)
				},
			}
			waiting := func() int {
				var status api.Status
				e.Must("daemon/status", nil, &status)
				return status.Storage.Waiting
			}
			// The daemon may still count an answered request.
			require.Eventually(t, func() bool { return waiting() == 0 }, world.Patience, time.Millisecond)
			w.Put("../commits", "500ms")
			begun := make(chan error, 1)
			go func() { begun <- calls[first]() }()
			require.Eventually(t, func() bool { return waiting() > 0 }, world.Patience, time.Millisecond)
			delete(calls, first)
			for second, call := range calls {
				require.ErrorContains(t, call(), "turn", second)
			}
			w.Put("../commits", "")
			require.NoError(t, <-begun)
			var done struct{ Turn *sessions.Turn }
			e.Must("turn/wait", world.Obj{"turnId": "turn-s"}, &done)
			require.Equal(t, first == "the turn", done.Turn.Prompt == "mine")
		})
	}
}

// TestADecisionOnAnotherWorkspacesTurn decides on a turn that is not in the workspace: an error, and no change.
func TestADecisionOnAnotherWorkspacesTurn(t *testing.T) {
	t.Parallel()
	w, e := world.Reviewing(t, "f", "a\n", "b\n")
	turn := e.Turns()[0].ID
	other := folder(e, "other")
	for _, method := range []string{"diff/accept", "diff/reject"} {
		for workspace, id := range map[string]string{w.Root: "none", other: turn} {
			failed := e.Fails(method, world.Obj{"workspace": workspace, "turnId": id})
			require.Equal(t, -32001, failed.Code, "%s in %s", method, workspace)
		}
	}
	w.RequireTree(world.Tree{"f": "b\n"})
	require.Equal(t, 1, e.Decides("diff/reject", world.Obj{"turnId": turn}).Applied)
	require.Zero(t, e.Decides("diff/reject", world.Obj{"turnId": turn}).Applied, "of which nothing is left")
}

// TestDiffsOfAnUnknownTurn: the lists of changes answer an unknown turn with an error, and a turn without changes with an
// empty list.
func TestDiffsOfAnUnknownTurn(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	other := folder(e, "other")
	w.Plays(world.InitLine, world.Succeeds(""))
	turn := e.Turn(nil)
	for _, method := range []string{"diff/list", "diff/unified"} {
		e.Must(method, world.Obj{"workspace": w.Root, "turnId": turn.ID}, nil)
		for workspace, id := range map[string]string{w.Root: "none", other: turn.ID} {
			failed := e.Fails(method, world.Obj{"workspace": workspace, "turnId": id})
			require.Equal(t, -32001, failed.Code, "%s in %s", method, workspace)
		}
	}
}

// TestLongestDeltaInterval subscribes with an interval that is longer than any turn: the text of an item comes in one delta,
// before the item's end.
func TestLongestDeltaInterval(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e, live := w.Joins(), w.Opens()
	e.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "deltaInterval": math.MaxInt}, nil)
	w.Plays(world.InitLine, world.Piece("one "), world.Waits("go1"), world.Piece("two "), world.Waits("go2"), world.Piece("three"), world.Succeeds(""))
	turn := live.Asks(nil)
	live.Says("one ")
	w.Put("../go1", "")
	live.Says("two ")
	w.Put("../go2", "")
	e.Ends(turn.ID)
	require.Equal(t, []string{"one two three"}, e.Said(turn.ID, sessions.ItemAssistant))
	deltas := 0
	for _, n := range e.All() {
		if n.Method == "item/delta" {
			deltas++
		}
	}
	require.Equal(t, 1, deltas)
}

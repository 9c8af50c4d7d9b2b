//go:build unix

package isolation

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

func TestIsolationThatCannotBe(t *testing.T) {
	bothKinds(t, testIsolationThatCannotBe)
}

func testIsolationThatCannotBe(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		w.Put(fmt.Sprint("d/", i), "x\n")
	}
	config := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "config.toml"), []byte(text), 0o644))
	}
	config("copy_files = 20")
	w.Start()
	e := w.Opens()
	for _, c := range []struct {
		params world.Obj
		field  string
	}{
		{world.Obj{"workspace": w.Root, "isolation": "maybe"}, "isolation"},
		{world.Obj{"workspace": w.Dir, "isolation": "copy"}, "isolation"}, // the home directory
		{world.Obj{"workspace": w.Root, "isolation": "copy", "agentSessionId": "abc"}, "agentSessionId"},
	} {
		err := e.Fails("session/create", c.params)
		require.EqualValues(t, -32602, err.Code)
		require.Equal(t, c.field, err.Data.Field, err.Message)
	}
	s := e.Isolates()
	if turn := e.Turn(world.Obj{"sessionId": s.ID}); !w.Overlays {
		require.Equal(t, sessions.TurnFailed, turn.Status)
		require.Equal(t, "tooLarge", turn.Error.Kind)
		require.Contains(t, turn.Error.Message, "20 files")
		require.Contains(t, turn.Error.Hint, "copy_files")
		require.Empty(t, w.Runs())
		require.NoDirExists(t, w.FolderOf(s))
	} else { // nothing is copied
		require.Equal(t, sessions.TurnCompleted, turn.Status)
		s = e.Isolates()
	}

	// A place that cannot be written.
	require.NoError(t, os.RemoveAll(filepath.Join(w.Dir, "state", "copies")))
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "state", "copies"), nil, 0o644))
	turn := e.Turn(world.Obj{"sessionId": s.ID})
	require.Equal(t, "storage", turn.Error.Kind)
	require.NotEmpty(t, turn.Error.Hint)
	require.NoError(t, os.Remove(filepath.Join(w.Dir, "state", "copies")))
	w.Stop()
	config("")
	w.Start()
	e = w.Opens()
	e.Ok(s)
}

// TestTurnStartHonoursIsolation: a turn that asks for a copy never writes the work tree. A turn that cannot have a copy does
// not begin.
func TestTurnStartHonoursIsolation(t *testing.T) {
	bothKinds(t, testTurnStartHonoursIsolation)
}

func testTurnStartHonoursIsolation(t *testing.T) {
	w := newWorld(t)
	w.Put("f", "a\n")
	w.Plays(world.Lines(world.Edits("1", "f", "a\n", "b\n"))...)
	w.Start()
	e := w.Opens()
	start := func(params world.Obj) (out rpc.TurnStartResult) {
		t.Helper()
		params["workspace"], params["prompt"] = w.Root, "do it"
		e.Must("turn/start", params, &out)
		e.Ends(out.Turn.ID)
		return out
	}
	refused := func(method, field string, params world.Obj) {
		t.Helper()
		before := len(w.Runs())
		err := e.Fails(method, params)
		require.EqualValues(t, -32602, err.Code)
		require.Equal(t, field, err.Data.Field, err.Message)
		require.NotEmpty(t, err.Data.Hint)
		require.Len(t, w.Runs(), before)
	}
	inCopy := start(world.Obj{"isolation": "copy", "turnId": "apart", "whatEver": true})
	require.Equal(t, "copy", inCopy.Session.Isolation)
	w.RequireTree(world.Tree{"f": "a\n"})
	require.True(t, e.Diffs()["f"].Hunks[0].Isolated)

	// The session's own value is accepted, also in a repeated request; no other value is.
	again := start(world.Obj{"isolation": "copy", "turnId": "apart"})
	require.Equal(t, inCopy.Session.ID, again.Session.ID)
	start(world.Obj{"isolation": "copy", "sessionId": inCopy.Session.ID})
	start(world.Obj{"isolation": nil, "sessionId": inCopy.Session.ID})
	w.RequireTree(world.Tree{"f": "a\n"})
	for _, params := range []world.Obj{{"turnId": "apart"}, {"sessionId": inCopy.Session.ID}} {
		params["workspace"], params["prompt"], params["isolation"] = w.Root, "do it", "none"
		refused("turn/start", "isolation", params)
	}
	refused("session/update", "isolation", world.Obj{"sessionId": inCopy.Session.ID, "isolation": "none"})
	e.Must("session/update", world.Obj{"sessionId": inCopy.Session.ID, "isolation": "copy", "title": "t"}, nil)
	for _, more := range []world.Obj{{"mode": "ask"}, {"force": true}} {
		params := world.Obj{"workspace": w.Root, "prompt": "do it", "turnId": "apart"}
		for k, v := range more {
			params[k] = v
		}
		require.Equal(t, "turnId", e.Fails("turn/start", params).Data.Field)
	}

	// A request for less isolation than the session has is accepted.
	require.Equal(t, "none", start(world.Obj{"isolation": "none", "driver": "print", "sandbox": nil, "force": false}).Session.Isolation)
	w.RequireTree(world.Tree{"f": "b\n"})
}

// TestIsolationBeforeTheFirstTurn: a session that has no turn may be put into a copy, and taken out again.
func TestIsolationBeforeTheFirstTurn(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "a\n")
	w.Plays(world.Writes("f", "b\n")...)
	w.Start()
	e := w.Opens()
	var made rpc.SessionResult
	e.Must("session/create", world.Obj{"workspace": w.Root}, &made)
	for _, isolation := range []string{"copy", "none", "copy"} {
		e.Must("session/update", world.Obj{"sessionId": made.Session.ID, "isolation": isolation}, &made)
		require.Equal(t, isolation, made.Session.Isolation)
	}
	require.Equal(t, "isolation", e.Fails("session/update", world.Obj{"sessionId": made.Session.ID, "isolation": "sideways"}).Data.Field)
	e.Turn(world.Obj{"sessionId": made.Session.ID})
	w.RequireTree(world.Tree{"f": "a\n"})
	require.Equal(t, "isolation", e.Fails("session/update", world.Obj{"sessionId": made.Session.ID, "isolation": "none"}).Data.Field)

	e.Must("session/create", world.Obj{"workspace": w.Root, "agentSessionId": "chat"}, &made)
	require.Equal(t, "isolation", e.Fails("session/update", world.Obj{"sessionId": made.Session.ID, "isolation": "copy"}).Data.Field, "its chat is of the folder")
}

func TestIsolationBySettings(t *testing.T) {
	bothKinds(t, testIsolationBySettings)
}

func testIsolationBySettings(t *testing.T) {
	w := newWorld(t)
	w.Put("f", "a\n")
	elsewhere := filepath.Join(w.Dir, "elsewhere")
	require.NoError(t, os.Mkdir(elsewhere, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "config.toml"), fmt.Appendf(nil, "isolation = \"copy\"\n[isolation_of]\n%q = \"none\"\n", elsewhere), 0o644))
	w.Plays(world.Lines(world.Edits("1", "f", "a\n", "b\n"))...)
	w.Start()
	e := w.Opens()
	isolation := func(params world.Obj) string {
		t.Helper()
		var out struct{ Session *sessions.Session }
		e.Must("session/create", params, &out)
		return out.Session.Isolation
	}
	require.Equal(t, "copy", isolation(world.Obj{"workspace": w.Root}))
	require.Equal(t, "none", isolation(world.Obj{"workspace": w.Root, "isolation": "none"}))
	require.Equal(t, "none", isolation(world.Obj{"workspace": w.Root, "agentSessionId": "chat"}))
	require.Equal(t, "none", isolation(world.Obj{"workspace": elsewhere}))
	require.Equal(t, "copy", isolation(world.Obj{"workspace": elsewhere, "isolation": "copy"}))
	e.Turn(nil)
	w.RequireTree(world.Tree{"f": "a\n"})
	require.True(t, e.Diffs()["f"].Hunks[0].Isolated)
}

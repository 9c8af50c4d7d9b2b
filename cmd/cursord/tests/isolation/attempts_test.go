//go:build unix

package isolation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// attempts begins so many attempts of a group. The agent of each runs a shell command with its number as $n.
func attempts(e *world.Editor, group string, of int, params world.Obj) (turns []*sessions.Turn) {
	for n := 1; n <= of; n++ {
		all := world.Obj{"prompt": fmt.Sprint(n), "attempt": world.Obj{"group": group, "number": n, "of": of}}
		for k, v := range params {
			all[k] = v
		}
		turns = append(turns, e.Asks(all))
	}
	return turns
}

// numbered makes the agent run a shell command with the prompt, which is the attempt's number, as $n, and say something.
func numbered(w *world.World, command string) {
	w.Plays(slices.Concat(world.Shells("1", `n="{{prompt}}"; `+command), []string{world.Says("Thinking.\n\nTook way {{prompt}}.", ""), world.Succeeds("Thinking.\n\nTook way {{prompt}}.")})...)
}

// listed returns the only group of attempts.
func listed(e *world.Editor) api.AttemptGroup {
	e.T.Helper()
	var list rpc.AttemptList
	e.Must("attempt/list", world.Obj{"workspace": e.World.Root}, &list)
	require.Len(e.T, list.Groups, 1)
	return list.Groups[0]
}

// checks waits for the end of a check of each attempt, and returns the turns by session.
func checks(e *world.Editor, of []*sessions.Turn) map[string]*sessions.Turn {
	e.T.Helper()
	ended := map[string]*sessions.Turn{}
	for _, t := range of {
		n := e.Until("the end of a check of "+t.SessionID, func(n world.Notification) bool {
			return n.Turn != nil && n.Turn.SessionID == t.SessionID && n.Turn.Check && n.Turn.Status.Final()
		})
		ended[t.SessionID] = n.Turn
	}
	return ended
}

func TestAttempts(t *testing.T) { bothKinds(t, testAttempts) }

// testAttempts has three agents work side by side, each of which waits for the others, checks what they made, and takes hunks of two.
func testAttempts(t *testing.T) {
	w := newWorld(t)
	w.PutAll(world.Tree{"f": world.Numbered(30, nil), "other": "o\n"})
	w.Commits()
	w.Put("../config.toml", `attempt_check = "cat way; echo checked > report; exit $(cat way)"`)
	numbered(w, `touch `+w.Dir+`/here$n; while ! [ -e `+w.Dir+`/here1 -a -e `+w.Dir+`/here2 -a -e `+w.Dir+`/here3 ]; do sleep 0.02; done
		ls > `+w.Dir+`/saw$n; sed -i "s/^line ${n}0\$/way $n/" f; echo $((n-1)) > way; touch only$n`)
	w.Start()
	e := w.Opens()
	turns := attempts(e, "g", 3, nil)
	for _, turn := range turns {
		require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	}
	ended := checks(e, turns)
	for n := range 3 {
		saw := w.Get(fmt.Sprintf("../saw%d", n+1))
		require.NotContains(t, saw, "only", "an agent's tree has nothing of another's")
		require.NotContains(t, saw, "report")
	}
	w.RequireTree(world.Tree{"f": world.Numbered(30, nil), "way": "(absent)", "report": "(absent)"})

	g := listed(e)
	require.Equal(t, []any{"g", 3, 3}, []any{g.Group, g.Of, len(g.Attempts)})
	for i, a := range g.Attempts {
		require.Equal(t, []any{i + 1, turns[i].SessionID, turns[i].ID, sessions.TurnCompleted}, []any{a.Number, a.SessionID, a.TurnID, a.Status})
		require.Equal(t, fmt.Sprintf("Took way %d.", i+1), a.Answer)
		require.Equal(t, []int{3, 3, 2, 1}, []int{a.Files, a.Hunks, a.Added, a.Removed}, "%+v", e.Diffs())
		c := a.Check
		require.Equal(t, []any{ended[a.SessionID].ID, fmt.Sprint(i), i, 1, false}, []any{c.TurnID, c.Output, *c.ExitCode, c.Hunks, c.Stale})
		if i == 0 {
			require.Equal(t, sessions.TurnCompleted, c.Status)
			require.Nil(t, c.Error)
		} else {
			require.Equal(t, sessions.TurnFailed, c.Status)
			require.Equal(t, "checkFailed", c.Error.Kind)
			require.Contains(t, c.Error.Message, fmt.Sprintf("exit code %d", i))
		}
	}

	// Hunks of two attempts in one tree.
	take := func(attempt int, path string) {
		var ids []string
		for _, h := range e.Diffs()[path].Hunks {
			if h.Sources[0].SessionID == turns[attempt-1].SessionID {
				ids = append(ids, h.ID)
			}
		}
		require.NotEmpty(t, ids)
		require.Empty(t, e.Decides("diff/accept", world.Obj{"hunks": ids}).Skipped)
	}
	take(1, "f")
	take(3, "f")
	take(3, "way")
	w.RequireTree(world.Tree{"f": world.Numbered(30, map[int]string{10: "way 1\n", 30: "way 3\n"}), "way": "2\n", "report": "(absent)", "only3": "(absent)"})
	g = listed(e)
	for i, want := range [][]int{{2, 1}, {3, 1}, {1, 0}} { // two have another content of "way" than what was accepted
		require.Equal(t, want, []int{g.Attempts[i].Files, g.Attempts[i].Beside}, "attempt %d: %+v", i+1, g)
	}

	// What a check has written goes by its turn.
	e.Decides("diff/reject", world.Obj{"turnId": g.Attempts[2].Check.TurnID})
	require.Zero(t, listed(e).Attempts[2].Check.Hunks)

	// The rest goes at once.
	var dropped rpc.AttemptDropResult
	require.Contains(t, e.Fails("attempt/drop", world.Obj{"workspace": w.Root, "group": "g", "keep": []string{"x"}}).Message, "keep")
	e.Must("attempt/drop", world.Obj{"workspace": w.Root, "group": "g", "keep": []string{turns[1].SessionID}}, &dropped)
	require.ElementsMatch(t, []string{turns[0].SessionID, turns[2].SessionID}, dropped.Dropped)
	require.Len(t, listed(e).Attempts, 1)
	for path, d := range e.Diffs() {
		for _, h := range d.Hunks {
			require.Equal(t, turns[1].SessionID, h.Sources[0].SessionID, path)
		}
	}
	e.Must("attempt/drop", world.Obj{"workspace": w.Root, "group": "g"}, &dropped)
	require.Equal(t, []string{turns[1].SessionID}, dropped.Dropped)
	require.Empty(t, e.Diffs())
	require.Contains(t, e.Fails("attempt/drop", world.Obj{"workspace": w.Root, "group": "g"}).Message, "no attempts")
}

func TestChecksOfAttempts(t *testing.T) { bothKinds(t, testChecksOfAttempts) }

// testChecksOfAttempts runs checks that hang, print much, are cancelled, leave processes, and are asked for again.
func testChecksOfAttempts(t *testing.T) {
	w := newWorld(t)
	w.Put("f", "f\n")
	w.Commits()
	config := func(command, more string) {
		w.Put("../config.toml", fmt.Sprintf("attempt_check = %q\n%s", command, more))
	}
	numbered(w, "echo $n > way")
	w.Start()
	e := w.Opens()
	turn := attempts(e, "g", 1, nil)[0]
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	require.Nil(t, listed(e).Attempts[0].Check, "without a command nothing is checked")
	require.Contains(t, e.Fails("attempt/check", world.Obj{"sessionId": turn.SessionID}).Data.Hint, "attempt_check")

	check := func() *sessions.Turn {
		e.Must("daemon/reload", nil, nil)
		var begun rpc.AttemptCheckResult
		e.Must("attempt/check", world.Obj{"sessionId": turn.SessionID}, &begun)
		require.True(t, begun.Turn.Check)
		return begun.Turn
	}
	left := func() int { return len(world.Processes(t, "CURSORD_TEST_LEFT="+w.Dir)) }

	config("echo begun; : > "+w.Dir+"/printed; CURSORD_TEST_LEFT="+w.Dir+" sleep 1000", "attempt_check_timeout = \"1s\"")
	var hung *sessions.Turn
	require.True(t, world.Comes(world.Patience, func() bool { // a busy machine may not get so far in a second
		hung = e.Ends(check().ID)
		return w.Get("../printed") != "(absent)"
	}))
	require.Equal(t, sessions.TurnFailed, hung.Status)
	require.Contains(t, hung.Error.Message, "ended after 1s, the most that attempt_check_timeout allows")
	require.Equal(t, "begun", *hung.Result)
	require.Zero(t, left())

	config("CURSORD_TEST_LEFT="+w.Dir+" setsid sleep 1000 & yes | head -c 3000000; echo the end", "")
	much := e.Ends(check().ID)
	require.Equal(t, sessions.TurnCompleted, much.Status, "%+v", much.Error)
	require.Less(t, len(*much.Result), 5000)
	require.True(t, strings.HasSuffix(*much.Result, "y\nthe end"))
	require.Zero(t, left(), "no process outlives a check")
	require.Contains(t, e.Items(much.ID)[0].Tool.Output, "the end")

	config("echo begun > "+w.Dir+"/begun; CURSORD_TEST_LEFT="+w.Dir+" sleep 1000", "")
	cancelled := check()
	require.True(t, world.Comes(world.Patience, func() bool { return w.Get("../begun") != "(absent)" }))
	e.Must("turn/cancel", world.Obj{"turnId": cancelled.ID}, nil)
	require.Equal(t, sessions.TurnCancelled, e.Ends(cancelled.ID).Status)
	require.Zero(t, left())

	// It is an agent's process for the daemon, and has the agent's tree.
	config("cat way; "+w.Command().Path+" accept --all", "")
	asks := e.Ends(check().ID)
	require.Equal(t, sessions.TurnFailed, asks.Status)
	require.Contains(t, *asks.Result, "1\ncursord: an agent started this process")
	require.Contains(t, w.Get("way"), "(absent)", *asks.Result)

	// After another turn it is stale, until that has been checked.
	config("", "")
	e.Must("daemon/reload", nil, nil)
	require.False(t, listed(e).Attempts[0].Check.Stale)
	e.Ok(&sessions.Session{ID: turn.SessionID})
	require.True(t, listed(e).Attempts[0].Check.Stale)
	config("true", "")
	e.Must("daemon/reload", nil, nil)
	e.Ok(&sessions.Session{ID: turn.SessionID})
	e.Until("a check", func(n world.Notification) bool {
		return n.Turn != nil && n.Turn.Check && n.Turn.Status == sessions.TurnCompleted && n.Turn.ID != much.ID
	})
	require.False(t, listed(e).Attempts[0].Check.Stale)
}

// TestAttemptsThatEndOtherwise: the tree of an agent that fails is not checked. A kill of the daemon interrupts a check, and the attempts
// stay. Attempts can be dropped while a check runs.
func TestAttemptsThatEndOtherwise(t *testing.T) { bothKinds(t, testAttemptsThatEndOtherwise) }

func testAttemptsThatEndOtherwise(t *testing.T) {
	w := newWorld(t)
	w.Put("f", "f\n")
	w.Commits()
	w.Put("../config.toml", `attempt_check = "while ! [ -e `+w.Dir+`/go ]; do sleep 0.02; done"`)
	numbered(w, `echo $n > way; if [ $n = 1 ]; then kill -9 $PPID; fi`)
	w.Start()
	e := w.Opens()
	turns := attempts(e, "g", 2, nil)
	require.Equal(t, sessions.TurnFailed, e.Ends(turns[0].ID).Status)
	require.Equal(t, sessions.TurnCompleted, e.Ends(turns[1].ID).Status)
	e.Until("the check", func(n world.Notification) bool {
		return n.Turn != nil && n.Turn.Check && n.Turn.Status == sessions.TurnRunning
	})
	g := listed(e)
	require.Equal(t, sessions.TurnFailed, g.Attempts[0].Status)
	require.NotNil(t, g.Attempts[0].Error)
	require.Nil(t, g.Attempts[0].Check)
	require.Equal(t, sessions.TurnRunning, g.Attempts[1].Check.Status)
	require.Nil(t, g.Attempts[1].Check.ExitCode)

	w.Kill()
	w.Start()
	e = w.Opens()
	g = listed(e)
	require.Equal(t, sessions.TurnCompleted, g.Attempts[1].Status)
	require.Equal(t, sessions.TurnInterrupted, g.Attempts[1].Check.Status)

	var begun rpc.AttemptCheckResult
	e.Must("attempt/check", world.Obj{"sessionId": turns[1].SessionID}, &begun)
	e.Until("the check", func(n world.Notification) bool {
		return n.Turn != nil && n.Turn.ID == begun.Turn.ID && n.Turn.Status == sessions.TurnRunning
	})
	var dropped rpc.AttemptDropResult
	e.Must("attempt/drop", world.Obj{"workspace": w.Root, "group": "g"}, &dropped)
	require.Len(t, dropped.Dropped, 2)
	require.Empty(t, e.Diffs())
}

// TestASandboxIsNotLeftForACheck: what an agent in its own sandbox has written is not run outside of it.
func TestASandboxIsNotLeftForACheck(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "f\n")
	w.Commits()
	w.Put("../config.toml", `attempt_check = "touch `+w.Dir+`/ran"`)
	numbered(w, "echo $n > way")
	w.Start()
	e := w.Opens()
	turn := attempts(e, "g", 1, world.Obj{"sandbox": "enabled"})[0]
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	require.Contains(t, checks(e, []*sessions.Turn{turn})[turn.SessionID].Error.Message, "sandbox")
	require.Equal(t, "(absent)", w.Get("../ran"))
}

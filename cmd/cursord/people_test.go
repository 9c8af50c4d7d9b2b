package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

func TestARejectWaitsForTheToolThatWrites(t *testing.T) {
	t.Parallel()
	before, after := numbered(10, nil), numbered(10, map[int]string{2: "agent 2\n"})
	later := strings.Replace(after, "line 9\n", "agent 9\n", 1)
	w, e := reviewing(t, "f", before, after)
	script := edits("c2", "f", after, later)
	wait := func(name string) string { return `{"fake":"wait","path":"` + w.path("../"+name) + `"}` }
	w.plays(append([]string{script[0], wait("go"), script[1], script[2], wait("end")}, done)...)
	other := w.opens()
	turn := e.asks(obj{"prompt": "more"})
	e.until("the tool's start", func(n told) bool {
		return n.Method == "item/changed" && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemTool
	})
	first := hunkIDs(e.diffs()["f"])[0]

	answers := make(chan api.Decided, 1)
	failures := make(chan error, 2)
	reject := func(ctx context.Context) {
		var out api.Decided
		if err := e.c.Call(ctx, "diff/reject", obj{"workspace": w.ws, "hunks": []string{first}}, &out); err != nil {
			failures <- err
			return
		}
		answers <- out
	}
	ctx, cancel := context.WithCancel(context.Background())
	go reject(ctx)
	require.Len(t, e.diffs()["f"].Hunks, 1, "the request holds up no other of its connection")
	require.Len(t, other.diffs()["f"].Hunks, 1)
	cancel()
	require.Error(t, <-failures)
	go reject(context.Background())
	e.diffs()
	w.requireTree(tree{"f": after})
	w.put("../go", "")
	out := <-answers
	require.Equal(t, 1, out.Applied)
	w.requireTree(tree{"f": strings.Replace(later, "agent 2\n", "line 2\n", 1)})
	require.Len(t, e.diffs()["f"].Hunks, 1)
	// Now it is at once, though the turn still runs.
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": before})
	w.put("../end", "")
	e.ends(turn.ID)
}

func TestACancelledRejectHappensNever(t *testing.T) {
	t.Parallel()
	before, after := "a\n", "b\n"
	w, e := reviewing(t, "f", before, after)
	script := edits("c2", "f", after, "c\n")
	w.plays(append([]string{script[0], `{"fake":"wait","path":"` + w.path("../go") + `"}`, script[1], script[2]}, done)...)
	turn := e.asks(obj{"prompt": "more"})
	e.until("the tool's start", func(n told) bool {
		return n.Method == "item/changed" && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemTool
	})
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error)
	go func() { failed <- e.c.Call(ctx, "diff/reject", obj{"workspace": w.ws, "all": true}, nil) }()
	e.diffs()
	cancel()
	err := <-failed
	var answer *rpc.Error
	if errors.As(err, &answer) {
		require.EqualValues(t, -32800, answer.Code)
	}
	e.diffs() // the cancellation came before it
	w.put("../go", "")
	e.ends(turn.ID)
	require.Len(t, e.diffs()["f"].Hunks, 1)
	w.requireTree(tree{"f": "c\n"})
}

func TestTheAgentIsToldWhatWasRejected(t *testing.T) {
	t.Parallel()
	w, e := reviewing(t, "f", numbered(30, nil), numbered(30, map[int]string{5: "agent 5\n", 15: strings.Repeat("agent 15\n", 20), 25: ""}))
	session := e.turns()[0].SessionID
	next := func() string {
		t.Helper()
		w.plays(done)
		e.turn(obj{"sessionId": session, "prompt": "go on"})
		runs := w.runs()
		return runs[len(runs)-1].Prompt
	}
	ids := hunkIDs(e.diffs()["f"])
	e.decides("diff/reject", obj{"hunks": ids[:1], "comment": "five is fine"})
	e.decides("diff/reject", obj{"hunks": ids[1:2]})
	e.decides("diff/accept", obj{"hunks": ids[2:]})
	w.plays(done)
	e.turn(obj{"prompt": "another session"})
	runs := w.runs()
	require.NotContains(t, runs[len(runs)-1].Prompt, "rejected")
	prompt := next()
	require.Contains(t, prompt, "rejected your change of f")
	require.Contains(t, prompt, "-line 5\n  +agent 5\n")
	require.Contains(t, prompt, "five is fine")
	require.Contains(t, prompt, "+agent 15\n")
	require.Contains(t, prompt, "more lines")
	require.NotContains(t, prompt, "line 25")
	require.Equal(t, "go on", next(), "told once")

	// What was taken back is not told.
	w.plays(lines(edits("c2", "g", "(absent)", strings.Repeat("long line\n", 10)))...)
	e.turn(obj{"sessionId": session, "prompt": "more"})
	e.decides("diff/reject", obj{"all": true})
	e.must("diff/undo", obj{"workspace": w.ws}, nil)
	require.Equal(t, "go on", next())
	e.must("diff/redo", obj{"workspace": w.ws}, nil)
	require.Contains(t, next(), "rejected your change of g")
}

func TestRejectionsAreToldBriefly(t *testing.T) {
	t.Parallel()
	const n = 60
	var before, after strings.Builder
	for range n {
		before.WriteString("same\nold\nsame\nsame\nsame\nsame\n")
		after.WriteString("same\n" + strings.Repeat("ä", 300) + "\nsame\nsame\nsame\nsame\n")
	}
	w, e := reviewing(t, "f", before.String(), after.String())
	session := e.turns()[0].SessionID
	e.decides("diff/reject", obj{"all": true})
	w.plays(done)
	e.turn(obj{"sessionId": session, "prompt": "go on"})
	runs := w.runs()
	prompt := runs[len(runs)-1].Prompt
	require.Less(t, len(prompt), 4<<10+200)
	require.Contains(t, prompt, "more of your changes")
}

func TestRejectionsMayStayUntold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("../config.toml", "tell_rejections = false\n")
	w.put("f", "a\n")
	w.plays(lines(edits("c", "f", "a\n", "b\n"))...)
	w.start()
	e := w.opens()
	turn := e.turn(nil)
	e.decides("diff/reject", obj{"all": true, "comment": "no"})
	w.plays(done)
	e.turn(obj{"sessionId": turn.SessionID, "prompt": "go on"})
	require.NotContains(t, w.runs()[1].Prompt, "rejected")
	require.Contains(t, w.runs()[1].Prompt, "no\n")
}

func TestCommittingCountsAsAccepting(t *testing.T) {
	t.Parallel()
	before := tree{"f": numbered(30, nil), "g": "g\n", "h": "h\n"}
	after := tree{"f": numbered(30, map[int]string{5: "agent 5\n", 25: "agent 25\n"}), "g": "G\n", "h": "(absent)", "new": "new\n"}
	w := newWorld(t)
	w.putAll(before)
	w.commits()
	w.plays(changing(before, after)...)
	w.start()
	e := w.opens()
	e.turn(nil)
	require.Len(t, e.diffs(), 4)

	// Half of f, and g.
	mark := len(e.all())
	w.put("../half", strings.Replace(after["f"], "agent 25\n", "line 25\n", 1))
	half := strings.TrimSpace(w.git("hash-object", "-w", w.path("../half")))
	w.git("update-index", "--cacheinfo", "100644,"+half+",f")
	w.git("add", "g")
	w.git("commit", "-q", "-m", "two")
	e.diffOf("g", mark, "g to be accepted", settled)
	diffs := e.diffs()
	require.NotContains(t, diffs, "g")
	require.Len(t, diffs["f"].Hunks, 1, "of f, what was committed is accepted")
	require.Contains(t, diffs["f"].Hunks[0].Lines, "+agent 25")

	// A commit of something else changes nothing.
	w.put("other", "x\n")
	w.git("add", "other")
	w.git("commit", "-q", "-m", "three")
	mark = len(e.all())
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "four")
	for _, path := range []string{"h", "new"} {
		e.diffOf(path, mark, path+" to be accepted", settled)
	}
	require.Empty(t, e.diffs())

	e.must("diff/undo", obj{"workspace": w.ws}, nil)
	require.Contains(t, e.diffs(), "new", "undone, it stays so")
	require.Contains(t, e.diffs(), "h")
}

func TestTheAgentsOwnCommitIsNoAcceptance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "a\n")
	w.commits()
	w.plays(lines(edits("c", "f", "a\n", "b\n"), shells("s", "git -c user.name=n -c user.email=e@example.org commit -q -a -m agent"))...)
	w.start()
	e := w.opens()
	e.turn(nil)
	require.Contains(t, e.diffs(), "f")
	w.put("other", "x\n")
	w.git("add", "other")
	w.git("commit", "-q", "-m", "mine")
	require.Contains(t, e.diffs(), "f", "it was in the commit before this one")
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": "a\n"})
}

// TestACommitBesideATurn has a person commit what the agent wrote while its turn runs, and no call of it.
func TestACommitBesideATurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(tree{"f": "a\n", "g": "g\n"})
	w.commits()
	w.plays(lines(edits("c", "f", "a\n", "b\n"), []string{waits("go")}, edits("d", "g", "g\n", "G\n"))...)
	w.start()
	e := w.opens()
	turn := e.asks(nil)
	e.until("the first edit", func(n told) bool { return n.Diff != nil && n.Diff.Path == "f" && len(n.Diff.Hunks) == 1 })
	w.git("add", "f")
	w.git("commit", "-q", "-m", "mine")
	w.put("../go", "")
	e.ends(turn.ID)
	diffs := e.diffs()
	require.NotContains(t, diffs, "f", "it was committed")
	require.Contains(t, diffs, "g")
}

// turns lists what was told of turns, the newest form of each.
func (e *editor) turns() (turns []*sessions.Turn) {
	seen := map[string]int{}
	for _, n := range e.all() {
		if n.Method != "turn/changed" {
			continue
		}
		i, ok := seen[n.Turn.ID]
		if !ok {
			i = len(turns)
			seen[n.Turn.ID] = i
			turns = append(turns, nil)
		}
		turns[i] = n.Turn
	}
	return turns
}

// TestALookDuringACall has somebody look while a call is open that has already written.
func TestALookDuringACall(t *testing.T) {
	t.Parallel()
	before, after := numbered(10, nil), numbered(10, map[int]string{2: "agent 2\n"})
	mine := strings.Replace(after, "line 4\n", "my 4\n", 1)
	later := strings.NewReplacer("agent 2\n", "", "line 9\n", "agent 9\n").Replace(mine)
	for _, saved := range []bool{false, true} { // by a person, right before the call
		w, e := reviewing(t, "f", before, after)
		at := after
		if saved {
			at = mine
		}
		script := edits("c2", "f", at, later)
		wait := func(name string) string { return `{"fake":"wait","path":"` + w.path("../"+name) + `"}` }
		w.plays(append([]string{wait("begin"), script[0], wait("go"), script[1], wait("end"), script[2]}, done)...)
		turn := e.asks(obj{"prompt": "more"})
		if saved {
			w.put("f", mine)
		}
		w.put("../begin", "")
		e.until("the tool's start", func(n told) bool {
			return n.Method == "item/changed" && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemTool
		})
		w.put("../go", "")
		require.Eventually(t, func() bool { return w.get("f") == later && len(e.diffs()["f"].Hunks) > 0 }, patience, time.Millisecond)
		w.put("../end", "")
		e.ends(turn.ID)
		e.decides("diff/reject", obj{"all": true})
		want := before
		if saved {
			want = strings.Replace(before, "line 4\n", "my 4\n", 1)
		}
		w.requireTree(tree{"f": want})
	}
}

// TestALineTypedSinceTheLastDecision is in a file with nothing pending, which nobody watches, when two calls write it
// before the first is seen.
func TestALineTypedSinceTheLastDecision(t *testing.T) {
	t.Parallel()
	before, after := numbered(5, nil), numbered(5, map[int]string{2: "agent 2\n"})
	w, e := reviewing(t, "f", before, after)
	e.decides("diff/accept", obj{"all": true})
	mine := after + "mine\n"
	w.put("f", mine)
	one, two := edits("c1", "f", mine, "agent 1\n"+mine), edits("c2", "f", "agent 1\n"+mine, "agent 2\n"+mine)
	w.plays(two[1], one[0], one[2], two[0], two[2], done)
	e.turn(obj{"prompt": "more"})
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": mine})
}

// TestACommandAfterARejectInTheSameTurn finds the file as the reject left it.
func TestACommandAfterARejectInTheSameTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "a\n")
	wait := func(name string) string { return `{"fake":"wait","path":"` + w.path("../"+name) + `"}` }
	w.plays(lines(edits("c1", "f", "a\n", "b\n"), []string{wait("go")}, shells("c2", "echo c > f"))...)
	w.start()
	e := w.opens()
	turn := e.asks(nil)
	e.until("the change", func(n told) bool { return n.Method == "diff/changed" && n.Diff.State == "pending" })
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": "a\n"})
	w.put("../go", "")
	e.ends(turn.ID)
	require.Equal(t, []string{"-a", "+c"}, e.diffs()["f"].Hunks[0].Lines)
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": "a\n"})
}

// TestWhatWasTypedIntoACleanFileIsThePersonsBesideACommand has a person type into a file with nothing to review, and then
// a call write it that names it, while a command runs that names nothing.
func TestWhatWasTypedIntoACleanFileIsThePersonsBesideACommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := numbered(20, map[int]string{5: "agent 5"})
	w.put("f", numbered(20, nil))
	w.plays(lines(edits("c", "f", numbered(20, nil), first), []string{done})...)
	w.start()
	e := w.opens()
	e.turn(nil)
	e.decides("diff/accept", obj{"all": true})
	w.put("f", "typed\n"+first)

	shell := shells("s", "echo by the command >>g")
	second := "typed\n" + numbered(20, map[int]string{5: "agent 5", 9: "agent 9"})
	w.plays(lines(shell[:2], edits("d", "f", "typed\n"+first, second), shell[2:], []string{done})...)
	e.turn(nil)
	w.requireTree(tree{"f": second, "g": "by the command\n"})
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": "typed\n" + first, "g": "(absent)"})
}

// TestWhatWasTypedIntoACleanFileIsThePersons has a person type into a file with nothing to review, which nobody watches,
// and then a command write it; while the command runs, an undo looks at the file.
func TestWhatWasTypedIntoACleanFileIsThePersons(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", numbered(20, nil))
	w.plays(lines(edits("c", "f", numbered(20, nil), numbered(20, map[int]string{5: "agent 5"})), []string{done})...)
	w.start()
	e := w.opens()
	e.turn(nil)
	e.decides("diff/accept", obj{"all": true})
	typed := "typed\n" + numbered(20, map[int]string{5: "agent 5"})
	w.put("f", typed)

	shell := shells("s", "echo by the command >>f")
	w.plays(lines(shell[:2], []string{waits("go")}, shell[2:], []string{done})...)
	turn := e.asks(nil)
	require.Eventually(t, func() bool { return w.get("f") == typed+"by the command\n" }, patience, time.Millisecond)
	e.must("diff/undo", obj{"workspace": w.ws}, nil)
	w.put("../go", "")
	e.ends(turn.ID)
	e.decides("diff/reject", obj{"all": true})
	require.Equal(t, "typed\n"+numbered(20, nil), w.get("f"))
}

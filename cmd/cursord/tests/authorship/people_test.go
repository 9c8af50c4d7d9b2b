//go:build unix

package authorship

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

func TestARejectWaitsForTheToolThatWrites(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{2: "agent 2\n"})
	later := strings.Replace(after, "line 9\n", "agent 9\n", 1)
	w, e := world.Reviewing(t, "f", before, after)
	script := world.Edits("c2", "f", after, later)
	wait := func(name string) string { return `{"fake":"wait","path":"` + w.Path("../"+name) + `"}` }
	w.Plays(append([]string{script[0], wait("go"), script[1], script[2], wait("end")}, world.Done)...)
	other := w.Opens()
	turn := e.Asks(world.Obj{"prompt": "more"})
	e.Until("the tool's start", func(n world.Notification) bool {
		return n.Method == "item/changed" && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemTool
	})
	first := world.HunkIDs(e.Diffs()["f"])[0]

	answers := make(chan api.Decided, 1)
	failures := make(chan error, 2)
	reject := func(ctx context.Context) {
		var out api.Decided
		if err := e.Client.Call(ctx, "diff/reject", world.Obj{"workspace": w.Root, "hunks": []string{first}}, &out); err != nil {
			failures <- err
			return
		}
		answers <- out
	}
	ctx, cancel := context.WithCancel(context.Background())
	go reject(ctx)
	require.Len(t, e.Diffs()["f"].Hunks, 1, "the request holds up no other of its connection")
	require.Len(t, other.Diffs()["f"].Hunks, 1)
	cancel()
	require.Error(t, <-failures)
	go reject(context.Background())
	e.Diffs()
	w.RequireTree(world.Tree{"f": after})
	w.Put("../go", "")
	out := <-answers
	require.Equal(t, 1, out.Applied)
	w.RequireTree(world.Tree{"f": strings.Replace(later, "agent 2\n", "line 2\n", 1)})
	require.Len(t, e.Diffs()["f"].Hunks, 1)
	// Now it is decided at once, although the turn still runs.
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": before})
	w.Put("../end", "")
	e.Ends(turn.ID)
}

func TestACancelledRejectHappensNever(t *testing.T) {
	t.Parallel()
	before, after := "a\n", "b\n"
	w, e := world.Reviewing(t, "f", before, after)
	script := world.Edits("c2", "f", after, "c\n")
	w.Plays(append([]string{script[0], `{"fake":"wait","path":"` + w.Path("../go") + `"}`, script[1], script[2]}, world.Done)...)
	turn := e.Asks(world.Obj{"prompt": "more"})
	e.Until("the tool's start", func(n world.Notification) bool {
		return n.Method == "item/changed" && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemTool
	})
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error)
	go func() { failed <- e.Client.Call(ctx, "diff/reject", world.Obj{"workspace": w.Root, "all": true}, nil) }()
	e.Diffs()
	cancel()
	err := <-failed
	var answer *rpc.Error
	if errors.As(err, &answer) {
		require.EqualValues(t, -32800, answer.Code)
	}
	e.Diffs() // the cancellation came before it
	w.Put("../go", "")
	e.Ends(turn.ID)
	require.Len(t, e.Diffs()["f"].Hunks, 1)
	w.RequireTree(world.Tree{"f": "c\n"})
}

func TestTheAgentIsToldWhatWasRejected(t *testing.T) {
	t.Parallel()
	w, e := world.Reviewing(t, "f", world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 15: strings.Repeat("agent 15\n", 20), 25: ""}))
	session := e.Turns()[0].SessionID
	next := func() string {
		t.Helper()
		w.Plays(world.Done)
		e.Turn(world.Obj{"sessionId": session, "prompt": "go on"})
		runs := w.Runs()
		return runs[len(runs)-1].Prompt
	}
	ids := world.HunkIDs(e.Diffs()["f"])
	e.Decides("diff/reject", world.Obj{"hunks": ids[:1], "comment": "five is fine"})
	e.Decides("diff/reject", world.Obj{"hunks": ids[1:2]})
	e.Decides("diff/accept", world.Obj{"hunks": ids[2:]})
	w.Plays(world.Done)
	e.Turn(world.Obj{"prompt": "another session"})
	runs := w.Runs()
	require.NotContains(t, runs[len(runs)-1].Prompt, "rejected")
	prompt := next()
	require.Contains(t, prompt, "rejected your change of f")
	require.Contains(t, prompt, "-line 5\n  +agent 5\n")
	require.Contains(t, prompt, "five is fine")
	require.Contains(t, prompt, "+agent 15\n")
	require.Contains(t, prompt, "more lines")
	require.NotContains(t, prompt, "line 25")
	require.Equal(t, "go on", next(), "told once")

	// A change that was taken back is not reported to the agent.
	w.Plays(world.Lines(world.Edits("c2", "g", "(absent)", strings.Repeat("long line\n", 10)))...)
	e.Turn(world.Obj{"sessionId": session, "prompt": "more"})
	e.Decides("diff/reject", world.Obj{"all": true})
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, "go on", next())
	e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
	require.Contains(t, next(), "rejected your change of g")
}

// TestACommentGoesWithItsDecision undoes a reject and an accept with comments: the agent hears of none. After a redo it hears of the
// reject and its comment, which name the same line: the one that was changed, and not where the hunk's context begins.
func TestACommentGoesWithItsDecision(t *testing.T) {
	t.Parallel()
	w, e := world.Reviewing(t, "f", world.Numbered(30, nil), world.Numbered(30, map[int]string{5: "agent 5\n", 20: "agent 20\n"}))
	session := e.Turns()[0].SessionID
	w.Plays(world.Done)
	next := func() string {
		t.Helper()
		e.Turn(world.Obj{"sessionId": session, "prompt": "go on"})
		runs := w.Runs()
		return runs[len(runs)-1].Prompt
	}
	ids := world.HunkIDs(e.Diffs()["f"])
	e.Decides("diff/accept", world.Obj{"hunks": ids[:1], "comment": "five is fine"})
	e.Decides("diff/undo", world.Obj{})
	e.Decides("diff/reject", world.Obj{"hunks": ids[1:], "comment": "keep it"})
	e.Decides("diff/undo", world.Obj{})
	require.Equal(t, "go on", next())
	e.Decides("diff/redo", world.Obj{})
	require.Equal(t, "<context>\n<remarks>\n- the user rejected your change of f, line 20\n  -line 20\n  +agent 20\n"+
		"- on your change of f, line 20: keep it\n</remarks>\n</context>\n\ngo on", next())
}

func TestRejectionsAreToldBriefly(t *testing.T) {
	t.Parallel()
	const n = 60
	var before, after strings.Builder
	for range n {
		before.WriteString("same\nold\nsame\nsame\nsame\nsame\n")
		after.WriteString("same\n" + strings.Repeat("ä", 300) + "\nsame\nsame\nsame\nsame\n")
	}
	w, e := world.Reviewing(t, "f", before.String(), after.String())
	session := e.Turns()[0].SessionID
	e.Decides("diff/reject", world.Obj{"all": true})
	w.Plays(world.Done)
	e.Turn(world.Obj{"sessionId": session, "prompt": "go on"})
	runs := w.Runs()
	prompt := runs[len(runs)-1].Prompt
	require.Less(t, len(prompt), 4<<10+200)
	require.Contains(t, prompt, "more of your changes")
}

func TestRejectionsMayStayUntold(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("../config.toml", "tell_rejections = false\n")
	w.Put("f", "a\n")
	w.Plays(world.Lines(world.Edits("c", "f", "a\n", "b\n"))...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	e.Decides("diff/reject", world.Obj{"all": true, "comment": "no"})
	w.Plays(world.Done)
	e.Turn(world.Obj{"sessionId": turn.SessionID, "prompt": "go on"})
	require.NotContains(t, w.Runs()[1].Prompt, "rejected")
	require.Contains(t, w.Runs()[1].Prompt, "no\n")
}

func TestCommittingCountsAsAccepting(t *testing.T) {
	t.Parallel()
	before := world.Tree{"f": world.Numbered(30, nil), "g": "g\n", "h": "h\n"}
	after := world.Tree{"f": world.Numbered(30, map[int]string{5: "agent 5\n", 25: "agent 25\n"}), "g": "G\n", "h": "(absent)", "new": "new\n"}
	w := world.New(t)
	w.PutAll(before)
	w.Commits()
	w.Plays(world.Changing(before, after)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	require.Len(t, e.Diffs(), 4)

	// Half of f, and g.
	mark := len(e.All())
	w.Put("../half", strings.Replace(after["f"], "agent 25\n", "line 25\n", 1))
	half := strings.TrimSpace(w.Git("hash-object", "-w", w.Path("../half")))
	w.Git("update-index", "--cacheinfo", "100644,"+half+",f")
	w.Git("add", "g")
	w.Git("commit", "-q", "-m", "two")
	e.DiffOf("g", mark, "g to be accepted", world.Settled)
	diffs := e.Diffs()
	require.NotContains(t, diffs, "g")
	require.Len(t, diffs["f"].Hunks, 1, "of f, what was committed is accepted")
	require.Contains(t, diffs["f"].Hunks[0].Lines, "+agent 25")

	// A commit of something else changes nothing.
	w.Put("other", "x\n")
	w.Git("add", "other")
	w.Git("commit", "-q", "-m", "three")
	mark = len(e.All())
	w.Git("add", "-A")
	w.Git("commit", "-q", "-m", "four")
	for _, path := range []string{"h", "new"} {
		e.DiffOf(path, mark, path+" to be accepted", world.Settled)
	}
	require.Empty(t, e.Diffs())

	var undone rpc.UndoResult
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, &undone)
	require.Equal(t, api.StepCommit, undone.Step.Kind)
	require.Contains(t, e.Diffs(), "new", "undone, it stays so")
	require.Contains(t, e.Diffs(), "h")
}

func TestTheAgentsOwnCommitIsNoAcceptance(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "a\n")
	w.Commits()
	w.Plays(world.Lines(world.Edits("c", "f", "a\n", "b\n"), world.Shells("s", "git -c user.name=n -c user.email=e@example.org commit -q -a -m agent"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	require.Contains(t, e.Diffs(), "f")
	w.Put("other", "x\n")
	w.Git("add", "other")
	w.Git("commit", "-q", "-m", "mine")
	require.Contains(t, e.Diffs(), "f", "it was in the commit before this one")
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "a\n"})
}

// TestALookDuringACall has the daemon look during a call that has already written.
func TestALookDuringACall(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(10, nil), world.Numbered(10, map[int]string{2: "agent 2\n"})
	mine := strings.Replace(after, "line 4\n", "my 4\n", 1)
	later := strings.NewReplacer("agent 2\n", "", "line 9\n", "agent 9\n").Replace(mine)
	for _, saved := range []bool{false, true} { // by a person, right before the call
		w, e := world.Reviewing(t, "f", before, after)
		at := after
		if saved {
			at = mine
		}
		script := world.Edits("c2", "f", at, later)
		wait := func(name string) string { return `{"fake":"wait","path":"` + w.Path("../"+name) + `"}` }
		w.Plays(append([]string{wait("begin"), script[0], wait("go"), script[1], wait("end"), script[2]}, world.Done)...)
		turn := e.Asks(world.Obj{"prompt": "more"})
		if saved {
			w.Put("f", mine)
		}
		w.Put("../begin", "")
		e.Until("the tool's start", func(n world.Notification) bool {
			return n.Method == "item/changed" && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemTool
		})
		w.Put("../go", "")
		require.Eventually(t, func() bool { return w.Get("f") == later && len(e.Diffs()["f"].Hunks) > 0 }, world.Patience, time.Millisecond)
		w.Put("../end", "")
		e.Ends(turn.ID)
		e.Decides("diff/reject", world.Obj{"all": true})
		want := before
		if saved {
			want = strings.Replace(before, "line 4\n", "my 4\n", 1)
		}
		w.RequireTree(world.Tree{"f": want})
	}
}

// TestALineTypedSinceTheLastDecision has a person type into a file with nothing pending, which the daemon does not watch.
// Two calls write it before the daemon has seen the first.
func TestALineTypedSinceTheLastDecision(t *testing.T) {
	t.Parallel()
	before, after := world.Numbered(5, nil), world.Numbered(5, map[int]string{2: "agent 2\n"})
	w, e := world.Reviewing(t, "f", before, after)
	e.Decides("diff/accept", world.Obj{"all": true})
	mine := after + "mine\n"
	w.Put("f", mine)
	one, two := world.Edits("c1", "f", mine, "agent 1\n"+mine), world.Edits("c2", "f", "agent 1\n"+mine, "agent 2\n"+mine)
	w.Plays(two[1], one[0], one[2], two[0], two[2], world.Done)
	e.Turn(world.Obj{"prompt": "more"})
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": mine})
}

// TestACommandAfterARejectInTheSameTurn finds the file as the reject left it.
func TestACommandAfterARejectInTheSameTurn(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "a\n")
	wait := func(name string) string { return `{"fake":"wait","path":"` + w.Path("../"+name) + `"}` }
	w.Plays(world.Lines(world.Edits("c1", "f", "a\n", "b\n"), []string{wait("go")}, world.Shells("c2", "sleep 0.1; echo c > f"))...) // a change as the command starts could be a person's
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	e.Until("the change", func(n world.Notification) bool { return n.Method == "diff/changed" && n.Diff.State == "pending" })
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "a\n"})
	w.Put("../go", "")
	e.Ends(turn.ID)
	require.Equal(t, []string{"-a", "+c"}, e.Diffs()["f"].Hunks[0].Lines)
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "a\n"})
}

// TestWhatWasTypedIntoACleanFileIsThePersonsBesideACommand has a person type into a file with nothing pending. Then a call
// that names the file writes it, beside a running command that names none.
func TestWhatWasTypedIntoACleanFileIsThePersonsBesideACommand(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	first := world.Numbered(20, map[int]string{5: "agent 5"})
	w.Put("f", world.Numbered(20, nil))
	w.Plays(world.Lines(world.Edits("c", "f", world.Numbered(20, nil), first), []string{world.Done})...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	e.Decides("diff/accept", world.Obj{"all": true})
	w.Put("f", "typed\n"+first)

	shell := world.Shells("s", "echo by the command >>g")
	second := "typed\n" + world.Numbered(20, map[int]string{5: "agent 5", 9: "agent 9"})
	w.Plays(world.Lines(shell[:2], world.Edits("d", "f", "typed\n"+first, second), shell[2:], []string{world.Done})...)
	e.Turn(nil)
	w.RequireTree(world.Tree{"f": second, "g": "by the command\n"})
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "typed\n" + first, "g": "(absent)"})
}

// TestWhatWasTypedIntoACleanFileIsThePersons has a person type into a file with nothing pending, which the daemon does not
// watch. Then a command writes it, and an undo looks at the file while the command runs.
func TestWhatWasTypedIntoACleanFileIsThePersons(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", world.Numbered(20, nil))
	w.Plays(world.Lines(world.Edits("c", "f", world.Numbered(20, nil), world.Numbered(20, map[int]string{5: "agent 5"})), []string{world.Done})...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	e.Decides("diff/accept", world.Obj{"all": true})
	typed := "typed\n" + world.Numbered(20, map[int]string{5: "agent 5"})
	w.Put("f", typed)

	shell := world.Shells("s", "echo by the command >>f")
	w.Plays(world.Lines(shell[:2], []string{world.Waits("go")}, shell[2:], []string{world.Done})...)
	turn := e.Asks(nil)
	require.Eventually(t, func() bool { return w.Get("f") == typed+"by the command\n" }, world.Patience, time.Millisecond)
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	w.Put("../go", "")
	e.Ends(turn.ID)
	e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, "typed\n"+world.Numbered(20, nil), w.Get("f"))
}

//go:build unix

package review

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestRejectLeavesWhatMayBeYours rejects, in every way, a hunk that no call of the agent explains. Only a reject by its id
// changes it.
func TestRejectLeavesWhatMayBeYours(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	e, turn := w.Unexplained()
	id := world.HunkIDs(e.Diffs()["notes.txt"])[0]
	left := []api.Skipped{{Path: "notes.txt", Hunk: id, Kind: api.KindMaybeYours}}
	undo := func() { e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil) }

	for _, params := range []world.Obj{{"all": true}, {"turnId": turn.ID}} {
		out := e.Decides("diff/reject", params)
		require.Equal(t, left, out.Skipped, params)
		require.Equal(t, 2, out.Applied)
		w.RequireTree(world.UnexplainedBefore.With(world.UnexplainedAfter, "notes.txt"))
		undo()
		w.RequireTree(world.UnexplainedAfter)
		e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
		w.RequireTree(world.UnexplainedBefore.With(world.UnexplainedAfter, "notes.txt"))
		undo()
	}
	out := e.Decides("diff/reject", world.Obj{"path": "notes.txt"})
	require.Equal(t, left, out.Skipped)
	require.Zero(t, out.Applied)
	require.Zero(t, out.Decision, "there is nothing to take back")
	require.Empty(t, e.Decides("diff/reject", world.Obj{"path": "f"}).Skipped)
	undo()
	w.RequireTree(world.UnexplainedAfter)

	out = e.Decides("diff/reject", world.Obj{"hunks": []string{id}})
	require.Equal(t, 1, out.Applied)
	w.RequireTree(world.UnexplainedAfter.With(world.UnexplainedBefore, "notes.txt"))
	undo()
	w.RequireTree(world.UnexplainedAfter)

	out = e.Decides("diff/accept", world.Obj{"all": true}) // an accept loses nothing, so it includes the hunk
	require.Empty(t, out.Skipped)
	require.Equal(t, 3, out.Applied)
	undo()

	w.Kill() // the hunk may be a person's after a restart, too
	w.Start()
	e = w.Opens()
	require.Equal(t, left, e.Decides("diff/reject", world.Obj{"all": true}).Skipped)
	w.RequireTree(world.UnexplainedBefore.With(world.UnexplainedAfter, "notes.txt"))
}

// TestRewindLeavesWhatMayBeYours takes back a turn with a hunk that no call of the agent explains, pending and accepted.
func TestRewindLeavesWhatMayBeYours(t *testing.T) {
	t.Parallel()
	for _, accepts := range []bool{false, true} {
		w := world.New(t)
		e, turn := w.Unexplained()
		if accepts {
			e.Decides("diff/accept", world.Obj{"all": true})
		}
		dry := rewinds(e, turn, world.Obj{"dryRun": true})
		require.NotContains(t, dry.Patch, "notes.txt")
		out := rewinds(e, turn, nil)
		require.Len(t, out.Skipped, 1)
		require.Equal(t, "notes.txt", out.Skipped[0].Path)
		require.Equal(t, api.KindMaybeYours, out.Skipped[0].Kind)
		require.Equal(t, out.Skipped, dry.Skipped)
		w.RequireTree(world.UnexplainedBefore.With(world.UnexplainedAfter, "notes.txt"))
		require.Len(t, e.Diffs(), map[bool]int{false: 1}[accepts])
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		w.RequireTree(world.UnexplainedAfter)
	}
}

// TestNothingMayBeYoursInACopy plays the same turn in a copy, where only the agent works: every hunk is the agent's.
func TestNothingMayBeYoursInACopy(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PlaysUnexplained()
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	turn := e.Ok(s)
	for path, d := range e.Diffs() {
		require.NotContains(t, world.Vias(d), "unknown", path)
	}
	require.Contains(t, e.Diffs(), "notes.txt")
	out := e.Decides("diff/reject", world.Obj{"all": true})
	require.Empty(t, out.Skipped)
	require.Equal(t, 3, out.Applied)
	w.RequireTree(world.UnexplainedBefore)
	require.Equal(t, world.UnexplainedBefore["notes.txt"], w.Copied(s, "notes.txt"))
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	back := rewinds(e, turn, nil)
	require.Empty(t, back.Skipped)
	require.Equal(t, 3, back.Applied)
	require.Equal(t, world.UnexplainedBefore["notes.txt"], w.Copied(s, "notes.txt"))
}

// TestCommandsTellWhatMayBeYours: "cursord reject --all" names the hunk that it left, and rejects it by its id.
func TestCommandsTellWhatMayBeYours(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	e, turn := w.Unexplained()
	id := world.HunkIDs(e.Diffs()["notes.txt"])[0]

	stdout, stderr, status := w.Cursord("reject", "--all", "-w", w.Root)
	require.Zero(t, status)
	require.Equal(t, "rejected 2 hunks; 1 hunk left in 1 file; cursord undo brings them back\n", stdout)
	require.Equal(t, `left 1 hunk that may be yours, since it is not surely the agent's: notes.txt:12 ("cursord reject `+id+`" rejects it)`+"\n"+
		"the agent learns of the reject with its session's next prompt: cursord run -c -w "+w.Root+"\n", stderr)
	w.RequireTree(world.UnexplainedBefore.With(world.UnexplainedAfter, "notes.txt"))

	stdout, _, status = w.Cursord("reject", "--turn", turn.ID, "--json", "-w", w.Root)
	require.Zero(t, status)
	var out api.Decided
	require.NoError(t, json.Unmarshal([]byte(stdout), &out))
	require.Equal(t, []api.Skipped{{Path: "notes.txt", Hunk: id, Kind: api.KindMaybeYours}}, out.Skipped)

	stdout, stderr, status = w.Cursord("reject", "notes.txt", "-w", w.Root)
	require.Equal(t, 1, status, "nothing that was named is rejected")
	require.Contains(t, stdout, "1 hunk left in 1 file")
	require.Contains(t, stderr, "left 1 hunk that may be yours")

	stdout, stderr, status = w.Cursord("reject", id, "-w", w.Root)
	require.Zero(t, status)
	require.Equal(t, "rejected 1 hunk; nothing left to review\n  "+id+"  notes.txt:12  +1 -1  +twelve\n", stdout)
	require.Equal(t, "the agent learns of the reject with its session's next prompt: cursord run -c -w "+w.Root+"\n", stderr)
	w.RequireTree(world.UnexplainedBefore)
}

// TestReviewOfWhatMayBeYours reviews a file whose hunks no call explains. An answer about all later hunks leaves them.
func TestReviewOfWhatMayBeYours(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PlaysUnexplained()
	script := world.Shells("s", "true")
	w.Plays(world.Lines(script, []string{world.Execs("sleep 0.1; sed -i 's/^line 2$/two/; s/^line 10$/ten/; s/^line 18$/eighteen/' notes.txt")})...)
	w.Start()
	w.Opens().Turn(nil)

	r := reviews(w, t)
	shown := r.shows()
	require.Contains(t, shown, "hunk 1 of 3")
	require.Regexp(t, `(?m)^@@ .* @@ \S+\nmay be yours: it is not surely the agent's\n`, shown)
	shown = r.answers("d")
	require.Contains(t, shown, "Left 2 hunks that may be yours; n rejects one at a time.")
	require.Contains(t, shown, "hunk 1 of 2")
	require.Contains(t, shown, "+ten")
	w.RequireTree(world.Tree{"notes.txt": world.Numbered(20, map[int]string{10: "ten\n", 18: "eighteen\n"})})
	require.Contains(t, r.answers("n"), "+eighteen")
	w.RequireTree(world.Tree{"notes.txt": world.Numbered(20, map[int]string{18: "eighteen\n"})})
	require.Contains(t, r.answers("u"), "hunk 1 of 2")
	require.Contains(t, r.answers("a"), "accepted 2, rejected 1; nothing left to review")
	r.ends(world.StatusOK)
	w.RequireTree(world.Tree{"notes.txt": world.Numbered(20, map[int]string{10: "ten\n", 18: "eighteen\n"})})
}

// TestReviewAfterASplitLeavesWhatMayBeYours splits a hunk and rejects its rest with all later hunks: only the rest goes.
func TestReviewAfterASplitLeavesWhatMayBeYours(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PlaysUnexplained()
	w.Plays(world.Lines(world.Shells("s", "true"),
		[]string{world.Execs("sleep 0.1; sed -i 's/^line 2$/two/; s/^line 10$/ten/; s/^line 18$/eighteen/' notes.txt")})...)
	w.Start()
	w.Opens().Turn(nil)
	r := reviews(w, t)
	r.shows()
	r.answers("s")
	require.Contains(t, r.answers("j"), "hunk 2 of 4")
	shown := r.answers("d")
	require.Contains(t, shown, "Left 3 hunks that may be yours; n rejects one at a time.") // with the split hunk's first part
	r.answers("q")
	r.ends(world.StatusOK)
	w.RequireTree(world.Tree{"notes.txt": world.Numbered(20, map[int]string{2: "", 10: "ten\n", 18: "eighteen\n"})})
}

// TestHunksSayHowTheyWereMade: the head of a hunk names its sources on a terminal.
func TestHunksSayHowTheyWereMade(t *testing.T) {
	t.Parallel()
	source := func(via ...sessions.Via) (h sessions.Hunk) {
		h.ID = "1.2"
		for _, v := range via {
			h.Sources = append(h.Sources, sessions.Source{Via: v})
		}
		return h
	}
	const note = "\nmay be yours: it is not surely the agent's"
	for _, c := range []struct {
		hunk sessions.Hunk
		says string
	}{
		{source(), ""},
		{source(sessions.ViaEdit), ""},
		{source(sessions.ViaEdit, sessions.ViaEdit), ""},
		{source(sessions.ViaShell), " by command"},
		{source(sessions.ViaTool), " by tool"},
		{source(sessions.ViaHook), " by hook"},
		{source(sessions.ViaEdit, sessions.ViaHook), " by edit and hook"},
		{source(sessions.ViaUnknown), note},
		{source(sessions.ViaEdit, sessions.ViaUnknown), note},
		{source(sessions.ViaShell, sessions.ViaUnknown), " by command" + note},
		{source("future\x1b"), " by future" + term.Clean("\x1b")},
	} {
		require.Equal(t, "@@ whole file @@ 1.2"+c.says, view.HunkHead(false, c.hunk))
	}
}

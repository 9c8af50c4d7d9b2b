package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/sessions"
)

// These are the files of a turn that edits f, in two places, and writes notes.txt by no call while the agent's hooks may run
// programs.
var (
	UnexplainedBefore = Tree{"f": Numbered(20, nil), "notes.txt": Numbered(20, nil)}
	UnexplainedAfter  = Tree{
		"f":         Numbered(20, map[int]string{2: "two\n", 15: "fifteen\n"}),
		"notes.txt": Numbered(20, map[int]string{12: "twelve\n"}),
	}
)

// PlaysUnexplained makes the agent's next turns such turns.
func (w *World) PlaysUnexplained() {
	w.Put(".cursor/hooks.json", `{"version": 1, "hooks": {"afterFileEdit": [{"command": "true"}]}}`)
	w.PutAll(UnexplainedBefore)
	w.Plays(Lines(
		Edits("e", "f", UnexplainedBefore["f"], UnexplainedAfter["f"]),
		Shells("s", "true"),
		[]string{Execs("sleep 0.1; sed -i 's/^line 12$/twelve/' notes.txt")})...)
}

// Unexplained starts a daemon and has such a turn.
func (w *World) Unexplained() (e *Editor, turn *sessions.Turn) {
	w.PlaysUnexplained()
	w.Start()
	e = w.Opens()
	turn = e.Turn(nil)
	found := e.Diffs()
	require.Equal(w.T, []string{"edit", "edit"}, Vias(found["f"]))
	require.Equal(w.T, []string{"unknown"}, Vias(found["notes.txt"]))
	return e, turn
}

// With returns some files, and others in the place of those of the same names.
func (files Tree) With(others Tree, names ...string) Tree {
	all := Tree{}
	for name, text := range files {
		all[name] = text
	}
	for _, name := range names {
		all[name] = others[name]
	}
	return all
}

// TestRejectLeavesWhatMayBeYours rejects in every way what no call of the agent explains. Only its id does it.
func TestRejectLeavesWhatMayBeYours(t *testing.T) {
	t.Parallel()
	w := New(t)
	e, turn := w.Unexplained()
	id := HunkIDs(e.Diffs()["notes.txt"])[0]
	left := []api.Skipped{{Path: "notes.txt", Hunk: id, Kind: api.KindMaybeYours}}
	undo := func() { e.Must("diff/undo", Obj{"workspace": w.Root}, nil) }

	for _, params := range []Obj{{"all": true}, {"turnId": turn.ID}} {
		out := e.Decides("diff/reject", params)
		require.Equal(t, left, out.Skipped, params)
		require.Equal(t, 2, out.Applied)
		w.RequireTree(UnexplainedBefore.With(UnexplainedAfter, "notes.txt"))
		undo()
		w.RequireTree(UnexplainedAfter)
		e.Must("diff/redo", Obj{"workspace": w.Root}, nil)
		w.RequireTree(UnexplainedBefore.With(UnexplainedAfter, "notes.txt"))
		undo()
	}
	out := e.Decides("diff/reject", Obj{"path": "notes.txt"})
	require.Equal(t, left, out.Skipped)
	require.Zero(t, out.Applied)
	require.Zero(t, out.Decision, "there is nothing to take back")
	require.Empty(t, e.Decides("diff/reject", Obj{"path": "f"}).Skipped)
	undo()
	w.RequireTree(UnexplainedAfter)

	out = e.Decides("diff/reject", Obj{"hunks": []string{id}})
	require.Equal(t, 1, out.Applied)
	w.RequireTree(UnexplainedAfter.With(UnexplainedBefore, "notes.txt"))
	undo()
	w.RequireTree(UnexplainedAfter)

	out = e.Decides("diff/accept", Obj{"all": true}) // loses nothing
	require.Empty(t, out.Skipped)
	require.Equal(t, 3, out.Applied)
	undo()

	w.Kill() // what may be a person's stays so
	w.Start()
	e = w.Opens()
	require.Equal(t, left, e.Decides("diff/reject", Obj{"all": true}).Skipped)
	w.RequireTree(UnexplainedBefore.With(UnexplainedAfter, "notes.txt"))
}

// TestNothingMayBeYoursInACopy has the same turn in a copy, where nobody but the agent works.
func TestNothingMayBeYoursInACopy(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.PlaysUnexplained()
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	e.Ok(s)
	for path, d := range e.Diffs() {
		require.NotContains(t, Vias(d), "unknown", path)
	}
	require.Contains(t, e.Diffs(), "notes.txt")
	out := e.Decides("diff/reject", Obj{"all": true})
	require.Empty(t, out.Skipped)
	require.Equal(t, 3, out.Applied)
	w.RequireTree(UnexplainedBefore)
	require.Equal(t, UnexplainedBefore["notes.txt"], w.Copied(s, "notes.txt"))
}

// TestCommandsTellWhatMayBeYours has the command line reject everything, say what it left, and reject that by its id.
func TestCommandsTellWhatMayBeYours(t *testing.T) {
	t.Parallel()
	w := New(t)
	e, turn := w.Unexplained()
	id := HunkIDs(e.Diffs()["notes.txt"])[0]

	stdout, stderr, status := w.Cursord("reject", "--all", "-w", w.Root)
	require.Zero(t, status)
	require.Equal(t, "rejected 2 hunks; 1 hunk left in 1 file\n", stdout)
	require.Equal(t, `left 1 hunk that may be yours, since no call of the agent explains it: notes.txt:12 ("cursord reject `+id+`" rejects it)`+"\n", stderr)
	w.RequireTree(UnexplainedBefore.With(UnexplainedAfter, "notes.txt"))

	stdout, _, status = w.Cursord("reject", "--turn", turn.ID, "--json", "-w", w.Root)
	require.Zero(t, status)
	var out api.Decided
	require.NoError(t, json.Unmarshal([]byte(stdout), &out))
	require.Equal(t, []api.Skipped{{Path: "notes.txt", Hunk: id, Kind: api.KindMaybeYours}}, out.Skipped)

	stdout, stderr, status = w.Cursord("reject", id, "-w", w.Root)
	require.Zero(t, status)
	require.Equal(t, "rejected 1 hunk\n", stdout)
	require.Empty(t, stderr)
	w.RequireTree(UnexplainedBefore)
}

// TestReviewOfWhatMayBeYours goes through a file in which nothing is explained by a call. An answer about all later hunks
// leaves them.
func TestReviewOfWhatMayBeYours(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.PlaysUnexplained()
	script := Shells("s", "true")
	w.Plays(Lines(script, []string{Execs("sleep 0.1; sed -i 's/^line 2$/two/; s/^line 10$/ten/; s/^line 18$/eighteen/' notes.txt")})...)
	w.Start()
	w.Opens().Turn(nil)

	r := w.reviews(t)
	shown := r.shows()
	require.Contains(t, shown, "hunk 1 of 3")
	require.Regexp(t, `(?m)^@@ .* @@ \S+\nmay be yours: no call of the agent explains it\n`, shown)
	shown = r.answers("d")
	require.Contains(t, shown, "Left 2 hunks that may be yours; n rejects one at a time.")
	require.Contains(t, shown, "hunk 1 of 2")
	require.Contains(t, shown, "+ten")
	w.RequireTree(Tree{"notes.txt": Numbered(20, map[int]string{10: "ten\n", 18: "eighteen\n"})})
	require.Contains(t, r.answers("n"), "+eighteen")
	w.RequireTree(Tree{"notes.txt": Numbered(20, map[int]string{18: "eighteen\n"})})
	require.Contains(t, r.answers("u"), "hunk 1 of 2")
	require.Contains(t, r.answers("a"), "accepted 2, rejected 1; nothing left to review")
	r.ends(StatusOK)
	w.RequireTree(Tree{"notes.txt": Numbered(20, map[int]string{10: "ten\n", 18: "eighteen\n"})})
}

// TestReviewAfterASplitLeavesWhatMayBeYours has the rest of a hunk that was split rejected, and all behind it.
func TestReviewAfterASplitLeavesWhatMayBeYours(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.PlaysUnexplained()
	w.Plays(Lines(Shells("s", "true"),
		[]string{Execs("sleep 0.1; sed -i 's/^line 2$/two/; s/^line 10$/ten/; s/^line 18$/eighteen/' notes.txt")})...)
	w.Start()
	w.Opens().Turn(nil)
	r := w.reviews(t)
	r.shows()
	r.answers("s")
	require.Contains(t, r.answers("j"), "hunk 2 of 4")
	shown := r.answers("d")
	require.Contains(t, shown, "Left 3 hunks that may be yours; n rejects one at a time.") // one is the split hunk's first part
	r.answers("q")
	r.ends(StatusOK)
	w.RequireTree(Tree{"notes.txt": Numbered(20, map[int]string{2: "", 10: "ten\n", 18: "eighteen\n"})})
}

// TestHunksSayHowTheyWereMade has a terminal show who made a hunk.
func TestHunksSayHowTheyWereMade(t *testing.T) {
	t.Parallel()
	source := func(via ...sessions.Via) (h sessions.Hunk) {
		h.ID = "1.2"
		for _, v := range via {
			h.Sources = append(h.Sources, sessions.Source{Via: v})
		}
		return h
	}
	const note = "\nmay be yours: no call of the agent explains it"
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

// TestManyThatMayBeYours has more hunks left than are worth a line each.
func TestManyThatMayBeYours(t *testing.T) {
	t.Parallel()
	var out api.Decided
	for range 25 {
		out.Skipped = append(out.Skipped, api.Skipped{Path: "no\x1b[2J", Hunk: "1.1", Kind: api.KindMaybeYours})
	}
	text := maybeYoursLeft(out)
	require.Contains(t, text, "left 25 hunks that may be yours, since no call of the agent explains them:\n")
	require.Len(t, regexp.MustCompile(`rejects it`).FindAllString(text, -1), 20)
	require.True(t, strings.HasSuffix(text, "\n  and 5 more, which \"cursord diff\" shows\n"), text)
	require.NotContains(t, text, "\x1b")
	require.Empty(t, maybeYoursLeft(api.Decided{Skipped: []api.Skipped{{Kind: api.KindConflict}}}))
}

// maybeYours returns the hunks that only a decision which names them may reject.
func maybeYours(d *sessions.Diff) map[string]bool {
	var ids []string
	for _, h := range d.Hunks {
		if slices.Contains(viasOf(h), string(sessions.ViaUnknown)) {
			ids = append(ids, h.ID)
		}
	}
	return closure(d, ids)
}

// withoutYours returns what else was skipped than yours, all of which must have been.
func withoutYours(skipped []api.Skipped, yours map[string]bool) (others []api.Skipped, err error) {
	left := map[string]bool{}
	for _, sk := range skipped {
		if sk.Kind == api.KindMaybeYours {
			left[sk.Hunk] = true
		} else {
			others = append(others, sk)
		}
	}
	if !maps.Equal(left, yours) {
		return nil, fmt.Errorf("left as maybe the person's: %v, not %v", left, yours)
	}
	return others, nil
}

func fromTurn(h sessions.Hunk, turn string) bool {
	return slices.ContainsFunc(h.Sources, func(src sessions.Source) bool { return src.TurnID == turn })
}

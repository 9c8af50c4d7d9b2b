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
	unexplainedBefore = tree{"f": numbered(20, nil), "notes.txt": numbered(20, nil)}
	unexplainedAfter  = tree{
		"f":         numbered(20, map[int]string{2: "two\n", 15: "fifteen\n"}),
		"notes.txt": numbered(20, map[int]string{12: "twelve\n"}),
	}
)

// playsUnexplained makes the agent's next turns such turns.
func (w *world) playsUnexplained() {
	w.put(".cursor/hooks.json", `{"version": 1, "hooks": {"afterFileEdit": [{"command": "true"}]}}`)
	w.putAll(unexplainedBefore)
	w.plays(lines(
		edits("e", "f", unexplainedBefore["f"], unexplainedAfter["f"]),
		shells("s", "true"),
		[]string{execs("sleep 0.1; sed -i 's/^line 12$/twelve/' notes.txt")})...)
}

// unexplained starts a daemon and has such a turn.
func (w *world) unexplained() (e *editor, turn *sessions.Turn) {
	w.playsUnexplained()
	w.start()
	e = w.opens()
	turn = e.turn(nil)
	found := e.diffs()
	require.Equal(w.t, []string{"edit", "edit"}, vias(found["f"]))
	require.Equal(w.t, []string{"unknown"}, vias(found["notes.txt"]))
	return e, turn
}

// with returns some files, and others in the place of those of the same names.
func (files tree) with(others tree, names ...string) tree {
	all := tree{}
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
	w := newWorld(t)
	e, turn := w.unexplained()
	id := hunkIDs(e.diffs()["notes.txt"])[0]
	left := []api.Skipped{{Path: "notes.txt", Hunk: id, Kind: api.KindMaybeYours}}
	undo := func() { e.must("diff/undo", obj{"workspace": w.ws}, nil) }

	for _, params := range []obj{{"all": true}, {"turnId": turn.ID}} {
		out := e.decides("diff/reject", params)
		require.Equal(t, left, out.Skipped, params)
		require.Equal(t, 2, out.Applied)
		w.requireTree(unexplainedBefore.with(unexplainedAfter, "notes.txt"))
		undo()
		w.requireTree(unexplainedAfter)
		e.must("diff/redo", obj{"workspace": w.ws}, nil)
		w.requireTree(unexplainedBefore.with(unexplainedAfter, "notes.txt"))
		undo()
	}
	out := e.decides("diff/reject", obj{"path": "notes.txt"})
	require.Equal(t, left, out.Skipped)
	require.Zero(t, out.Applied)
	require.Zero(t, out.Decision, "there is nothing to take back")
	require.Empty(t, e.decides("diff/reject", obj{"path": "f"}).Skipped)
	undo()
	w.requireTree(unexplainedAfter)

	out = e.decides("diff/reject", obj{"hunks": []string{id}})
	require.Equal(t, 1, out.Applied)
	w.requireTree(unexplainedAfter.with(unexplainedBefore, "notes.txt"))
	undo()
	w.requireTree(unexplainedAfter)

	out = e.decides("diff/accept", obj{"all": true}) // loses nothing
	require.Empty(t, out.Skipped)
	require.Equal(t, 3, out.Applied)
	undo()

	w.kill() // what may be a person's stays so
	w.start()
	e = w.opens()
	require.Equal(t, left, e.decides("diff/reject", obj{"all": true}).Skipped)
	w.requireTree(unexplainedBefore.with(unexplainedAfter, "notes.txt"))
}

// TestNothingMayBeYoursInACopy has the same turn in a copy, where nobody but the agent works.
func TestNothingMayBeYoursInACopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.playsUnexplained()
	w.start()
	e := w.opens()
	s := e.isolates()
	e.ok(s)
	for path, d := range e.diffs() {
		require.NotContains(t, vias(d), "unknown", path)
	}
	require.Contains(t, e.diffs(), "notes.txt")
	out := e.decides("diff/reject", obj{"all": true})
	require.Empty(t, out.Skipped)
	require.Equal(t, 3, out.Applied)
	w.requireTree(unexplainedBefore)
	require.Equal(t, unexplainedBefore["notes.txt"], w.copied(s, "notes.txt"))
}

// TestCommandsTellWhatMayBeYours has the command line reject everything, say what it left, and reject that by its id.
func TestCommandsTellWhatMayBeYours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e, turn := w.unexplained()
	id := hunkIDs(e.diffs()["notes.txt"])[0]

	stdout, stderr, status := w.cursord("reject", "--all", "-w", w.ws)
	require.Zero(t, status)
	require.Equal(t, "rejected 2 hunks; 1 hunk left in 1 file\n", stdout)
	require.Equal(t, `left 1 hunk that may be yours, since no call of the agent explains it: notes.txt:12 ("cursord reject `+id+`" rejects it)`+"\n", stderr)
	w.requireTree(unexplainedBefore.with(unexplainedAfter, "notes.txt"))

	stdout, _, status = w.cursord("reject", "--turn", turn.ID, "--json", "-w", w.ws)
	require.Zero(t, status)
	var out api.Decided
	require.NoError(t, json.Unmarshal([]byte(stdout), &out))
	require.Equal(t, []api.Skipped{{Path: "notes.txt", Hunk: id, Kind: api.KindMaybeYours}}, out.Skipped)

	stdout, stderr, status = w.cursord("reject", id, "-w", w.ws)
	require.Zero(t, status)
	require.Equal(t, "rejected 1 hunk\n", stdout)
	require.Empty(t, stderr)
	w.requireTree(unexplainedBefore)
}

// TestReviewOfWhatMayBeYours goes through a file in which nothing is explained by a call. An answer about all later hunks
// leaves them.
func TestReviewOfWhatMayBeYours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.playsUnexplained()
	script := shells("s", "true")
	w.plays(lines(script, []string{execs("sleep 0.1; sed -i 's/^line 2$/two/; s/^line 10$/ten/; s/^line 18$/eighteen/' notes.txt")})...)
	w.start()
	w.opens().turn(nil)

	r := w.reviews(t)
	shown := r.shows()
	require.Contains(t, shown, "hunk 1 of 3")
	require.Regexp(t, `(?m)^@@ .* @@ \S+\nmay be yours: no call of the agent explains it\n`, shown)
	shown = r.answers("d")
	require.Contains(t, shown, "Left 2 hunks that may be yours; n rejects one at a time.")
	require.Contains(t, shown, "hunk 1 of 2")
	require.Contains(t, shown, "+ten")
	w.requireTree(tree{"notes.txt": numbered(20, map[int]string{10: "ten\n", 18: "eighteen\n"})})
	require.Contains(t, r.answers("n"), "+eighteen")
	w.requireTree(tree{"notes.txt": numbered(20, map[int]string{18: "eighteen\n"})})
	require.Contains(t, r.answers("u"), "hunk 1 of 2")
	require.Contains(t, r.answers("a"), "accepted 2, rejected 1; nothing left to review")
	r.ends(statusOK)
	w.requireTree(tree{"notes.txt": numbered(20, map[int]string{10: "ten\n", 18: "eighteen\n"})})
}

// TestReviewAfterASplitLeavesWhatMayBeYours has the rest of a hunk that was split rejected, and all behind it.
func TestReviewAfterASplitLeavesWhatMayBeYours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.playsUnexplained()
	w.plays(lines(shells("s", "true"),
		[]string{execs("sleep 0.1; sed -i 's/^line 2$/two/; s/^line 10$/ten/; s/^line 18$/eighteen/' notes.txt")})...)
	w.start()
	w.opens().turn(nil)
	r := w.reviews(t)
	r.shows()
	r.answers("s")
	require.Contains(t, r.answers("j"), "hunk 2 of 4")
	shown := r.answers("d")
	require.Contains(t, shown, "Left 3 hunks that may be yours; n rejects one at a time.") // one is the split hunk's first part
	r.answers("q")
	r.ends(statusOK)
	w.requireTree(tree{"notes.txt": numbered(20, map[int]string{2: "", 10: "ten\n", 18: "eighteen\n"})})
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

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// exists waits until an agent's command has made a file.
func (w *world) exists(name string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { _, err := os.Lstat(w.path(name)); return err == nil }, patience, patience/1000)
}

// calls waits until the daemon knows of a turn's first call.
func (e *editor) calls(turn string) {
	e.t.Helper()
	e.until("a call", func(n told) bool { return n.Item != nil && n.Item.TurnID == turn && n.Item.Kind == sessions.ItemTool })
}

// TestSavesThatEditorsReport has a person save a file in an editor in the middle of an agent's command. What the editor
// says is a person's, without a look at any clock.
func TestSavesThatEditorsReport(t *testing.T) {
	t.Parallel()
	const old, mine, both = "old\nline\n", "old\nline\nmine\n", "OLD\nline\nmine\n"
	types := func(d *doc, text string) {
		d.set(text)
		d.e.diffs() // what was told has come
	}
	for _, c := range []struct {
		name   string
		saves  func(d *doc)
		after  string
		listed bool
	}{
		{"typed and saved", func(d *doc) { types(d, mine); d.save() }, "", false},
		{"saved before the editor says so", func(d *doc) { types(d, mine); d.e.w.put("f", mine) }, "", false},
		{"saved, and then changed by the agent", func(d *doc) { types(d, mine); d.save() }, "sed -i s/old/OLD/ f", true},
		{
			"saved, and told when the agent has changed it", func(d *doc) {
				types(d, mine)
				d.e.w.put("f", both)
				d.note("document/didSave", obj{})
			}, "", true,
		},
		{
			"typed over what the agent has written", func(d *doc) {
				d.e.w.put("f", "OLD\nline\n")
				types(d, both)
				d.save()
			}, "", true,
		},
		{
			"typed over what the agent has written, the save not yet told", func(d *doc) {
				d.e.w.put("f", "OLD\nline\n")
				d.set("OLD\nline\n") // the editor reads it
				types(d, both)
				d.e.w.put("f", both)
			}, "", true,
		},
		{
			"saved after what the agent has written was read again", func(d *doc) {
				d.e.w.put("f", "OLD\nline\n")
				types(d, "OLD\nline\n")
				d.note("document/didSave", obj{})
				d.e.diffs()
				types(d, both)
				d.save()
			}, "", true,
		},
	} {
		for _, reviewed := range []bool{false, true} {
			t.Run(c.name+map[bool]string{true: ", under review"}[reviewed], func(t *testing.T) {
				w := newWorld(t)
				w.putAll(tree{"f": old, "g": "g\n"})
				w.start()
				e := w.opens()
				want, listed := mine, []string{"g"}
				if reviewed {
					w.put("f", "was\n"+old)
					w.plays(lines(edits("e", "f", "was\n"+old, old))...)
					e.turn(nil)
					want = "was\n" + mine
				}
				if c.listed || reviewed {
					listed = []string{"f", "g"}
				}
				script := shells("s", c.after)
				w.plays(lines([]string{script[0], execs("echo x >> g; touch ../ready"), waits("go")}, script[1:])...)
				turn := e.asks(nil)
				w.exists("../ready")
				e.calls(turn.ID)
				d := e.openDoc("f")
				e.diffs() // it is known before anybody writes
				c.saves(d)
				e.diffs() // what was told has come
				w.put("../go", "")
				require.Equal(t, sessions.TurnCompleted, e.ends(turn.ID).Status)
				require.Equal(t, listed, sorted(keys(e.diffs())))
				d.closes()
				e.decides("diff/reject", obj{"all": true})
				w.requireTree(tree{"f": want, "g": "g\n"})
			})
		}
	}
}

// TestAWrongGuessIsNoLoss has a person save files in the middle of a command, and tell nobody. That is taken for the
// command's, and comes back when its reject is undone.
func TestAWrongGuessIsNoLoss(t *testing.T) {
	t.Parallel()
	v := numbered(20, nil)
	mine := "mine\n" + numbered(20, map[int]string{10: "ten of mine\n"})
	w := newWorld(t)
	w.putAll(tree{"f": v, "gone": "g\n"})
	script := shells("s", "sed -i 's/^line 15$/fifteen/' f")
	w.plays(lines([]string{script[0], execs("touch ../ready"), waits("go")}, script[1:])...)
	w.start()
	e := w.opens()
	turn := e.asks(nil)
	w.exists("../ready")
	e.calls(turn.ID)
	w.put("f", mine)
	w.put("new", "new\n")
	require.NoError(t, os.Remove(w.path("gone")))
	w.put("../go", "")
	e.ends(turn.ID)
	after := tree{"f": w.get("f"), "new": "new\n", "gone": "(absent)"}
	require.Contains(t, after["f"], "fifteen")
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": v, "new": "(absent)", "gone": "g\n"})
	w.kill()
	w.start()
	e = w.opens()
	e.must("diff/undo", obj{"workspace": w.ws}, nil)
	w.requireTree(after)
	// Now the person says which lines these are.
	for _, h := range e.diffs()["f"].Hunks {
		method := "diff/accept"
		for _, l := range h.Lines {
			if l == "+fifteen" {
				method = "diff/reject"
			}
		}
		e.decides(method, obj{"hunks": []string{h.ID}})
	}
	w.requireTree(tree{"f": mine})
}

// TestChangesNearACommand has changes shortly before a command and shortly after one, which are not its. What was changed after it
// and before anybody looked at the files may have been changed by it, too: nothing tells.
func TestChangesNearACommand(t *testing.T) {
	t.Parallel()
	stamped := func(subtype, ms, result string) string {
		return fmt.Sprintf(`{"type":"tool_call","subtype":%q,"call_id":"s","timestamp_ms":%s,"tool_call":{"shellToolCall":{"args":{"command":"x"}%s}}}`,
			subtype, ms, result)
	}
	w := newWorld(t)
	w.putAll(tree{"far": "a\n", "before": "a\n", "in": "a\n", "after": "a\n"})
	// The agent says when its command ran when all is done, by the times on disk: nothing depends on who waits for whom.
	w.put("../template", stamped("started", "START", "")+"\n"+
		stamped("completed", "END", `,"result":{"success":{"command":"x","exitCode":0,"stdout":""}}`)+"\n")
	w.put("../say.sh", `ms() { stat -c %.3Z "$1" | tr -d .; }
sed "s/START/$(($(ms before)+30))/; s/END/$(($(ms after)-30))/" ../template`)
	say := `{"fake":"exec","argv":["sh","../say.sh"],"stdout":true}`
	w.plays(lines([]string{
		execs("echo x >> far; sleep 0.5; echo x >> before; sleep 0.1; echo x >> in; sleep 0.1; echo x >> after; echo x > made"),
		say, execs("sleep 0.3"),
	})...)
	w.start()
	e := w.opens()
	e.turn(nil)
	found := e.diffs()
	require.Equal(t, []string{"not listed"}, vias(found["far"]))
	require.Equal(t, []string{"not listed"}, vias(found["before"]))
	require.Equal(t, []string{"shell"}, vias(found["in"]))
	require.Equal(t, []string{"unknown"}, vias(found["after"]))
	require.Equal(t, []string{"not listed"}, vias(found["made"]))
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"far": "a\nx\n", "before": "a\nx\n", "in": "a\n", "after": "a\nx\n", "made": "x\n"})
}

// TestASaveRightAfterACommand has a command change a file, and a person save it between the command's end and the look at the files
// that follows: what of it is whose nobody knows, and all of it is listed.
func TestASaveRightAfterACommand(t *testing.T) {
	t.Parallel()
	v := numbered(20, nil)
	edited := numbered(20, map[int]string{2: "edited\n"})
	for name, row := range map[string]struct {
		first   string // what an edit leaves before the command
		command string // before the person's save
		save    string
		want    []string // via of hunks
		left    string   // by a reject of all
	}{
		"in place":            {v, "sed -i 's/^line 5$/agent/' f", "sed 's/^line 15$/mine/' f > ../x; cat ../x > f", []string{"unknown", "unknown"}, "mine"},
		"by renaming":         {v, "sed -i 's/^line 5$/agent/' f", "sed -i 's/^line 15$/mine/' f", []string{"unknown", "unknown"}, "mine"},
		"in a file in review": {edited, "sed -i 's/^line 5$/agent/' f", "sed -i 's/^line 15$/mine/' f", []string{"edit", "unknown", "unknown"}, "mine"},
		"another file":        {v, "sed -i 's/^line 5$/agent/' f", "echo mine > g", []string{"shell"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("f", v)
			// The agent says when its command ended by the times on disk, when the person has saved.
			w.put("../ends.sh", `sed "s/END/$(($(stat -c %.3Z ../ended | tr -d .)+30))/" ../end`)
			script := shells("s", row.command+"; touch ../ended; sleep 0.1; "+row.save)
			w.put("../end", strings.Replace(script[2], "{{now_ms}}", "END", 1)+"\n")
			script[2] = `{"fake":"exec","argv":["sh","../ends.sh"],"stdout":true}`
			first := []string{}
			if row.first != v {
				first = append(edits("e", "f", v, row.first), `{"fake":"sleep","ms":100}`)
			}
			w.plays(lines(first, script)...)
			w.start()
			e := w.opens()
			e.turn(nil)
			require.Equal(t, row.want, vias(e.diffs()["f"]))
			require.NotContains(t, e.diffs(), "g")
			after := w.get("f")
			e.decides("diff/reject", obj{"all": true})
			require.Equal(t, row.left != "", strings.Contains(w.get("f"), "mine"))
			if row.left == "" {
				w.requireTree(tree{"f": v, "g": "mine\n"})
				return
			}
			require.Equal(t, strings.Replace(after, "edited", "line 2", 1), w.get("f"))
			for _, h := range e.diffs()["f"].Hunks {
				e.decides("diff/reject", obj{"hunks": []string{h.ID}})
			}
			require.Equal(t, v, w.get("f"))
		})
	}
}

// TestMovedAndChanged has commands move files and change them as well.
func TestMovedAndChanged(t *testing.T) {
	t.Parallel()
	v := numbered(20, nil)
	w := newWorld(t)
	w.putAll(tree{"a": v, "b": "b\n", "c": v + "c\n", "d/e": v + "e\n", "f": "f\n"})
	w.plays(lines(shells("s", "mv a a2; echo more >> a2; mv b b2; echo nothing of it > b2; "+
		"mv c c2; mv d d2; echo more >> d2/e; rm f; echo other > g"))...)
	require.Eventually(t, func() bool { // a file that is as new as the turn may be another in its place
		info, err := os.Stat(w.path("f"))
		return err == nil && time.Since(info.ModTime()) > 50*time.Millisecond
	}, patience, time.Millisecond)
	w.start()
	e := w.opens()
	e.turn(nil)
	kinds := map[string]string{}
	for path, d := range e.diffs() {
		kinds[path] = fmt.Sprint(d.Kind, " ", d.OldPath)
		require.Equal(t, "known", d.Baseline, path)
	}
	require.Equal(t, map[string]string{
		"a2": "renamed a", "b2": "renamed b", "c2": "renamed c", "d2/e": "renamed d/e", "f": "deleted ", "g": "created ",
	}, kinds)
	require.Len(t, e.diffs()["a2"].Hunks, 2)
	// The text alone, then the move.
	e.decides("diff/reject", obj{"hunks": hunkIDs(e.diffs()["a2"])[1:]})
	w.requireTree(tree{"a": "(absent)", "a2": v})
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{
		"a": v, "b": "b\n", "c": v + "c\n", "d/e": v + "e\n", "f": "f\n", "a2": "(absent)", "b2": "(absent)", "g": "(absent)",
	})
	require.NoDirExists(t, w.path("d2"))
}

// TestALookBeforeTheWordIsNoPersons has two calls write a file under review, and somebody look at it, before the agent
// has said what the first one did.
func TestALookBeforeTheWordIsNoPersons(t *testing.T) {
	t.Parallel()
	v0 := numbered(20, nil)
	v1 := numbered(20, map[int]string{3: "three"})
	v2 := numbered(20, map[int]string{3: "three", 9: "nine"})
	v3 := numbered(20, map[int]string{3: "three", 9: "nine", 15: "fifteen"})
	writes := func(text string) string { return fmt.Sprintf(`{"fake":"write","path":"f","text":%q}`, text) }
	b, c := edits("b", "f", v1, v2), edits("c", "f", v2, v3)
	said := lines(b[len(b)-1:], c[:1], c[len(c)-1:], []string{done})
	for _, s := range []struct {
		name  string
		after []string
		want  string
	}{
		{"the word comes", said, v0},
		{"no word comes", []string{done}, numbered(20, map[int]string{9: "nine"})}, // which may be a person's
	} {
		t.Run(s.name, func(t *testing.T) {
			w := newWorld(t)
			w.put("f", v0)
			w.plays(lines(edits("a", "f", v0, v1), []string{done})...)
			w.start()
			e := w.opens()
			e.turn(nil)

			w.plays(lines([]string{writes(v2)}, b[:1], []string{waits("go"), writes(v3), execs("touch ../written"), waits("on")}, s.after)...)
			turn := e.asks(nil)
			e.calls(turn.ID)
			w.put("../go", "")
			w.exists("../written")
			e.diffs()
			e.must("diff/list", obj{"workspace": w.ws, "path": "f"}, nil)
			w.put("../on", "")
			e.ends(turn.ID)
			w.requireTree(tree{"f": v3})
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(tree{"f": s.want})
		})
	}
}

// TestCancelledInACall cancels turns in calls that have written and not said so.
func TestCancelledInACall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, path, before, after, kind string }{
		{"changed", "f", "f\n", "F\n", "modified"},
		{"made", "new/g", "(absent)", "G\n", "created"},
		{"emptied", "f", "f\n", "", "modified"},
		{"not yet", "f", "f\n", "f\n", ""},
	} {
		for _, isolation := range []string{"none", "copy"} {
			t.Run(c.name+", "+isolation, func(t *testing.T) {
				w := newWorld(t)
				w.putAll(tree{"f": "f\n"})
				call := edits("1", c.path, c.before, c.after)
				w.plays(lines(call[:1], []string{fmt.Sprintf(`{"fake":"wait","path":%q}`, w.path("../go"))}, call[1:2], []string{execs("touch " + w.path("../written")), `{"fake":"hang"}`})...)
				w.start()
				e := w.opens()
				var made struct{ Session sessions.Session }
				e.must("session/create", obj{"workspace": w.ws, "isolation": isolation}, &made)
				turn := e.asks(obj{"sessionId": made.Session.ID})
				e.calls(turn.ID)
				w.put("../go", "")
				w.exists("../written")
				e.must("turn/cancel", obj{"turnId": turn.ID}, nil)
				require.Equal(t, sessions.TurnCancelled, e.ends(turn.ID).Status)
				found := e.diffs()
				if c.kind == "" {
					require.Empty(t, found)
					return
				}
				require.Equal(t, []string{c.path}, sorted(keys(found)))
				require.Equal(t, c.kind, string(found[c.path].Kind))
				e.decides("diff/reject", obj{"all": true})
				w.requireTree(tree{c.path: c.before})
				require.Empty(t, e.diffs())
			})
		}
	}
}

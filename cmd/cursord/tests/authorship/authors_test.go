//go:build unix

package authorship

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestSavesThatEditorsReport has a person save a file in an editor while an agent's command runs. The saved text that the
// editor reports is a person's, whatever the times of files say.
func TestSavesThatEditorsReport(t *testing.T) {
	t.Parallel()
	const old, mine, both = "old\nline\n", "old\nline\nmine\n", "OLD\nline\nmine\n"
	types := func(d *world.Document, text string) {
		d.Set(text)
		d.E.Diffs() // the daemon has the reports now
	}
	for _, c := range []struct {
		name   string
		saves  func(d *world.Document)
		after  string
		listed bool
	}{
		{"typed and saved", func(d *world.Document) { types(d, mine); d.Save() }, "", false},
		{"saved before the editor says so", func(d *world.Document) { types(d, mine); d.E.World.Put("f", mine) }, "", false},
		{"saved before the editor says what was typed", func(d *world.Document) {
			d.E.World.Put("f", mine)
			d.Version++
			d.Note("document/didSave", world.Obj{})
		}, "", false},
		{
			"saved with more than the editor has said", func(d *world.Document) {
				types(d, "old\nline\nmi\n")
				d.E.World.Put("f", mine)
				d.Version++
				d.Note("document/didSave", world.Obj{})
			}, "", false,
		},
		{
			"saved in an editor that says no texts", func(d *world.Document) {
				d.Note("document/didOpen", world.Obj{})
				d.E.Diffs() // the daemon has opened it
				d.E.World.Put("f", mine)
				d.Version++
				d.Note("document/didSave", world.Obj{})
			}, "", false,
		},
		{"saved, and then changed by the agent", func(d *world.Document) { types(d, mine); d.Save() }, "sed -i s/old/OLD/ f", true},
		{
			"saved, and told when the agent has changed it", func(d *world.Document) {
				types(d, mine)
				d.E.World.Put("f", both)
				d.Note("document/didSave", world.Obj{})
			}, "", true,
		},
		{"saved, and told when the daemon has seen that the agent has changed it", func(d *world.Document) {
			types(d, mine)
			d.E.World.Put("f", both)
			d.E.Diffs()
			d.Note("document/didSave", world.Obj{})
		}, "", true},
		{
			"typed over what the agent has written", func(d *world.Document) {
				d.E.World.Put("f", "OLD\nline\n")
				types(d, both)
				d.Save()
			}, "", true,
		},
		{
			"typed over what the agent has written, the save not yet told", func(d *world.Document) {
				d.E.World.Put("f", "OLD\nline\n")
				d.Set("OLD\nline\n") // the editor loads the file
				types(d, both)
				d.E.World.Put("f", both)
			}, "", true,
		},
		{
			"saved after what the agent has written was read again", func(d *world.Document) {
				d.E.World.Put("f", "OLD\nline\n")
				types(d, "OLD\nline\n")
				d.Save()
				d.E.Diffs()
				types(d, both)
				d.Save()
			}, "", true,
		},
		{
			"saved in an editor that writes nothing then", func(d *world.Document) { // Zed, with a text that equals the file
				d.E.World.Put("f", "OLD\nline\n")
				types(d, "OLD\nline\n")
				loaded := time.Now()
				require.Eventually(d.E.T, func() bool { return time.Since(loaded) > time.Second }, world.Patience, time.Millisecond, "a person's hand is no faster")
				d.Note("document/didSave", world.Obj{})
				d.E.Diffs()
				types(d, both)
				d.Save()
			}, "", true,
		},
	} {
		for _, reviewed := range []bool{false, true} {
			t.Run(c.name+map[bool]string{true: ", under review"}[reviewed], func(t *testing.T) {
				w := world.New(t)
				w.PutAll(world.Tree{"f": old, "g": "g\n"})
				w.Start()
				e := w.Opens()
				want, listed := mine, []string{"g"}
				if reviewed {
					w.Put("f", "was\n"+old)
					w.Plays(world.Lines(world.Edits("e", "f", "was\n"+old, old))...)
					e.Turn(nil)
					want = "was\n" + mine
				}
				if c.listed || reviewed {
					listed = []string{"f", "g"}
				}
				script := world.Shells("s", c.after)
				w.Plays(world.Lines([]string{script[0], world.Execs("echo x >> g; touch ../ready"), world.Waits("go")}, script[1:])...)
				turn := e.Asks(nil)
				w.Exists("../ready")
				e.Calls(turn.ID)
				d := e.OpenDocument("f")
				e.Diffs() // the daemon knows the texts before anybody writes
				c.saves(d)
				e.Diffs() // the daemon has the reports now
				w.Put("../go", "")
				require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
				require.Equal(t, listed, world.Sorted(world.Keys(e.Diffs())))
				d.Closes()
				e.Decides("diff/reject", world.Obj{"all": true})
				w.RequireTree(world.Tree{"f": want, "g": "g\n"})
			})
		}
	}
}

// TestAWrongGuessIsNoLoss has a person save files while a command runs, without a report. The daemon takes the changes for
// the command's. When their reject is undone, they are back.
func TestAWrongGuessIsNoLoss(t *testing.T) {
	t.Parallel()
	v := world.Numbered(20, nil)
	mine := "mine\n" + world.Numbered(20, map[int]string{10: "ten of mine\n"})
	w := world.New(t)
	w.PutAll(world.Tree{"f": v, "gone": "g\n"})
	script := world.Shells("s", "sed -i 's/^line 15$/fifteen/' f")
	w.Plays(world.Lines([]string{script[0], world.Execs("touch ../ready"), world.Waits("go")}, script[1:])...)
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	w.Exists("../ready")
	e.Calls(turn.ID)
	w.Put("f", mine)
	w.Put("new", "new\n")
	require.NoError(t, os.Remove(w.Path("gone")))
	w.Put("../go", "")
	e.Ends(turn.ID)
	after := world.Tree{"f": w.Get("f"), "new": "new\n", "gone": "(absent)"}
	require.Contains(t, after["f"], "fifteen")
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": v, "new": "(absent)", "gone": "g\n"})
	w.Kill()
	w.Start()
	e = w.Opens()
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	w.RequireTree(after)
	// Now the person says which lines these are.
	for _, h := range e.Diffs()["f"].Hunks {
		method := "diff/accept"
		for _, l := range h.Lines {
			if l == "+fifteen" {
				method = "diff/reject"
			}
		}
		e.Decides(method, world.Obj{"hunks": []string{h.ID}})
	}
	w.RequireTree(world.Tree{"f": mine})
}

// TestChangesNearACommand has changes shortly before a command and shortly after it, which the command did not make. A
// change after the command and before the daemon's look at the files may be the command's, too: no evidence decides.
func TestChangesNearACommand(t *testing.T) {
	t.Parallel()
	stamped := func(subtype, ms, result string) string {
		return fmt.Sprintf(`{"type":"tool_call","subtype":%q,"call_id":"s","timestamp_ms":%s,"tool_call":{"shellToolCall":{"args":{"command":"x"}%s}}}`,
			subtype, ms, result)
	}
	w := world.New(t)
	w.PutAll(world.Tree{"far": "a\n", "before": "a\n", "in": "a\n", "after": "a\n"})
	// The agent says when its command ran when all is done, by the times on disk: nothing depends on who waits for whom.
	w.Put("../template", stamped("started", "START", "")+"\n"+
		stamped("completed", "END", `,"result":{"success":{"command":"x","exitCode":0,"stdout":""}}`)+"\n")
	w.Put("../say.sh", `ms() { stat -c %.3Z "$1" | tr -d .; }
sed "s/START/$(($(ms before)+30))/; s/END/$(($(ms after)-30))/" ../template`)
	say := `{"fake":"exec","argv":["sh","../say.sh"],"stdout":true}`
	w.Plays(world.Lines([]string{
		world.Execs("echo x >> far; sleep 0.5; echo x >> before; sleep 0.1; echo x >> in; sleep 0.1; echo x >> after; echo x > made"),
		say, world.Execs("sleep 0.3"),
	})...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	found := e.Diffs()
	require.Equal(t, []string{"not listed"}, world.Vias(found["far"]))
	require.Equal(t, []string{"not listed"}, world.Vias(found["before"]))
	require.Equal(t, []string{"shell"}, world.Vias(found["in"]))
	require.Equal(t, []string{"unknown"}, world.Vias(found["after"]))
	require.Equal(t, []string{"not listed"}, world.Vias(found["made"]))
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"far": "a\nx\n", "before": "a\nx\n", "in": "a\n", "after": "a\nx\n", "made": "x\n"})
}

// TestASaveRightAfterACommand has a command change a file, and a person save it between the command's end and the daemon's
// look at the files. Nobody can know whose the changes are, so all of them are listed.
func TestASaveRightAfterACommand(t *testing.T) {
	t.Parallel()
	v := world.Numbered(20, nil)
	edited := world.Numbered(20, map[int]string{2: "edited\n"})
	for name, row := range map[string]struct {
		first   string // text after an edit before the command
		command string // text before the person's save
		save    string
		want    []string // via of hunks
		left    string   // text after a reject of all
	}{
		"in place":            {v, "sed -i 's/^line 5$/agent/' f", "sed 's/^line 15$/mine/' f > ../x; cat ../x > f", []string{"unknown", "unknown"}, "mine"},
		"by renaming":         {v, "sed -i 's/^line 5$/agent/' f", "sed -i 's/^line 15$/mine/' f", []string{"unknown", "unknown"}, "mine"},
		"in a file in review": {edited, "sed -i 's/^line 5$/agent/' f", "sed -i 's/^line 15$/mine/' f", []string{"edit", "unknown", "unknown"}, "mine"},
		"another file":        {v, "sed -i 's/^line 5$/agent/' f", "echo mine > g", []string{"shell"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			w.Put("f", v)
			// The agent says when its command ended by the times on disk, when the person has saved.
			w.Put("../ends.sh", `sed "s/END/$(($(stat -c %.3Z ../ended | tr -d .)+30))/" ../end`)
			script := world.Shells("s", row.command+"; touch ../ended; sleep 0.1; "+row.save)
			w.Put("../end", strings.Replace(script[2], "{{now_ms}}", "END", 1)+"\n")
			script[2] = `{"fake":"exec","argv":["sh","../ends.sh"],"stdout":true}`
			first := []string{}
			if row.first != v {
				first = append(world.Edits("e", "f", v, row.first), `{"fake":"sleep","ms":100}`)
			}
			w.Plays(world.Lines(first, script)...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			vias := world.Vias(e.Diffs()["f"])
			if row.first != v && len(vias) > 1 && vias[1] == "shell" {
				// The daemon watches a file in review. It has looked between the command and the save, and so it knows what the
				// command wrote. Whose the save is it may know or not.
				require.Contains(t, [][]string{{"edit", "shell"}, {"edit", "shell", "unknown"}}, vias)
				e.Decides("diff/reject", world.Obj{"all": true})
				require.Equal(t, world.Numbered(20, map[int]string{15: "mine\n"}), w.Get("f"))
				return
			}
			if row.first != v && len(vias) == 2 {
				// It has looked before the save, and the save came while it looked: it does not know what the command wrote.
				require.Equal(t, []string{"edit", "unknown"}, vias)
				e.Decides("diff/reject", world.Obj{"all": true})
				require.Equal(t, world.Numbered(20, map[int]string{5: "agent\n", 15: "mine\n"}), w.Get("f"))
				return
			}
			require.Equal(t, row.want, vias)
			require.NotContains(t, e.Diffs(), "g")
			after := w.Get("f")
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Equal(t, row.left != "", strings.Contains(w.Get("f"), "mine"))
			if row.left == "" {
				w.RequireTree(world.Tree{"f": v, "g": "mine\n"})
				return
			}
			require.Equal(t, strings.Replace(after, "edited", "line 2", 1), w.Get("f"))
			for _, h := range e.Diffs()["f"].Hunks {
				e.Decides("diff/reject", world.Obj{"hunks": []string{h.ID}})
			}
			require.Equal(t, v, w.Get("f"))
		})
	}
}

// TestMovedAndChanged has commands move files and also change them.
func TestMovedAndChanged(t *testing.T) {
	t.Parallel()
	v := world.Numbered(20, nil)
	w := world.New(t)
	w.PutAll(world.Tree{"a": v, "b": "b\n", "c": v + "c\n", "d/e": v + "e\n", "f": "f\n"})
	w.Plays(world.Lines(world.Shells("s", "mv a a2; echo more >> a2; mv b b2; echo nothing of it > b2; "+
		"mv c c2; mv d d2; echo more >> d2/e; rm f; echo other > g"))...)
	w.Rests()
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	kinds := map[string]string{}
	for path, d := range e.Diffs() {
		kinds[path] = fmt.Sprint(d.Kind, " ", d.OldPath)
		require.Equal(t, "known", d.Baseline, path)
	}
	require.Equal(t, map[string]string{
		"a2": "renamed a", "b2": "renamed b", "c2": "renamed c", "d2/e": "renamed d/e", "f": "deleted ", "g": "created ",
	}, kinds)
	require.Len(t, e.Diffs()["a2"].Hunks, 2)
	// The text alone, then the move.
	e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(e.Diffs()["a2"])[1:]})
	w.RequireTree(world.Tree{"a": "(absent)", "a2": v})
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{
		"a": v, "b": "b\n", "c": v + "c\n", "d/e": v + "e\n", "f": "f\n", "a2": "(absent)", "b2": "(absent)", "g": "(absent)",
	})
	require.NoDirExists(t, w.Path("d2"))
}

// TestALookBeforeTheWordIsNoPersons has two calls write a file under review. The daemon looks at it before the agent has
// reported the first call's change.
func TestALookBeforeTheWordIsNoPersons(t *testing.T) {
	t.Parallel()
	v0 := world.Numbered(20, nil)
	v1 := world.Numbered(20, map[int]string{3: "three"})
	v2 := world.Numbered(20, map[int]string{3: "three", 9: "nine"})
	v3 := world.Numbered(20, map[int]string{3: "three", 9: "nine", 15: "fifteen"})
	writes := func(text string) string { return fmt.Sprintf(`{"fake":"write","path":"f","text":%q}`, text) }
	b, c := world.Edits("b", "f", v1, v2), world.Edits("c", "f", v2, v3)
	said := world.Lines(b[len(b)-1:], c[:1], c[len(c)-1:], []string{world.Done})
	for _, s := range []struct {
		name  string
		after []string
		want  string
	}{
		{"the word comes", said, v0},
		{"no word comes", []string{world.Done}, world.Numbered(20, map[int]string{9: "nine"})}, // the change may be a person's
	} {
		t.Run(s.name, func(t *testing.T) {
			w := world.New(t)
			w.Put("f", v0)
			w.Plays(world.Lines(world.Edits("a", "f", v0, v1), []string{world.Done})...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)

			w.Plays(world.Lines([]string{writes(v2)}, b[:1], []string{world.Waits("go"), writes(v3), world.Execs("touch ../written"), world.Waits("on")}, s.after)...)
			turn := e.Asks(nil)
			e.Calls(turn.ID)
			w.Put("../go", "")
			w.Exists("../written")
			e.Diffs()
			e.Must("diff/list", world.Obj{"workspace": w.Root, "path": "f"}, nil)
			w.Put("../on", "")
			e.Ends(turn.ID)
			w.RequireTree(world.Tree{"f": v3})
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"f": s.want})
		})
	}
}

// TestCancelledInACall cancels turns during calls that have written without a report.
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
				w := world.New(t)
				w.PutAll(world.Tree{"f": "f\n"})
				call := world.Edits("1", c.path, c.before, c.after)
				w.Plays(world.Lines(call[:1], []string{fmt.Sprintf(`{"fake":"wait","path":%q}`, w.Path("../go"))}, call[1:2], []string{world.Execs("touch " + w.Path("../written")), `{"fake":"hang"}`})...)
				w.Start()
				e := w.Opens()
				var made struct{ Session sessions.Session }
				e.Must("session/create", world.Obj{"workspace": w.Root, "isolation": isolation}, &made)
				turn := e.Asks(world.Obj{"sessionId": made.Session.ID})
				e.Calls(turn.ID)
				w.Put("../go", "")
				w.Exists("../written")
				e.Must("turn/cancel", world.Obj{"turnId": turn.ID}, nil)
				require.Equal(t, sessions.TurnCancelled, e.Ends(turn.ID).Status)
				found := e.Diffs()
				if c.kind == "" {
					require.Empty(t, found)
					return
				}
				require.Equal(t, []string{c.path}, world.Sorted(world.Keys(found)))
				require.Equal(t, c.kind, string(found[c.path].Kind))
				e.Decides("diff/reject", world.Obj{"all": true})
				w.RequireTree(world.Tree{c.path: c.before})
				require.Empty(t, e.Diffs())
			})
		}
	}
}

//go:build unix

package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// beneath has a person change line 2 of ten, unsaved, while the agent changes other lines, and also line 2 if it is to
// conflict.
func beneath(t *testing.T, conflicts bool) (w *world.World, e *world.Editor, doc *world.Document, before, after string) {
	t.Helper()
	w = world.New(t)
	changed := map[int]string{6: "agent 6\n", 9: "agent 9\nagent 9b\n"}
	if conflicts {
		changed[2] = "agent 2\n"
	}
	before, after = world.Numbered(10, nil), world.Numbered(10, changed)
	w.Put("f", before)
	w.Start()
	e = w.Opens()
	doc = e.OpenDocument("f")
	doc.Types("line 2\n", "mine 2\n")
	w.Plays(world.Lines(world.Edits("c", "f", before, after))...)
	e.Turn(nil)
	return w, e, doc, before, after
}

// merged asks for the edits that bring the disk's lines into the document, and makes them.
func merged(e *world.Editor, doc *world.Document) {
	e.T.Helper()
	var out api.Decided
	e.Must("diff/merge", world.Obj{"workspace": e.World.Root, "path": doc.Path}, &out)
	doc.Applies(out.Edits)
}

// TestDecisionRightAfterAMerge: a decision about everything knows the text that was reported just before it. Once it answered that there was nothing.
func TestDecisionRightAfterAMerge(t *testing.T) {
	t.Parallel()
	for _, params := range []world.Obj{{"all": true}, {"path": "f"}} {
		_, e, doc, _, _ := beneath(t, false)
		e.Until("what can be merged", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Mergeable > 0 })
		merged(e, doc)
		require.Equal(t, 2, e.Decides("diff/accept", params).Applied)
	}
}

func TestAgentsLinesComeIntoAnUnsavedBuffer(t *testing.T) {
	t.Parallel()
	w, e, doc, before, after := beneath(t, false)
	seen := e.Until("what can be merged", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Mergeable > 0 }).Diff
	require.Equal(t, 2, seen.Mergeable)
	typed := doc.Text
	merged(e, doc)
	require.Equal(t, strings.Replace(after, "line 2\n", "mine 2\n", 1), doc.Text)
	d := e.Diffs()["f"]
	require.Len(t, d.Hunks, 2, "under review in the buffer")
	require.Zero(t, d.Mergeable)
	require.Zero(t, d.DiskOnly)
	w.RequireTree(world.Tree{"f": after})

	both := doc.Text
	doc.Set(typed) // the editor's undo
	require.Zero(t, e.Diffs()["f"], "it is not offered again")
	doc.Set(both)
	require.Len(t, e.Diffs()["f"].Hunks, 2)
	out := e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(e.Diffs()["f"])[:1]})
	doc.Applies(out.Edits)
	doc.Save()
	require.Len(t, e.Diffs()["f"].Hunks, 1)
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": strings.Replace(before, "line 2\n", "mine 2\n", 1)})
}

// TestASaveByAnotherProgramBeneathAnUnsavedBuffer: its lines come into the buffer. A line that the person has changed too is not
// shown in any hunk, so a member says that a save would overwrite it.
func TestASaveByAnotherProgramBeneathAnUnsavedBuffer(t *testing.T) {
	t.Parallel()
	w, e, doc, _, _ := beneath(t, false)
	e.Until("what can be merged", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Mergeable == 2 })
	merged(e, doc)
	w.Put("f", strings.NewReplacer("line 2\n", "theirs 2\n", "line 4\n", "theirs 4\n").Replace(w.Get("f")))
	d := e.Until("what overlaps", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Overlaps > 0 }).Diff
	require.Equal(t, 1, d.Overlaps)
	require.Equal(t, 1, d.Mergeable)
	require.Len(t, d.Hunks, 2, "the agent's")
	want := strings.Replace(doc.Text, "line 4\n", "theirs 4\n", 1)
	merged(e, doc)
	require.Equal(t, want, doc.Text)
	d = e.Diffs()["f"]
	require.Zero(t, d.Mergeable)
	require.Equal(t, 1, d.Overlaps)
	doc.Save()
	require.Zero(t, e.Diffs()["f"].Overlaps)
	require.Len(t, e.Diffs()["f"].Hunks, 2)
}

// TestASaveOverAgentsLinesIsADecision: a person saves a text that never had the agent's lines. Undo brings these back.
func TestASaveOverAgentsLinesIsADecision(t *testing.T) {
	t.Parallel()
	for _, conflicts := range []bool{false, true} {
		w, e, doc, _, after := beneath(t, conflicts)
		e.Until("what is on disk", func(n world.Notification) bool { return n.Diff != nil && n.Diff.DiskOnly > 0 })
		doc.Save()
		require.Empty(t, e.Diffs())
		w.RequireTree(world.Tree{"f": doc.Text})
		out := w.CursordOK("undo", "--workspace", w.Root)
		require.Contains(t, out, "f")
		d := e.Diffs()["f"]
		require.NotNil(t, d)
		got := w.Get("f")
		if conflicts { // the hunk has both sides, and a reject brings the person's back
			require.Subset(t, d.Hunks[0].Lines, []string{"-mine 2", "+agent 2"})
		} else {
			require.Contains(t, got, "mine 2\n")
		}
		for _, line := range world.SplitAfter(after) {
			if strings.HasPrefix(line, "agent") {
				require.Contains(t, got, line)
			}
		}
		e.Decides("diff/reject", world.Obj{"all": true})
		w.RequireTree(world.Tree{"f": doc.Text})
	}
}

func conflicting(d *sessions.Diff) (found []sessions.Hunk) {
	for _, h := range d.Hunks {
		if h.State == "conflict" {
			found = append(found, h)
		}
	}
	return found
}

func TestConflictsWithAnUnsavedBuffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keep, method string
		params       world.Obj
		text         string
	}{
		{"mine", "diff/reject", world.Obj{}, "mine 2\n"},
		{"the agent's", "diff/accept", world.Obj{}, "agent 2\n"},
		{"both", "diff/accept", world.Obj{"both": true}, "mine 2\nagent 2\n"},
	} {
		t.Run(c.keep, func(t *testing.T) {
			t.Parallel()
			w, e, doc, _, after := beneath(t, true)
			e.Until("a conflict", func(n world.Notification) bool { return n.Diff != nil && len(conflicting(n.Diff)) == 1 })
			merged(e, doc)
			want := strings.Replace(after, "agent 2\n", "mine 2\n", 1)
			require.Equal(t, want, doc.Text, "what overlaps stays the person's")
			d := e.Diffs()["f"]
			require.Len(t, d.Hunks, 3)
			h := conflicting(d)[0]
			require.Equal(t, []string{"-mine 2", "+agent 2"}, h.Lines)
			require.Equal(t, 2, h.OldStart)
			require.Len(t, h.Sources, 1)

			out := e.Decides("diff/accept", world.Obj{"all": true})
			require.Equal(t, 2, out.Applied)
			require.Equal(t, []api.Skipped{{Path: "f", Hunk: h.ID, Kind: api.KindConflict, Message: out.Skipped[0].Message}}, out.Skipped)

			other := w.Opens()
			err := other.Fails("diff/accept", world.Obj{"workspace": w.Root, "hunks": []string{h.ID}})
			require.Equal(t, api.KindConflict, err.Data.Kind)
			require.Contains(t, err.Message, "unsaved")

			c.params["hunks"] = []string{h.ID}
			out = e.Decides(c.method, c.params)
			require.Equal(t, 1, out.Applied)
			if c.keep == "mine" {
				require.Empty(t, out.Edits)
			} else {
				doc.Applies(out.Edits)
			}
			require.Equal(t, strings.Replace(after, "agent 2\n", c.text, 1), doc.Text)
			require.Empty(t, e.Diffs())
			doc.Types("line 1\n", "line 1 typed\n")
			require.Empty(t, e.Diffs(), "it stays decided")
			doc.Save()
			require.Empty(t, e.Diffs())
			w.RequireTree(world.Tree{"f": doc.Text})

			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			require.Contains(t, w.Get("f"), "agent 2\n")
			require.NotEmpty(t, e.Diffs()["f"].Hunks)
			require.Equal(t, c.keep == "both", strings.Contains(w.Get("f"), "mine 2\n"))
			for verb, want := range map[string]string{"diff/accept": "agent 2\n", "diff/reject": "mine 2\n"} {
				if c.keep == "both" && verb == "diff/accept" {
					want = "mine 2\nagent 2\n"
				}
				e.Decides(verb, world.Obj{"all": true})
				require.Equal(t, strings.Replace(doc.Text, c.text, want, 1), w.Get("f"))
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			}
		})
	}
}

// TestASaveOverAgentsLinesInACall: a person saves a text that never had the lines of one call, while another call names the
// file. Before, the agent's lines went without a decision, and undo could not bring them back.
func TestASaveOverAgentsLinesInACall(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"one call after the other", "both calls open", "the second call fails", "a later call", "a later call fails"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := world.Numbered(12, nil)
			after := world.Numbered(12, map[int]string{6: "agent 6\n"})
			w := world.New(t)
			w.Put("f", before)
			w.Start()
			e := w.Opens()
			doc := e.OpenDocument("f")
			doc.Types("line 2\n", "mine 2\n")
			saved := doc.Text
			first, second := world.Edits("c", "f", before, after), world.Edits("d", "f", saved, strings.Replace(saved, "line 11\n", "agent 11\n", 1))
			wait := []string{world.Waits("go")}
			last, later := "agent 11\n", strings.HasPrefix(name, "a later call")
			if strings.HasSuffix(name, "fails") {
				last = "line 11\n"
				second[1] = `{"type":"tool_call","subtype":"completed","call_id":"d","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/f"},"result":{"error":{"error":"it does not fit"}}}}}`
			}
			lines := world.Lines(first, second[:1], wait, second[1:])
			switch {
			case name == "both calls open":
				lines = world.Lines(first[:1], second[:1], first[1:], wait, second[1:])
			case later:
				lines = world.Lines(first, []string{world.Waits("later")}, second[:1], wait, second[1:])
			}
			w.Plays(lines...)
			turn := e.Asks(nil)
			begun := func(call string, status sessions.ItemStatus) {
				e.Until(call, func(n world.Notification) bool {
					return n.Item != nil && n.Item.TurnID == turn.ID && n.Item.Tool != nil && n.Item.Tool.CallID == call && n.Item.Status == status
				})
			}
			begun("c", sessions.ItemCompleted)
			if later {
				e.Until("the first call's lines under review", func(n world.Notification) bool {
					return n.Method == "diff/changed" && n.Diff.Path == "f"
				})
				w.Put("../later", "")
			}
			begun("d", sessions.ItemRunning)
			require.Equal(t, after, w.Get("f"))
			e.Diffs() // a barrier: the daemon has read the file after the first call
			doc.Save()
			e.Diffs() // a barrier: the daemon knows of the save
			w.Put("../go", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			if d := e.Diffs()["f"]; last == "line 11\n" {
				require.Nil(t, d)
			} else {
				require.NotNil(t, d)
				require.Len(t, d.Hunks, 1)
				require.Contains(t, d.Hunks[0].Lines, "+agent 11")
			}
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			require.Equal(t, world.Numbered(12, map[int]string{2: "mine 2\n", 6: "agent 6\n", 11: last}), w.Get("f"))
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"f": saved})
		})
	}
}

// TestASaveAfterARestartIsADecision: after a restart the daemon does not know which text the editor's unsaved one was made
// of. Whatever it guesses, undo brings back the agent's lines that the save removes.
func TestASaveAfterARestartIsADecision(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]func(before, after string) string{
		"the editor never had the agent's lines": func(before, _ string) string { return strings.Replace(before, "line 2\n", "mine 2\n", 1) },
		"the editor had all but one":             func(_, after string) string { return strings.Replace(after, "agent 6\n", "mine 6\n", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, _, before, after := beneath(t, true)
			w.Kill()
			w.Start()
			e := w.Opens()
			doc := &world.Document{E: e, Path: "f", Uri: "file://" + w.Path("f"), Version: 1, Text: text(before, after)}
			doc.Note("document/didOpen", world.Obj{"text": doc.Text}) // a connection that outlives daemons does this too
			e.Diffs()
			doc.Save()
			e.Diffs()
			saved := doc.Text
			w.RequireTree(world.Tree{"f": saved})
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			got := w.Get("f")
			for _, line := range world.SplitAfter(after) {
				if strings.HasPrefix(line, "agent") {
					require.Contains(t, got, line)
				}
			}
			e.Decides("diff/reject", world.Obj{"all": true})
			for _, line := range world.SplitAfter(saved) {
				if strings.HasPrefix(line, "mine") {
					require.Contains(t, w.Get("f"), line)
				}
			}
		})
	}
}

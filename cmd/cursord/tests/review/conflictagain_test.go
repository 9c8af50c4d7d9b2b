//go:build unix

package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAConflictSurvivesTheEndOfTheDaemon: the text with the merged lines is nearer to the disk than to what it was made of, so the next
// daemon took the person's line for a change of the agent's.
func TestAConflictSurvivesTheEndOfTheDaemon(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world.World){"killed": (*world.World).Kill, "stopped": (*world.World).Stop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e, doc, _, after := beneath(t, true)
			e.Until("a conflict", func(n world.Notification) bool { return n.Diff != nil && len(conflicting(n.Diff)) == 1 })
			merged(e, doc)
			require.Len(t, conflicting(e.Diffs()["f"]), 1)
			text := doc.Text
			end(w)
			w.Start()
			e = w.Opens()
			doc = &world.Document{E: e, Path: "f", Uri: "file://" + w.Path("f"), Version: 1, Text: text}
			doc.Note("document/didOpen", world.Obj{"text": text}) // a connection that outlives daemons does this
			h := conflicting(e.Diffs()["f"])
			require.Len(t, h, 1)
			require.Equal(t, []string{"-mine 2", "+agent 2"}, h[0].Lines)
			out := e.Decides("diff/reject", world.Obj{"hunks": []string{h[0].ID}})
			require.Empty(t, out.Edits, "reject keeps the person's line")
			doc.Save()
			e.Diffs()
			w.RequireTree(world.Tree{"f": strings.Replace(after, "agent 2\n", "mine 2\n", 1)})
		})
	}
}

// TestEditorsUndoOfAnAcceptedConflict: the conflict is open again. Before, nothing was shown, and a save removed the agent's line for good.
func TestEditorsUndoOfAnAcceptedConflict(t *testing.T) {
	t.Parallel()
	for _, both := range []bool{false, true} {
		w, e, doc, _, _ := beneath(t, true)
		e.Until("a conflict", func(n world.Notification) bool { return n.Diff != nil && len(conflicting(n.Diff)) == 1 })
		merged(e, doc)
		text, h := doc.Text, conflicting(e.Diffs()["f"])
		doc.Applies(e.Decides("diff/accept", world.Obj{"hunks": []string{h[0].ID}, "both": both}).Edits)
		require.Empty(t, conflicting(e.Diffs()["f"]))
		doc.Set(text) // the editor's undo
		require.Len(t, conflicting(e.Diffs()["f"]), 1)
		doc.Save()
		e.Diffs()
		w.CursordOK("undo", "--workspace", w.Root)
		require.Subset(t, e.Diffs()["f"].Hunks[0].Lines, []string{"-mine 2", "+agent 2"})
		require.Contains(t, w.Get("f"), "agent 2\n")
	}
}

// TestASaveRightAfterTheEndOfTheDaemon: an editor saves over an open conflict while no daemon runs, or before the next one has heard of its
// text. That is a decision, which undo takes back. Before, the agent's line was gone, and a hunk that was nobody's stayed.
func TestASaveRightAfterTheEndOfTheDaemon(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		w, e, doc, _, _ := beneath(t, true)
		e.Until("a conflict", func(n world.Notification) bool { return n.Diff != nil && len(conflicting(n.Diff)) == 1 })
		merged(e, doc)
		w.Kill()
		if late {
			w.Start()
			w.Opens().Diffs()
		}
		w.Put("f", doc.Text)
		if !late {
			w.Start()
		}
		e = w.Opens()
		for _, h := range e.Diffs()["f"].Hunks {
			require.NotContains(t, h.Lines, "-line 2")
		}
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
		require.Subset(t, e.Diffs()["f"].Hunks[0].Lines, []string{"-mine 2", "+agent 2"})
		require.Contains(t, w.Get("f"), "agent 2\n")
		e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
		require.Equal(t, doc.Text, w.Get("f"))
	}
}

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
		require.Contains(t, w.Get("f"), "mine 2\n")
		require.Contains(t, w.Get("f"), "agent 2\n")
	}
}

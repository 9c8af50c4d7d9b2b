//go:build unix

package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

// places returns the places of a file's hunks in the editor's text: lines and side.
func places(e *world.Editor, root, path string) (list []api.PlacedDocument) {
	var result rpc.PlaceResult
	e.Must("diff/place", world.Obj{"workspace": root, "path": path}, &result)
	for i := range result.Documents {
		for j := range result.Documents[i].Hunks {
			result.Documents[i].Hunks[j].ID = ""
		}
	}
	return result.Documents
}

// TestPlacesInTexts places hunks in a text like the disk's, in one with typed lines, and in one from before the agent's
// change.
func TestPlacesInTexts(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	require.Empty(t, places(d.e, d.w.Root, "f"), "nothing is open")
	doc := d.e.OpenDocument("f")
	hunk := func(from, to int, side api.Side) api.PlacedHunk {
		return api.PlacedHunk{From: from, To: to, Side: side}
	}
	as := func(version int, hunks ...api.PlacedHunk) []api.PlacedDocument {
		return []api.PlacedDocument{{Path: "f", Version: version, Hunks: hunks}}
	}
	require.Equal(t, as(doc.Version, hunk(4, 5, api.NewSide), hunk(14, 16, api.NewSide), hunk(25, 25, api.NewSide)), places(d.e, d.w.Root, "f"))
	doc.Types("line 1\n", "mine\nline 1\n")
	require.Equal(t, as(doc.Version, hunk(5, 6, api.NewSide), hunk(15, 17, api.NewSide), hunk(26, 26, api.NewSide)), places(d.e, d.w.Root, "f"))
	doc.Types("agent 5\n", "agent 5, and I\n")
	require.Equal(t, as(doc.Version, hunk(5, 5, api.NewSide), hunk(15, 17, api.NewSide), hunk(26, 26, api.NewSide)), places(d.e, d.w.Root, "f"),
		"what the person has rewritten is the person's")
	doc.Set(d.after)
	d.w.Plays(world.Lines(world.Edits("c2", "f", d.after, strings.Replace(d.after, "line 28\n", "agent 28\nand more\n", 1)))...)
	d.e.Turn(world.Obj{"prompt": "again"})
	require.Equal(t, as(doc.Version, hunk(4, 5, api.NewSide), hunk(14, 16, api.NewSide), hunk(25, 25, api.NewSide), hunk(27, 28, api.OldSide)),
		places(d.e, d.w.Root, "f"), "the text has not what came since")
	d.e.Fails("diff/place", world.Obj{"workspace": d.w.Root, "path": ""})
}

// TestPlacesOfIsolatedHunks: hunks of a copy are placed in the person's file at their own lines, and not at lines that look
// the same.
func TestPlacesOfIsolatedHunks(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before := strings.Repeat("a\nb\nc\nd\ne\n", 4)
	at := len(before) / 2
	after := before[:at] + strings.Replace(before[at:], "c\n", "C\nC2\n", 1)
	w.Put("f", before)
	w.Plays(world.Lines(world.Edits("c1", "f", before, after))...)
	w.Start()
	e := w.Opens()
	e.Ok(e.Isolates())
	doc := e.OpenDocument("f")
	place := func() api.PlacedHunk {
		list := places(e, w.Root, "f")
		require.Len(t, list, 1)
		require.Equal(t, doc.Version, list[0].Version)
		require.Len(t, list[0].Hunks, 1)
		return list[0].Hunks[0]
	}
	require.Equal(t, api.PlacedHunk{From: 12, To: 13, Side: api.OldSide}, place())
	doc.Set("1\n2\n3\n4\n5\n" + before)
	require.Equal(t, api.PlacedHunk{From: 17, To: 18, Side: api.OldSide}, place())

	// The edits of an accept change that place. A saved document gets edits only with asEdits.
	doc.Set(before)
	out := e.Decides("diff/accept", world.Obj{"all": true, "asEdits": true})
	require.Len(t, out.Edits, 1)
	require.Equal(t, 12, out.Edits[0].Edits[0].Range.Start.Line)
	require.Equal(t, before, w.Get("f"))
	fail := e.Fails("diff/undo", world.Obj{"workspace": w.Root, "asEdits": true})
	require.Contains(t, fail.Message, "about to change by the edits")
	doc.Set(before) // the editor has not made the edits
	require.Len(t, e.Diffs()["f"].Hunks, 1)
	require.Contains(t, e.Fails("diff/undo", world.Obj{"workspace": w.Root}).Message, "nothing to undo")
	require.Contains(t, e.Fails("diff/redo", world.Obj{"workspace": w.Root}).Message, "nothing to redo")
	out = e.Decides("diff/accept", world.Obj{"all": true})
	require.Empty(t, out.Edits)
	require.Equal(t, after, w.Get("f"))
}

// TestUndoOfTheEditorBehindASave: the editor's own undo brings back a rejected hunk's text, and the text is saved. The hunk
// comes back.
func TestUndoOfTheEditorBehindASave(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.OpenDocument("f")
	d.e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(d.e.Diffs()["f"])[:1]})
	one := strings.Replace(d.after, "agent 5\n", "line 5\n", 1)
	doc.Set(one)
	d.e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(d.e.Diffs()["f"])[:1]})
	doc.Set(d.w.Get("f"))
	require.Len(t, d.e.Diffs()["f"].Hunks, 1)

	doc.Set(d.after)
	require.Len(t, d.e.Diffs()["f"].Hunks, 3)
	doc.Types("line 1\n", "line 1\nmine\n")
	require.Len(t, d.e.Diffs()["f"].Hunks, 3)
	doc.Save()
	require.Len(t, d.e.Diffs()["f"].Hunks, 3)
	require.Contains(t, d.e.Fails("diff/undo", world.Obj{"workspace": d.w.Root}).Message, "nothing to undo")
	d.e.Must("diff/redo", world.Obj{"workspace": d.w.Root}, nil)
	require.Len(t, d.e.Diffs()["f"].Hunks, 2)
	require.Equal(t, strings.Replace(one, "line 1\n", "line 1\nmine\n", 1), d.w.Get("f"))
}

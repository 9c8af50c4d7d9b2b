//go:build unix

package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestAgentDeletesAnUnsavedFile: the agent deletes a file that an editor holds unsaved. A saved text is never lost, and
// without a save a decision is about the deletion alone.
func TestAgentDeletesAnUnsavedFile(t *testing.T) {
	t.Parallel()
	before := world.Numbered(5, nil)
	mine := world.Numbered(5, map[int]string{2: "mine 2\n"})
	for name, decide := range map[string]func(w *world.World, e *world.Editor, doc *world.Document){
		"saved": func(w *world.World, e *world.Editor, doc *world.Document) {
			doc.Save()
			require.Empty(e.T, e.Diffs(), "the save rejects the deletion")
			w.RequireTree(world.Tree{"f": mine})
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			require.Contains(e.T, w.Get("f"), "mine 2\n")
		},
		"rejected, and saved": func(w *world.World, e *world.Editor, doc *world.Document) {
			out := e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(e.Diffs()["f"])})
			require.Empty(e.T, out.Edits, "the text stays")
			w.RequireTree(world.Tree{"f": before})
			require.Empty(e.T, e.Diffs(), "the person's change is not the agent's")
			require.Empty(e.T, e.Decides("diff/undo", world.Obj{}).Edits, "the text stays")
			w.RequireTree(world.Tree{})
			require.Equal(e.T, "deleted", string(e.Diffs()["f"].Kind))
			require.Empty(e.T, e.Decides("diff/redo", world.Obj{}).Edits)
			w.RequireTree(world.Tree{"f": before})
			doc.Save()
			require.Empty(e.T, e.Diffs())
			w.RequireTree(world.Tree{"f": mine})
		},
		"rejected, and edited by the agent": func(w *world.World, e *world.Editor, doc *world.Document) {
			e.Decides("diff/reject", world.Obj{"all": true})
			after := world.Numbered(5, map[int]string{5: "agent 5\n"})
			w.Plays(world.Lines(world.Edits("d", "f", before, after))...)
			e.Turn(nil)
			e.Until("the text is over the file again", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Mergeable == 1 })
			merged(e, doc)
			doc.Save()
			w.RequireTree(world.Tree{"f": world.Numbered(5, map[int]string{2: "mine 2\n", 5: "agent 5\n"})})
			require.Len(e.T, e.Diffs()["f"].Hunks, 1)
		},
		"accepted, and saved": func(w *world.World, e *world.Editor, doc *world.Document) {
			e.Decides("diff/accept", world.Obj{"hunks": world.HunkIDs(e.Diffs()["f"])})
			require.Empty(e.T, e.Diffs())
			w.RequireTree(world.Tree{})
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			require.Equal(e.T, "deleted", string(e.Diffs()["f"].Kind))
			e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
			require.Empty(e.T, e.Diffs())
			doc.Save()
			require.Empty(e.T, e.Diffs(), "it is the person's file")
			w.RequireTree(world.Tree{"f": mine})
		},
		"closed, and rejected": func(w *world.World, e *world.Editor, doc *world.Document) {
			doc.Closes()
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"f": before})
		},
		"closed, and accepted": func(w *world.World, e *world.Editor, doc *world.Document) {
			doc.Closes()
			e.Decides("diff/accept", world.Obj{"all": true})
			w.RequireTree(world.Tree{})
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"f": before})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			w.Start()
			e := w.Opens()
			doc := e.OpenDocument("f")
			doc.Types("line 2\n", "mine 2\n")
			w.Plays(world.Lines(world.Deletes("c", "f", before))...)
			e.Turn(nil)
			require.Equal(t, []string{"deleted"}, []string{string(w.Opens().Diffs()["f"].Kind)})
			decide(w, e, doc)
		})
	}
}

// TestNobodyWritesWhereAnotherEditorHasUnsavedText has an agent take a file away that an editor holds unsaved. Another client's decision
// would write there. It is refused, also if the person typed after the file had gone; a move once wrote both of its paths unasked. The
// editor's requests before the decision are barriers: its connection and the other one have no order of their own.
func TestNobodyWritesWhereAnotherEditorHasUnsavedText(t *testing.T) {
	t.Parallel()
	before := world.Numbered(5, nil)
	conflict := func(other *world.Editor, method string, params world.Obj) {
		other.T.Helper()
		out := other.Decides(method, params)
		require.Zero(other.T, out.Applied)
		require.Len(other.T, out.Skipped, 1)
		require.Equal(other.T, api.KindConflict, out.Skipped[0].Kind)
		require.Contains(other.T, out.Skipped[0].Message, "f has unsaved changes in an editor")
	}
	for _, c := range []struct {
		name  string
		lines []string
		copy  bool
		late  bool // the person types when the file has gone
	}{
		{name: "deleted by a call", lines: world.Deletes("c", "f", before)},
		{name: "deleted by a command", lines: world.Shells("c", "rm f")},
		{name: "deleted before the person types", lines: world.Deletes("c", "f", before), late: true},
		{name: "deleted in a copy", lines: world.Shells("c", "rm f"), copy: true},
		{name: "moved", lines: world.Shells("c", "mv f g")},
		{name: "moved before the person types", lines: world.Shells("c", "mv f g"), late: true},
		{name: "moved in a copy", lines: world.Shells("c", "mv f g"), copy: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			w.Commits()
			w.Start()
			e := w.Opens()
			doc := e.OpenDocument("f")
			types := func() {
				doc.Types("line 2\n", "mine 2\n")
				e.Status()
			}
			if !c.late {
				types()
			}
			params, method := world.Obj{}, "diff/reject"
			if c.copy {
				params["sessionId"], method = e.Isolates().ID, "diff/accept"
			}
			w.Plays(world.Lines(c.lines)...)
			require.Equal(t, sessions.TurnCompleted, e.Turn(params).Status)
			if c.late {
				types()
			}
			left := w.Listing()
			other := w.Opens()
			conflict(other, method, world.Obj{"all": true})
			for _, d := range other.Diffs() {
				err := other.Fails(method, world.Obj{"workspace": w.Root, "hunks": world.HunkIDs(d)})
				require.Equal(t, api.KindConflict, err.Data.Kind)
				require.Contains(t, err.Message, "f has unsaved changes in an editor")
			}
			require.Equal(t, left, w.Listing())

			doc.Closes()
			e.Status()
			require.Equal(t, 1, other.Decides(method, world.Obj{"all": true}).Applied)
			decided := w.Listing()
			require.NotEqual(t, left, decided)
			if !c.copy {
				require.Equal(t, before, w.Get("f"))
			}

			doc.Version++
			doc.Note("document/didOpen", world.Obj{"text": doc.Text})
			e.Status()
			err := other.Fails("diff/undo", world.Obj{"workspace": w.Root})
			require.Equal(t, api.KindConflict, err.Data.Kind)
			require.Contains(t, err.Message, "f has unsaved changes in an editor")
			require.Equal(t, decided, w.Listing())
			doc.Closes()
			e.Status()
			other.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			require.Equal(t, left, w.Listing())
		})
	}
}

// TestAMergeWithoutAFile: the agent edits a file that an editor holds unsaved, and then takes it away. A merge, which was offered before,
// changes nothing. Once it took out what the person had typed since.
func TestAMergeWithoutAFile(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	after := world.Numbered(12, map[int]string{8: "agent\n"})
	for name, c := range map[string]struct {
		command, decide string
	}{
		"deleted":                    {command: "rm f"},
		"deleted, accepted":          {"rm f", "accept"},
		"deleted, accepted, undone":  {"rm f", "accept undo"},
		"deleted, rejected":          {"rm f", "reject"},
		"deleted, rejected, undone":  {"rm f", "reject undo"},
		"moved":                      {command: "mv f m"},
		"moved, rejected":            {"mv f m", "reject"},
		"moved, rejected and undone": {"mv f m", "reject undo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			w.Commits()
			w.Start()
			e := w.Opens()
			doc := e.OpenDocument("f")
			doc.Types("line 3\n", "line 3\nmine 3\n")
			w.Plays(world.Lines(world.Edits("1", "f", before, after))...)
			e.Turn(nil)
			e.Until("a merge is offered", func(n world.Notification) bool { return n.Diff != nil && n.Diff.Mergeable == 1 })
			w.Plays(world.Lines(world.Shells("2", c.command))...)
			e.Turn(nil)
			doc.Types("line 10\n", "line 10\nmine 10\n")
			for _, method := range strings.Fields(c.decide) {
				params := world.Obj{"workspace": w.Root}
				if method != "undo" {
					params["all"] = true
				}
				var out api.Decided
				if e.Call("diff/"+method, params, &out) == nil && len(out.Edits) > 0 {
					doc.Applies(out.Edits)
				}
			}
			var out api.Decided
			if e.Call("diff/merge", world.Obj{"workspace": w.Root, "path": "f"}, &out) == nil && len(out.Edits) > 0 {
				doc.Applies(out.Edits)
			}
			require.Contains(t, doc.Text, "mine 3\n")
			require.Contains(t, doc.Text, "mine 10\n")
			for n := 1; n <= 12; n++ {
				if n != 8 {
					require.Contains(t, doc.Text, fmt.Sprintf("line %d\n", n))
				}
			}
		})
	}
}

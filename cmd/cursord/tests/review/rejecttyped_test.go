//go:build unix

package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestTypingOnARejectedLineKeepsTheReject rejects a hunk in unsaved text, types on the restored line and saves, with the
// daemon hearing of the typing at different moments.
func TestTypingOnARejectedLineKeepsTheReject(t *testing.T) {
	t.Parallel()
	const restored, typed = "FILE = \"todo.txt\"\n", "FILE = \"todo.txt\" # mine\n"
	before := "import os\nFILE = \"todo.txt\"\n\nx = 1\ny = 2\nz = 3\n"
	after := strings.Replace(before, `"todo.txt"`, `"/tmp/todo.txt"`, 1)
	edited := func(doc *world.Document) { doc.Types(restored, typed) }
	for name, finish := range map[string]func(e *world.Editor, doc *world.Document, applied string){
		"each report": func(e *world.Editor, doc *world.Document, applied string) {
			doc.Set(applied)
			e.Diffs()
			edited(doc)
			e.Diffs()
			doc.Save()
		},
		"one report": func(e *world.Editor, doc *world.Document, applied string) {
			doc.Set(strings.Replace(applied, restored, typed, 1))
			e.Diffs()
			doc.Save()
		},
		"one report, save at once": func(e *world.Editor, doc *world.Document, applied string) {
			doc.Set(strings.Replace(applied, restored, typed, 1))
			doc.Save()
		},
		"each report, save at once": func(e *world.Editor, doc *world.Document, applied string) {
			doc.Set(applied)
			edited(doc)
			doc.Save()
		},
		"report, look, report, save at once": func(e *world.Editor, doc *world.Document, applied string) {
			doc.Set(applied)
			e.Diffs()
			edited(doc)
			doc.Save()
		},
		"close": func(e *world.Editor, doc *world.Document, applied string) {
			doc.Set(applied)
			e.Diffs()
			edited(doc)
			e.Diffs()
			e.World.Put("f", doc.Text)
			doc.Closes()
		},
		"saved before the report": func(e *world.Editor, doc *world.Document, applied string) {
			doc.Set(applied)
			e.Diffs()
			doc.Text = strings.Replace(applied, restored, typed, 1)
			e.World.Put("f", doc.Text)
			e.Diffs()
			doc.Set(doc.Text)
			doc.Closes()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := world.Reviewing(t, "f", before, after)
			doc := e.OpenDocument("f")
			doc.Types("z = 3\n", "z = 3\nmine\n")
			out := e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(e.Diffs()["f"])})
			require.Len(t, out.Edits, 1)
			applied := strings.Replace(doc.Text, "FILE = \"/tmp/todo.txt\"\n", restored, 1)
			finish(e, doc, applied)
			require.Empty(t, e.Diffs(), "the reject stays")
			want := strings.Replace(before, restored, typed, 1) + "mine\n"
			w.RequireTree(world.Tree{"f": want})
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"f": want})
		})
	}
}

// TestAnUndoneRejectIsPendingAfterASaveAtOnce has the editor's undo take back a reject in unsaved text, and saves before the
// daemon has looked at the report.
func TestAnUndoneRejectIsPendingAfterASaveAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	doc := d.e.OpenDocument("f")
	doc.Types("line 1\n", "mine\nline 1\n")
	typed := doc.Text
	out := d.e.Decides("diff/reject", world.Obj{"all": true})
	doc.Applies(out.Edits)
	require.Empty(t, d.e.Diffs())
	doc.Set(typed)
	doc.Save()
	require.Len(t, d.e.Diffs()["f"].Hunks, 3)
	d.w.RequireTree(world.Tree{"f": typed})
}

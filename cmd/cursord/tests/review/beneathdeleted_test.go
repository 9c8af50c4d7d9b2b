//go:build unix

package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
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
			e.Diffs()
			w.RequireTree(world.Tree{"f": mine})
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Contains(e.T, w.Get("f"), "mine 2\n")
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

//go:build unix

package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestASaveOfMergedChanges: an editor opens a file with text that is unsaved already, merges what the agent has written beside it, and
// saves. The text has all of the agent's changes, so the save rejects none. Once it rejected a deletion beside the person's line, and an
// undo of that brought nothing back.
func TestASaveOfMergedChanges(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	for name, after := range map[string]string{
		"the line before is deleted": world.Numbered(12, map[int]string{2: ""}),
		"the line after is deleted":  world.Numbered(12, map[int]string{3: ""}),
		"a line is changed":          world.Numbered(12, map[int]string{2: "agent\n"}),
		"a line far away is deleted": world.Numbered(12, map[int]string{9: ""}),
	} {
		for _, restarts := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", by the next daemon"}[restarts], func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("f", before)
				w.Start()
				e := w.Opens()
				doc := &world.Document{E: e, Path: "f", Uri: "file://" + w.Path("f"), Text: world.Numbered(12, map[int]string{2: "line 2\nmine\n"})}
				doc.Note("document/didOpen", world.Obj{"text": doc.Text})
				w.Plays(world.Lines(world.Edits("c", "f", before, after))...)
				e.Turn(nil)
				if restarts {
					w.Kill()
					w.Start()
					e = w.Opens()
					doc.E = e
					doc.Note("document/didOpen", world.Obj{"text": doc.Text})
					e.Diffs()
				}
				merged(e, doc)
				hunks := e.Diffs()["f"]
				require.NotNil(t, hunks)
				doc.Save()
				left := e.Diffs()["f"]
				require.NotNil(t, left, "the save has decided it")
				require.Len(t, left.Hunks, len(hunks.Hunks))
				e.Decides("diff/reject", world.Obj{"all": true})
				require.ElementsMatch(t, strings.Split(before+"mine\n", "\n"), strings.Split(w.Get("f"), "\n"))
			})
		}
	}
}

//go:build unix

package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestASaveAfterARejectInEitherOrder has an editor whose buffer still has rejected lines save them with something typed. The reject is
// taken back, whether the daemon hears of the typing before it sees the save or after it, and what was typed is the person's.
func TestASaveAfterARejectInEitherOrder(t *testing.T) {
	t.Parallel()
	before := world.Numbered(20, nil)
	agents := world.Numbered(20, map[int]string{5: "agent 5\n", 15: "agent 15\n"})
	typed := func(text string) string { return "mine\n" + text }
	for _, c := range []struct {
		name, before, after string
		rejects, hunks      int
	}{
		{"a new file", "(absent)", "brand\nnew\n", 1, 1},
		{"a changed file", before, agents, 2, 2},
		{"one of two hunks", before, agents, 1, 2},
		{"a deletion", before, strings.Replace(before, "line 5\n", "", 1), 1, 0}, // a person may delete the line, too
	} {
		for _, order := range []string{"told before the save", "saved before it is told", "saved and never told"} {
			t.Run(c.name+", "+order, func(t *testing.T) {
				w := world.New(t)
				w.Put("f", c.before)
				w.Start()
				e := w.Opens()
				w.Plays(world.Lines(world.Edits("c", "f", c.before, c.after))...)
				e.Turn(nil)
				doc := e.OpenDocument("f")
				e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(e.Diffs()["f"])[:c.rejects]})
				require.Equal(t, c.rejects == max(c.hunks, 1), c.before == w.Get("f"))
				text := typed(c.after)
				save := func() {
					w.Put("f", text)
					e.Diffs() // the daemon looks at the file
				}
				switch order {
				case "told before the save":
					doc.Set(text)
					e.Diffs()
					save()
				case "saved before it is told":
					save()
					doc.Set(text)
				default:
					doc.Version, doc.Text = doc.Version+1, text
					save()
				}
				doc.Note("document/didSave", world.Obj{})
				d := e.Diffs()["f"]
				if c.hunks == 0 {
					require.Nil(t, d)
					return
				}
				require.NotNil(t, d)
				require.Len(t, d.Hunks, c.hunks)
				for _, h := range d.Hunks {
					require.NotContains(t, h.Lines, "+mine")
				}
				require.Contains(t, e.Fails("diff/undo", world.Obj{"workspace": w.Root}).Message, "nothing to undo")
				e.Decides("diff/reject", world.Obj{"all": true})
				if c.before == "(absent)" {
					require.Equal(t, "mine\n", strings.TrimSuffix(w.Get("f"), "(absent)"))
				} else {
					require.Equal(t, typed(c.before), w.Get("f"))
				}
			})
		}
	}
}

//go:build unix

package review

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAConflictAcceptedAndSavedUnheard: an editor makes the edits of an accept and saves the file before the daemon has heard of the new text, which
// it may hear of late, only with the save, or never. The file has what was chosen, nothing is left to review, and an undo opens the conflict again.
func TestAConflictAcceptedAndSavedUnheard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		both bool
		want string
	}{{false, "agent 2\n"}, {true, "mine 2\nagent 2\n"}} {
		for name, hears := range world.LateReports {
			for _, looks := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					w, e, doc, _, after := beneath(t, true)
					e.Until("a conflict", func(n world.Notification) bool { return n.Diff != nil && len(conflicting(n.Diff)) == 1 })
					merged(e, doc)
					h := conflicting(e.Diffs()["f"])
					require.Len(t, h, 1)
					out := e.Decides("diff/accept", world.Obj{"hunks": []string{h[0].ID}, "both": c.both})
					require.Len(t, out.Edits, 1)
					text := strings.Replace(doc.Text, "mine 2\n", c.want, 1)
					doc.Text = text
					w.Put("f", text)
					if looks {
						e.Diffs()
					}
					hears(doc)
					want := strings.Replace(after, "agent 2\n", c.want, 1)
					for _, h := range e.Diffs()["f"].Hunks {
						require.NotContains(t, strings.Join(h.Lines, "\n"), "+agent 2", "it is decided")
						require.NotContains(t, strings.Join(h.Lines, "\n"), "-line 2", "it is decided")
						require.NotContains(t, strings.Join(h.Lines, "\n"), "-mine 2", "it is decided")
					}
					require.Equal(t, want, w.Get("f"))
					w.CursordOK("undo", "--workspace", w.Root)
					again := w.Opens().Diffs()["f"].Hunks[0].Lines
					require.Contains(t, again, "+agent 2")
					require.Contains(t, w.Get("f"), "agent 2\n")
					require.Equal(t, !c.both, slices.Contains(again, "-mine 2"))
					w.CursordOK("redo", "--workspace", w.Root)
					require.Equal(t, want, w.Get("f"))
				})
			}
		}
	}
}

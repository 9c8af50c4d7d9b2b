//go:build unix

package isolation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAConflictAcceptedAndSavedUnheard: an editor makes the edits of an accept where both have changed the same lines, and saves the file before the
// daemon has heard of the new text. The file has what was chosen, nothing of it is left to review, and an undo brings the place back.
func TestAConflictAcceptedAndSavedUnheard(t *testing.T) {
	t.Parallel()
	const mine, agents = "mine\n", "agent 15a\nagent 15b\n"
	w := newWorld(t)
	w.Start()
	editor := w.Joins()
	for _, c := range []struct {
		name, line string
		both       bool
		want       string
	}{
		{"the agent's", "line 15\n", false, agents},
		{"both", "line 15\n", true, mine + agents},
		{"the agent's deletion", "line 25\n", false, ""},
	} {
		for _, unsaved := range []bool{false, true} {
			for name, hears := range world.LateReports {
				for _, looks := range []bool{false, true} {
					if c.want != agents && looks != unsaved {
						continue // what is chosen is one question, and what the daemon has heard by then another
					}
					label := c.name + ", " + name
					if unsaved {
						label += ", unsaved"
					}
					if looks {
						label += ", looked at"
					}
					t.Run(label, func(t *testing.T) {
						defer w.In(t, editor)()
						a := anotherApart(w, editor)
						doc, was := a.types(c.line, mine, unsaved)
						want := strings.Replace(a.before, c.line, c.want, 1)
						_, ids := beside(a.e.Diffs()["f"])
						require.Len(t, ids, 1)
						out := a.e.Decides("diff/accept", world.Obj{"hunks": ids, "both": c.both, "replace": !c.both, "asEdits": true})
						require.Len(t, out.Edits, 1)
						doc.Text = want
						a.w.Put("f", want)
						if looks {
							a.e.Diffs()
						}
						hears(doc)
						e := a.e
						if name == "never" { // it knows better what is on disk than the daemon knows what it has
							e = a.w.Opens()
						}
						require.Len(t, e.Diffs()["f"].Hunks, 2)
						require.Equal(t, want, a.w.Get("f"))
						a.copies("f", strings.NewReplacer("line 5\n", "agent 5\n", "line 15\n", agents, "line 25\n", "").Replace(want))
						a.w.CursordOK("undo", "--workspace", a.w.Root)
						require.Equal(t, was, a.w.Get("f"))
						again, _ := beside(a.w.Opens().Diffs()["f"])
						require.Equal(t, []string{"mine"}, again)
						a.w.CursordOK("redo", "--workspace", a.w.Root)
						require.Equal(t, want, a.w.Get("f"))
					})
				}
			}
		}
	}
}

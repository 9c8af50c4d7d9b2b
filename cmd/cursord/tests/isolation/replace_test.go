//go:build unix

package isolation

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// beside returns the lines of a person that the hunks of a diff name, and the ids of these hunks.
func beside(d *sessions.Diff) (lines, ids []string) {
	for _, h := range d.Hunks {
		for _, i := range h.Beside {
			lines = append(lines, h.Lines[i][1:])
		}
		if len(h.Beside) > 0 {
			ids = append(ids, h.ID)
		}
	}
	return lines, ids
}

// TestReplaceTakesTheAgentsSide decides a place that a person and an agent in a copy have both changed: mine, the agent's and both, in a
// saved file and in unsaved text, and takes each back.
func TestReplaceTakesTheAgentsSide(t *testing.T) { bothKinds(t, testReplaceTakesTheAgentsSide) }

func testReplaceTakesTheAgentsSide(t *testing.T) {
	const mine = "mine 1\nmine 2\nmine 3\nmine 4\n" // more than context has
	for _, unsaved := range []bool{false, true} {
		for _, c := range []struct {
			name, verb string
			with       world.Obj
			want       string
		}{
			{"mine", "diff/reject", nil, mine},
			{"the agent's", "diff/accept", world.Obj{"replace": true}, "agent 15a\nagent 15b\n"},
			{"both", "diff/accept", nil, mine + "agent 15a\nagent 15b\n"},
		} {
			name := c.name
			if unsaved {
				name += ", unsaved"
			}
			t.Run(name, func(t *testing.T) {
				a := newApart(t)
				both := strings.Replace(a.before, "line 15\n", mine, 1)
				want := strings.Replace(a.before, "line 15\n", c.want, 1)
				doc := a.e.OpenDocument("f")
				doc.Set(both)
				if !unsaved {
					doc.Save()
				}
				d := a.e.Diffs()["f"]
				lines, ids := beside(d)
				require.Equal(t, mine, strings.Join(lines, "\n")+"\n")
				require.Len(t, ids, 1)
				decide := world.Obj{"hunks": ids, "rev": d.Rev, "asEdits": true}
				for k, v := range c.with {
					decide[k] = v
				}
				out := a.e.Decides(c.verb, decide)
				applies := func(edits []api.DocumentEdits) {
					t.Helper()
					require.Equal(t, c.verb == "diff/accept", len(edits) > 0, "a reject changes the copy alone")
					if len(edits) > 0 {
						doc.Applies(edits)
					}
				}
				applies(out.Edits)
				require.Equal(t, want, doc.Text)
				require.Len(t, a.e.Diffs()["f"].Hunks, 2, "the hunks elsewhere are left")
				doc.Save()
				require.Equal(t, want, a.w.Get("f"))
				a.copies("f", strings.NewReplacer("line 5\n", "agent 5\n", "line 25\n", "").Replace(want))

				undone := func(method string, text string, hunks int) {
					t.Helper()
					var step api.Decided
					a.e.Must(method, world.Obj{"workspace": a.w.Root, "asEdits": true}, &step)
					applies(step.Edits)
					require.Equal(t, text, doc.Text)
					doc.Save()
					require.Equal(t, text, a.w.Get("f"))
					d := a.e.Diffs()["f"]
					require.Len(t, d.Hunks, hunks)
					if hunks == 3 {
						again, _ := beside(d)
						require.Equal(t, lines, again)
						require.Contains(t, a.w.Copied(a.s, "f"), mine)
					}
				}
				undone("diff/undo", both, 3)
				undone("diff/redo", want, 2)
				undone("diff/undo", both, 3)
			})
		}
	}
}

// TestReplaceByOthers accepts by a client without a document, and refuses what replace is not for.
func TestReplaceByOthers(t *testing.T) {
	a := newApart(t)
	both := strings.Replace(a.before, "line 15\n", "mine\n", 1)
	a.w.Put("f", both)
	d := a.e.Diffs()["f"]
	_, ids := beside(d)
	require.Len(t, ids, 1)
	other := slices.DeleteFunc(world.HunkIDs(d), func(id string) bool { return id == ids[0] })[:1]
	for field, params := range map[string]world.Obj{
		"without hunks": {"all": true},
		"with both":     {"hunks": ids, "both": true},
		"with lines":    {"hunks": ids, "lines": world.Obj{"from": 0, "to": 1}},
		"elsewhere":     {"hunks": other},
	} {
		params["workspace"], params["replace"] = a.w.Root, true
		err := a.e.Fails("diff/accept", params)
		require.Equal(t, api.KindInvalid, err.Data.Kind, field)
		require.Equal(t, "replace", err.Data.Field, field)
	}
	require.Equal(t, "replace", a.e.Fails("diff/reject", world.Obj{"workspace": a.w.Root, "hunks": ids, "replace": true}).Data.Field)

	a.e.Decides("diff/accept", world.Obj{"hunks": ids, "replace": true})
	want := strings.Replace(a.before, "line 15\n", "agent 15a\nagent 15b\n", 1)
	require.Equal(t, want, a.w.Get("f"))
	a.copies("f", strings.NewReplacer("line 5\n", "agent 5\n", "line 25\n", "").Replace(want))
	a.e.Must("diff/undo", world.Obj{"workspace": a.w.Root}, nil)
	require.Equal(t, both, a.w.Get("f"))
	require.Equal(t, world.HunkIDs(d), world.HunkIDs(a.e.Diffs()["f"]))
	// The next turn of the session sees one text, and nothing of it is a change.
	a.w.Plays(world.Done)
	a.e.Ok(a.s)
	require.Equal(t, world.HunkIDs(d), world.HunkIDs(a.e.Diffs()["f"]))
}

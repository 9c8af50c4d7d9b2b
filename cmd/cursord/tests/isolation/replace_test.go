//go:build unix

package isolation

import (
	"maps"
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
	const agents = "agent 15a\nagent 15b\n"
	w := newWorld(t)
	w.Start()
	e := w.Joins()
	for _, unsaved := range []bool{false, true} {
		for _, c := range []struct {
			name, line, verb string
			with             world.Obj
			want             string
		}{
			{"mine", "line 15\n", "diff/reject", nil, mine},
			{"the agent's", "line 15\n", "diff/accept", world.Obj{"replace": true}, agents},
			{"both", "line 15\n", "diff/accept", world.Obj{"both": true}, mine + agents},
			{"both, unasked", "line 15\n", "diff/accept", nil, mine + agents},
			{"mine, of a line that the agent has deleted", "line 25\n", "diff/reject", nil, mine},
			{"the agent's, of a line that it has deleted", "line 25\n", "diff/accept", world.Obj{"replace": true}, ""},
			{"both, of a line that the agent has deleted", "line 25\n", "diff/accept", world.Obj{"both": true}, mine},
			{"both, unasked, of a line that the agent has deleted", "line 25\n", "diff/accept", nil, mine},
		} {
			name := c.name
			if unsaved {
				name += ", unsaved"
			}
			t.Run(name, func(t *testing.T) {
				defer w.In(t, e)()
				a := anotherApart(w, e)
				doc, both := a.types(c.line, mine, unsaved)
				want := strings.Replace(a.before, c.line, c.want, 1)
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
					require.Equal(t, both != want, len(edits) > 0, "what leaves the file as it is changes the copy alone")
					if len(edits) > 0 {
						doc.Applies(edits)
					}
				}
				applies(out.Edits)
				require.Equal(t, want, doc.Text)
				require.Len(t, a.e.Diffs()["f"].Hunks, 2, "the hunks elsewhere are left")
				doc.Save()
				require.Equal(t, want, a.w.Get("f"))
				a.copies("f", strings.NewReplacer("line 5\n", "agent 5\n", "line 15\n", agents, "line 25\n", "").Replace(want))

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
						require.Equal(t, c.line == "line 15\n", strings.Contains(a.w.Copied(a.s, "f"), mine))
					}
				}
				undone("diff/undo", both, 3)
				undone("diff/redo", want, 2)
				undone("diff/undo", both, 3)
			})
		}
	}
}

// TestReplaceByOthers accepts by a client without a document, and refuses what both and replace are not for.
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
		"elsewhere":     {"hunks": other},
	} {
		for _, how := range []string{"both", "replace"} {
			params := maps.Clone(params)
			params["workspace"], params[how] = a.w.Root, true
			err := a.e.Fails("diff/accept", params)
			require.Equal(t, api.KindInvalid, err.Data.Kind, field)
			require.Equal(t, how, err.Data.Field, field)
		}
	}
	for _, how := range []string{"both", "replace"} {
		require.Equal(t, how, a.e.Fails("diff/reject", world.Obj{"workspace": a.w.Root, "hunks": ids, how: true}).Data.Field)
	}
	require.Equal(t, "replace", a.e.Fails("diff/accept", world.Obj{"workspace": a.w.Root, "hunks": ids, "both": true, "replace": true}).Data.Field)
	for _, verb := range []string{"diff/accept", "diff/reject"} {
		part := world.Obj{"workspace": a.w.Root, "hunks": ids, "lines": world.Obj{"from": 0, "to": 1}}
		require.Equal(t, "lines", a.e.Fails(verb, part).Data.Field)
	}

	// Who does not say which keeps both.
	kept := strings.NewReplacer("line 5\n", "agent 5\n", "line 15\n", "mine\nagent 15a\nagent 15b\n", "line 25\n", "").Replace(a.before)
	for _, many := range []world.Obj{{"all": true}, {"path": "f"}, {"turnId": d.Turns[0]}} {
		out := a.e.Decides("diff/accept", many)
		require.Equal(t, 3, out.Applied)
		require.Empty(t, out.Skipped)
		require.Equal(t, kept, a.w.Get("f"))
		a.e.Must("diff/undo", world.Obj{"workspace": a.w.Root}, nil)
	}

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

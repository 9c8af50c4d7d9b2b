//go:build unix

package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// TestTheSameEditAgain has an agent swap two lines, accepts that, takes the file back, and has the agent swap the lines again. The lines
// were there before the second edit, whoever wrote them, so their hunks are decided one by one.
func TestTheSameEditAgain(t *testing.T) {
	t.Parallel()
	before := world.Numbered(40, nil)
	after := world.Numbered(40, map[int]string{10: "line 25\n", 25: "line 10\n", 30: "thirty\n"})
	w := world.New(t)
	w.Put("f", before)
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c", "f", before, after))...)
	e.Turn(nil)
	require.Equal(t, 3, e.Decides("diff/accept", world.Obj{"all": true}).Applied)
	w.Put("f", before)
	e.Turn(nil)
	d := e.Diffs()["f"]
	require.Len(t, d.Hunks, 3)
	for _, h := range d.Hunks {
		require.Empty(t, h.Linked)
	}
	require.Equal(t, 1, e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(d)[:1]}).Applied)
}

// TestTheDiskChangesBeforeTheEditsOfADecision has an agent write the file between a reject in unsaved text and the client's report of
// its edits. The reject is still a decision: undo brings back text and hunks, and no line twice.
func TestTheDiskChangesBeforeTheEditsOfADecision(t *testing.T) {
	t.Parallel()
	before := world.Numbered(40, nil)
	changes := map[int]string{5: "agent 5\n", 10: "agent 10\n", 25: "agent 25\n"}
	first := world.Numbered(40, changes)
	pending := func(e *world.Editor) (lines string) {
		if d := e.Diffs()["f"]; d != nil {
			for _, h := range d.Hunks {
				lines += strings.Join(h.Lines, "\n") + "\n"
			}
		}
		return lines
	}
	for name, later := range map[string]func(w *world.World, e *world.Editor){
		"by an agent": func(w *world.World, e *world.Editor) {
			w.Plays(world.Lines(world.Edits("c", "f", first, strings.Replace(first, "line 35\n", "agent 35\n", 1)))...)
			e.Turn(nil)
		},
		"by a person": func(w *world.World, e *world.Editor) {
			w.Put("f", strings.Replace(first, "line 35\n", "person 35\n", 1))
			e.Diffs()
		},
		"by a person, unheard of": func(w *world.World, e *world.Editor) {
			w.Put("f", strings.Replace(first, "line 35\n", "person 35\n", 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			w.Start()
			e := w.Opens()
			w.Plays(world.Lines(world.Edits("c", "f", before, first))...)
			e.Turn(nil)
			doc := e.OpenDocument("f")
			doc.Types("line 38\n", "mine\n")
			typed := doc.Text
			e.Diffs()
			out := e.Decides("diff/reject", world.Obj{"all": true})
			later(w, w.Opens())
			doc.Applies(out.Edits)
			require.Equal(t, strings.Replace(before, "line 38\n", "mine\n", 1), doc.Text)
			require.NotContains(t, pending(e), "agent 5", "is rejected")
			rejected := doc.Text
			doc.Set(typed) // the editor's undo
			require.Contains(t, pending(e), "agent 5")
			require.Contains(t, e.Fails("diff/undo", world.Obj{"workspace": w.Root}).Message, "nothing to undo")
			doc.Set(rejected)
			require.NotContains(t, pending(e), "agent 5")
			var undone api.Decided
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, &undone)
			doc.Applies(undone.Edits)
			require.Equal(t, typed, doc.Text)
			lines := pending(e)
			for _, n := range []string{"5", "10", "25"} {
				require.Equal(t, 1, strings.Count(lines, "+agent "+n+"\n"), lines)
				require.Equal(t, 1, strings.Count(lines, "-line "+n+"\n"), lines)
			}
		})
	}
}

// TestASaveTakenBack has a person save over an agent's line and then save what was there before. The agent's line is pending again.
func TestASaveTakenBack(t *testing.T) {
	t.Parallel()
	before := world.Numbered(20, nil)
	agents := world.Numbered(20, map[int]string{5: "agent 5\nagent 5b\n", 15: "agent 15\n"})
	w := world.New(t)
	w.Put("f", before)
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Edits("c", "f", before, agents))...)
	e.Turn(nil)
	hunks := e.Diffs()["f"].Hunks
	require.Len(t, hunks, 2)
	doc := e.OpenDocument("f")
	for range 2 {
		doc.Types("agent 5\n", "agent 5zz\n")
		doc.Save()
		require.NotEqual(t, hunks, e.Diffs()["f"].Hunks)
		doc.Types("agent 5zz\n", "agent 5\n")
		doc.Save()
		require.Equal(t, hunks, e.Diffs()["f"].Hunks)
	}
	e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, before, w.Get("f"))
}

// TestAConflictIsOpenAgain has a person take the agent's lines in a conflict, go back with the editor's undo, and undo the decision. The
// conflict is open again, and a reject leaves the person's text as it is.
func TestAConflictIsOpenAgain(t *testing.T) {
	t.Parallel()
	for i, both := range []bool{false, true, true} {
		w, e, doc, _, _ := beneath(t, true)
		conflicts := func() (all []string) {
			for _, h := range e.Diffs()["f"].Hunks {
				if h.State == "conflict" {
					all = append(all, h.ID)
				}
			}
			return all
		}
		merged(e, doc)
		typed, open := doc.Text, conflicts()
		require.Len(t, open, 1)
		doc.Applies(e.Decides("diff/accept", world.Obj{"hunks": open, "both": both}).Edits)
		require.NotEqual(t, typed, doc.Text)
		require.Empty(t, conflicts())
		if i < 2 {
			doc.Set(typed)
			e.Status()
		}
		var out api.Decided
		err := e.Call("diff/undo", world.Obj{"workspace": w.Root}, &out)
		if i < 2 && err != nil { // a look after the editor's undo has taken the decision back already
			require.ErrorContains(t, err, "there is nothing to undo")
		} else {
			require.NoError(t, err)
		}
		if i == 2 { // the buffer has the agent's line, which the undo takes out
			doc.Applies(out.Edits)
			require.Equal(t, typed, doc.Text)
		}
		require.Equal(t, open, conflicts())
		e.Decides("diff/reject", world.Obj{"hunks": open})
		require.Empty(t, conflicts())
		require.Equal(t, 1, strings.Count(doc.Text, "mine 2\n"))
		require.NotContains(t, doc.Text, "\nline 2\n")
	}
}

// TestUndoOfWhatAPersonHasMade: a person brings a file by hand, or by git, to what the undo of a decision would make. The undo writes no
// line twice, in the work tree and with a session's copy.
func TestUndoOfWhatAPersonHasMade(t *testing.T) {
	t.Parallel()
	before, agents := "one\ntwo\nthree\n", "one\nTWO\nthree\n"
	for _, c := range []struct {
		name, verb, byHand string
		copy               bool
	}{
		{"git reset after an accept", "diff/accept", before, false},
		{"git apply after a reject", "diff/reject", agents, false},
		{"git checkout after an accept from a copy", "diff/accept", before, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			w.Commits()
			w.Start()
			e := w.Opens()
			params := world.Obj{}
			if c.copy {
				params["sessionId"] = e.Isolates().ID
			}
			w.Plays(world.Lines(world.Edits("c", "f", before, agents))...)
			e.Turn(params)
			require.Equal(t, 1, e.Decides(c.verb, world.Obj{"all": true}).Applied)
			w.Put("f", c.byHand)
			e.Diffs()
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			w.RequireTree(world.Tree{"f": c.byHand})
			if e.Diffs()["f"] != nil {
				e.Decides("diff/reject", world.Obj{"all": true})
			}
			w.RequireTree(world.Tree{"f": c.byHand})
		})
	}
}

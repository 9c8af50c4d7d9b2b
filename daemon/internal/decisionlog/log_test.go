package decisionlog

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
	"cursord/sessions"
)

func decided(files ...string) *Group {
	g := &Group{Accept: true}
	for i, path := range files {
		g.Files = append(g.Files, File{Path: path, N: uint64(i + 1), Decision: diffs.Decision{Hunks: []uint64{1}}})
	}
	return g
}

// TestNextIsTheLatest takes decisions back and makes them again in the order of the log.
func TestNextIsTheLatest(t *testing.T) {
	var l Log
	require.Nil(t, l.Next(true))
	for range 3 {
		l.Push(decided("f"))
	}
	l.Without(3, func(File) bool { return true }) // empties decision 3
	step := func(undo bool) uint64 {
		g := *l.Next(undo)
		g.Undone = undo
		l.Replace(&g)
		return g.N
	}
	require.Equal(t, []uint64{2, 1, 1, 2}, []uint64{step(true), step(true), step(false), step(false)})
	require.Equal(t, uint64(2), step(true))
	ops := l.Push(decided("g"))
	require.Equal(t, uint64(4), l.Next(true).N, "a number means one decision")
	require.Equal(t, []sessions.Op{sessions.DropDecision{N: 2}}, ops[:len(ops)-1], "what was undone cannot be made again")
}

// TestACommentCostsNoStep: it is kept for recaps, and nothing of undo and redo is lost by it.
func TestACommentCostsNoStep(t *testing.T) {
	var l Log
	for range Max {
		l.Push(decided("f"))
	}
	g := *l.Next(true)
	g.Undone = true
	l.Replace(&g)
	say := func() []sessions.Op {
		return l.Push(&Group{Accept: true, Rejections: []Rejection{{Session: "s", Text: "why?", Comment: true}}})
	}
	require.Contains(t, say(), sessions.DropDecision{N: 1}, "there is room for so many")
	require.Contains(t, say(), sessions.DropDecision{N: Max + 1}, "the older comment goes first")
	require.Equal(t, uint64(Max), l.Next(false).N)
	require.Equal(t, uint64(Max-1), l.Next(true).N)
	require.Len(t, l.Rejected("s", time.Now().UnixMilli()+1), 1)
}

// TestARedoMakesAgainWhatWasUndoneLast: an editor's undo takes back an older decision first.
func TestARedoMakesAgainWhatWasUndoneLast(t *testing.T) {
	var l Log
	for range 3 {
		l.Push(decided("f"))
	}
	in := func(File) bool { return true }
	for _, n := range []uint64{1, 3, 2} {
		l.SetUndone(n, in, true)
	}
	for _, n := range []uint64{2, 3, 1} {
		require.Equal(t, n, l.Next(false).N)
		l.SetUndone(n, in, false)
	}
}

// TestHunksOfConflicts: a conflict with three parts is one hunk, as in the answer to its decision.
func TestHunksOfConflicts(t *testing.T) {
	part := File{Path: "f", Decision: diffs.Decision{Hunks: []uint64{1, 2, 3, 9}}, Conflicts: []uint64{1, 2, 3}, Resolved: []ResolvedConflict{{Hunks: []uint64{1, 2, 3}}}}
	g := Group{Files: []File{part}}
	require.Equal(t, 2, g.Hunks())
	require.Equal(t, 2, g.Step().Hunks)
}

// TestFinishConflicts: decisions of conflicts become decisions about the person's lines and the agent's.
func TestFinishConflicts(t *testing.T) {
	text := func(s string) diffs.Content { return diffs.Content{Exists: true, Data: []byte(s)} }
	for _, accept := range []bool{true, false} {
		review := diffs.New(text("a\nb\nc\n"))
		review.Observe(text("a\nX\nc\n"), &diffs.Source{TurnID: "t"})
		before, over := review.Copy(), review.Over(1, 2)
		d, err := review.Decide([]uint64{review.Places()[0].ID}, accept, nil)
		require.NoError(t, err)
		if !accept {
			review = before
		}
		var l Log
		l.Push(&Group{Accept: accept, Files: []File{{Path: "f", Decision: d, Conflicts: d.Hunks, Resolved: []ResolvedConflict{{Over: over, Mine: []string{"Y\n"}}}}}})
		finish := func(n uint64, part *File) bool { return part.Finish(review) }
		require.Len(t, l.FinishConflicts(func(File) bool { return true }, finish), 1)
		require.Empty(t, l.FinishConflicts(func(File) bool { return true }, finish), "once")
		require.Equal(t, map[bool]string{true: "a\nX\nc\n", false: "a\nY\nc\n"}[accept], string(review.Current().Data))
		require.False(t, review.Pending())
		part := l.Next(true).Files[0]
		require.NoError(t, review.Undo(part.Decision))
		require.Equal(t, "a\nX\nc\n", string(review.Current().Data))
		require.Equal(t, "a\nY\nc\n", string(review.Baseline().Data))
	}
}

// TestLoadKeepsWhatWasStored reads the records that Push stores, and reports unreadable ones.
func TestLoadKeepsWhatWasStored(t *testing.T) {
	var l Log
	var recs []sessions.Numbered
	for range Max + 2 {
		for _, op := range l.Push(decided("f", "g")) {
			switch op := op.(type) {
			case sessions.PutDecision:
				recs = append(recs, sessions.Numbered(op))
			case sessions.DropDecision:
				require.Equal(t, recs[0].N, op.N)
				recs = recs[1:]
			}
		}
	}
	require.Len(t, recs, Max)
	recs[1].Data = json.RawMessage("{")
	var damaged []string
	read, ops := Load(recs, func(what string, _ error) { damaged = append(damaged, what) })
	require.Equal(t, []string{"decision 4"}, damaged)
	require.Equal(t, []sessions.Op{sessions.DropDecision{N: 4}}, ops)
	require.Equal(t, uint64(Max+2), read.Next(true).N)
	require.Equal(t, 2, read.Next(true).Hunks())
}

// TestUndoneInOneFile takes a decision back in one of its files and then in the other, and makes it again.
func TestUndoneInOneFile(t *testing.T) {
	var l Log
	l.Push(decided("f"))
	l.Push(decided("f", "g"))
	in := func(path string) func(File) bool { return func(f File) bool { return f.Path == path } }
	g, ops := l.SetUndone(2, in("f"), true)
	require.Len(t, ops, 1)
	require.Equal(t, 1, g.Hunks())
	require.Equal(t, g, l.Next(true), "the other file is left to be undone")
	require.Nil(t, l.Next(false))
	g, _ = l.SetUndone(2, in("g"), true)
	require.True(t, g.Undone)
	require.Equal(t, uint64(1), l.Next(true).N)
	require.Equal(t, 2, l.Next(false).Hunks(), "all of it can be made again")
	g, _ = l.SetUndone(2, in("f"), false)
	require.False(t, g.Undone)
	require.Equal(t, []bool{false, true}, []bool{g.Files[0].Undone, g.Files[1].Undone})
	none, ops := l.SetUndone(7, in("f"), true)
	require.Nil(t, none)
	require.Empty(t, ops)
}

// TestPath finds the decisions between a file's text and an earlier or a later text of it.
func TestPath(t *testing.T) {
	var l Log
	for _, texts := range []string{"ab", "bc", "", "cd"} {
		g := decided("f")
		if texts != "" {
			g.Files[0].Before, g.Files[0].After = texts[:1], texts[1:]
		}
		l.Push(g)
	}
	other := decided("g")
	other.Files[0].Before, other.Files[0].After = "d", "e"
	l.Push(other)
	f := func(f File) bool { return f.Path == "f" }
	path := func(sum string, undo bool) (groups []uint64) {
		for _, t := range l.Path(f, sum, undo) {
			groups = append(groups, t.Group)
		}
		return groups
	}
	require.Equal(t, []uint64{4}, path("c", true))
	require.Equal(t, []uint64{4, 2}, path("b", true))
	require.Empty(t, path("d", true), "that is of another file")
	require.Empty(t, path("d", false), "all are made")
	l.SetUndone(4, f, true)
	require.Equal(t, []uint64{2, 1}, path("a", true))
	require.Empty(t, path("c", true))
	l.SetUndone(2, f, true)
	require.Equal(t, []uint64{2}, path("c", false))
	require.Equal(t, []uint64{2, 4}, path("d", false))
	require.Empty(t, path("b", false), "that one is made")
	step := l.Path(f, "c", false)[0]
	require.Equal(t, []string{"b", "c"}, []string{step.Before, step.After})
	step = l.Path(f, "a", true)[0]
	require.Equal(t, []string{"b", "a"}, []string{step.Before, step.After})
}

// TestSteps follows an editor's undo and redo along the steps of a text.
func TestSteps(t *testing.T) {
	var s Steps
	groups := func(steps []Step) (groups []uint64) {
		for _, t := range steps {
			groups = append(groups, t.Group)
		}
		return groups
	}
	find := func(sum string) (back, again []uint64, found bool) {
		b, a, found := s.Find(sum)
		return groups(b), groups(a), found
	}
	s.Add(Step{Group: 1, Before: "a", After: "b"}, Step{Group: 2}, Step{Group: 3, Before: "b", After: "c"})
	back, again, found := find("c")
	require.True(t, found)
	require.Empty(t, append(back, again...))
	_, _, found = find("typed")
	require.False(t, found)
	back, _, _ = find("a")
	require.Equal(t, []uint64{3, 2, 1}, back)
	require.Empty(t, s.Made())
	_, again, _ = find("b")
	require.Equal(t, []uint64{1}, again)
	s.Add(Step{Group: 4, Before: "b", After: "d"})
	require.Equal(t, []uint64{1, 4}, groups(s.All()))
	s.Add(Step{Group: 5})
	back, again, found = find("d")
	require.True(t, found, "the last step has left the text")
	require.Empty(t, append(back, again...))
	_, _, found = find("c")
	require.False(t, found, "another step was made instead")
}

package decisionlog

import (
	"encoding/json"
	"testing"

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

// TestBehind finds the decisions between a file's text and an earlier text of it.
func TestBehind(t *testing.T) {
	var l Log
	for _, was := range []string{"a", "b", "", "c"} {
		g := decided("f")
		g.Files[0].Was = was
		l.Push(g)
	}
	other := decided("g")
	other.Files[0].Was = "d"
	l.Push(other)
	f := func(f File) bool { return f.Path == "f" }
	behind := func(was string, also ...uint64) (groups []uint64) {
		_, groups = l.Behind(f, was, also)
		return groups
	}
	require.Equal(t, []uint64{4}, behind("c"))
	require.Equal(t, []uint64{4, 2}, behind("b"))
	require.Empty(t, behind("d"), "that is of another file")
	l.SetUndone(4, f, true)
	require.Equal(t, []uint64{2, 1}, behind("a"))
	require.Empty(t, behind("c"))
	require.Equal(t, []uint64{4, 2, 1}, behind("a", 4))
}

// TestAhead finds the undone decisions between a file's text and a later text of it.
func TestAhead(t *testing.T) {
	var l Log
	for _, texts := range []string{"ab", "bc", "cd"} {
		g := decided("f")
		g.Files[0].Was, g.Files[0].Then = texts[:1], texts[1:]
		l.Push(g)
	}
	f := func(f File) bool { return f.Path == "f" }
	ahead := func(then string, turned ...uint64) (groups []uint64) {
		_, groups = l.Ahead(f, then, turned)
		return groups
	}
	require.Empty(t, ahead("d"), "all are made")
	l.SetUndone(3, f, true)
	l.SetUndone(2, f, true)
	require.Equal(t, []uint64{2, 3}, ahead("d"))
	require.Equal(t, []uint64{2}, ahead("c"))
	require.Empty(t, ahead("b"), "that one is made")
	require.Equal(t, []uint64{1, 2}, ahead("c", 1))
	require.Equal(t, []uint64{3}, ahead("d", 2))
	require.Empty(t, ahead("c", 2))
}

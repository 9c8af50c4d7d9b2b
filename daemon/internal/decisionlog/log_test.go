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
	l.Without(3, func(File) bool { return true }) // nothing is left of it
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

// TestLoadKeepsWhatWasStored reads what Push says is to be stored, and reports what cannot be read.
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

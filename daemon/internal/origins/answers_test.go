package origins

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/diffs"
	"cursord/sessions"
)

func sourceOf(s string) *diffs.Source {
	return &diffs.Source{SessionID: "s", TurnID: s, ItemID: s + ":1", Via: diffs.ViaEdit}
}

// TestAnswersAreReadAsTheyWereKept, and what is damaged is refused.
func TestAnswersAreReadAsTheyWereKept(t *testing.T) {
	answer := Answer{
		"sub/a": {Lines: []diffs.Origin{
			{From: 1, To: 3, Source: sourceOf("t1"), At: 5}, {From: 3, To: 4, Source: sourceOf("t2"), At: 6, ByText: true}, {From: 9, To: 10, Source: sourceOf("t1"), At: 5},
			{From: 10, To: 12, Commit: "c"},
		}},
		"b": {Forgotten: true},
	}
	data := answer.encode(77)
	require.EqualValues(t, 77, binary.BigEndian.Uint64(data))
	require.Equal(t, 1, bytes.Count(data, []byte(`"turnId":"t1"`)), "each source once")
	again, err := decode(data)
	require.NoError(t, err)
	require.Equal(t, answer, again)
	again, err = decode(Answer{}.encode(77))
	require.NoError(t, err)
	require.Equal(t, Answer{}, again)
	for _, bad := range []string{"", "1234567", "12345678x", "12345678j{", `12345678j{"f":[{"p":"a","r":[[0,1,0]]}]}`, `12345678j{"o":[{}],"f":[{"p":"a","r":[[2,3,0],[1,2,0]]}]}`} {
		_, err = decode([]byte(bad))
		require.Error(t, err, bad)
	}
}

// TestAnswersGoByAge: the oldest ones go first, none from after a moment, and those that know nothing once something has become known.
func TestAnswersGoByAge(t *testing.T) {
	var ops []sessions.Op
	a := &Answers{kept: map[string]kept{}, Submit: func(more ...sessions.Op) { ops = append(ops, more...) }}
	for i, commit := range []string{"c", "a", "b"} {
		a.note(commit, int64(i), 100*i+nothing)
	}
	require.EqualValues(t, 3*(overhead+nothing)+300, a.Total())
	freed, drops := a.Shorten(math.MaxInt64, 0)
	require.Zero(t, freed)
	require.Empty(t, drops)
	freed, drops = a.Shorten(2, math.MaxInt64)
	require.EqualValues(t, 2*(overhead+nothing)+100, freed)
	require.Equal(t, []sessions.Op{sessions.DropAnswer{Commit: "c"}, sessions.DropAnswer{Commit: "a"}}, drops)
	a.note("d", 9, nothing)
	a.Reconsider()
	require.Equal(t, []sessions.Op{sessions.DropAnswer{Commit: "d"}}, ops)
	require.EqualValues(t, overhead+nothing+200, a.Total())
}

// TestPartsOfACommit: the lines that a commit adds are covered without a gap.
func TestPartsOfACommit(t *testing.T) {
	source := sourceOf("t")
	lines := within([]api.LineRange{{From: 0, To: 4}, {From: 6, To: 7}}, []diffs.Origin{{From: 1, To: 2, Source: source}, {From: 6, To: 7, Commit: "c"}})
	require.Equal(t, []diffs.Origin{{From: 0, To: 1}, {From: 1, To: 2, Source: source}, {From: 2, To: 4}, {From: 6, To: 7, Commit: "c"}}, lines)
	known := Known{Lines: lines}
	known.Pending([]diffs.Origin{{From: 8, To: 9, Source: source, Pending: true}})
	require.True(t, lines[1].Pending)
	require.False(t, lines[3].Pending)
}

// TestOfACopy: where only the agent works, nothing is in doubt. The copy's own origins stay.
func TestOfACopy(t *testing.T) {
	src := sourceOf("t")
	src.Via = diffs.ViaUnknown
	lines := OfACopy([]diffs.Origin{{To: 1, Source: src}, {From: 1, To: 2}})
	require.Equal(t, diffs.ViaTool, lines[0].Source.Via)
	require.Equal(t, diffs.ViaUnknown, src.Via)
	told := (&Teller{turns: map[string]*sessions.Turn{"t": nil}}).lines([]diffs.Origin{{To: 1, Source: src}, lines[0]})
	require.True(t, told[0].Source.MaybeYours)
	require.False(t, told[1].Source.MaybeYours)
}

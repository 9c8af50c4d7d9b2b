package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

// TestARemovedTurnIsGone removes the later turns of a session, and begins another one.
func TestARemovedTurnIsGone(t *testing.T) {
	path := dbPath(t)
	s, _ := openAt(t, path)
	detail := []byte(`{"callId":"c"}`)
	must(t, s, puts(session("s1", 1), turn("t1", "s1", TurnCompleted, 2), item("t1", "s1", 0, ItemCompleted, 3), turn("t2", "s1", TurnCompleted, 4))...)
	must(t, s, Put{Object: item("t2", "s1", 0, ItemCompleted, 5), Detail: detail}, Put{Object: turn("t3", "s1", TurnCompleted, 6)})
	removing := []Op{RemoveTurn{ID: "t2", Seq: 7}, RemoveTurn{ID: "t3", Seq: 8}, RemoveTurn{ID: "never", Seq: 9}}
	must(t, s, removing...)
	check := func(want ...string) {
		t.Helper()
		require.Equal(t, want, index(t, s, 0))
		for _, err := range []error{
			second(s.Turn("t2")), second(s.Turn("t3")), second(s.Item("t2:0")), second(s.ItemDetail("t2:0")), second(s.TurnItems("t2")), second(s.Blob(BlobID(detail))),
		} {
			require.ErrorIs(t, err, ErrNotFound)
		}
		last, err := s.LastTurn("s1")
		require.NoError(t, err)
		require.Equal(t, "t1", last.ID)
		turns, items, more, err := s.Transcript("s1", "", 0)
		require.NoError(t, err)
		require.Len(t, turns, 1)
		require.Len(t, items, 1)
		require.False(t, more)
	}
	check("1 session s1", "2 turn t1", "3 item t1:0", "7 turn t2 X", "8 turn t3 X")
	must(t, s, removing...)
	check("1 session s1", "2 turn t1", "3 item t1:0", "7 turn t2 X", "8 turn t3 X")
	require.NoError(t, s.Close())
	s, _ = openAt(t, path)
	check("1 session s1", "2 turn t1", "3 item t1:0", "7 turn t2 X", "8 turn t3 X")
	must(t, s, Put{Object: turn("t4", "s1", TurnCompleted, 10)})
	turns, _, err := s.Turns("s1", "", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"t4", "t1"}, []string{turns[0].ID, turns[1].ID})
	require.Error(t, submit(s, root, RemoveTurn{ID: "t4"}))
}

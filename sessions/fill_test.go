package sessions

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFill: a session whose making has not ended is gone after the next Open, with a tombstone; one whose has ended stays.
func TestFill(t *testing.T) {
	path := t.TempDir() + "/db"
	s, _, err := Open(path, Options{})
	require.NoError(t, err)
	put := func(s *Store, ops ...Op) {
		t.Helper()
		done := make(chan error, 1)
		s.Submit("/w", ops, func(err error) { done <- err })
		require.NoError(t, <-done)
	}
	whole := func(id string, seq uint64) []Op {
		return []Op{
			Fill{ID: id}, Put{Object: &Session{ID: id, Workspace: "/w", Seq: seq}},
			Put{Object: &Turn{ID: "t" + id, SessionID: id, Workspace: "/w", Status: TurnCompleted, Seq: seq + 1}},
		}
	}
	put(s, whole("a", 1)...)
	put(s, append(whole("b", 3), Fill{ID: "b", Done: true})...)
	put(s, append(whole("c", 5), RemoveSession{ID: "c", Seq: 7})...)
	_, err = s.Session("a")
	require.NoError(t, err)
	require.NoError(t, s.Close())

	s, _, err = Open(path, Options{})
	require.NoError(t, err)
	_, err = s.Session("a")
	require.ErrorIs(t, err, ErrNotFound)
	_, err = s.Turn("ta")
	require.ErrorIs(t, err, ErrNotFound)
	_, err = s.Session("b")
	require.NoError(t, err)
	changes, err := s.Changes("/w", 0, 0)
	require.NoError(t, err)
	var seen []string
	for _, e := range changes {
		if e.Removed {
			seen = append(seen, "-"+e.ID)
		} else {
			seen = append(seen, e.ID)
		}
	}
	require.Equal(t, []string{"b", "tb", "-c", "-a"}, seen)
	put(s, Put{Object: &Session{ID: "d", Workspace: "/w", Seq: 9}})
	require.NoError(t, s.Close())
	s, _, err = Open(path, Options{})
	require.NoError(t, err)
	w, err := s.Workspace("/w")
	require.NoError(t, err)
	require.Equal(t, 2, w.Sessions)
	require.NoError(t, s.Close())
}

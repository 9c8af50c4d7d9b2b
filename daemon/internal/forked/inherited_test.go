package forked

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
	"cursord/sessions"
)

// A fakeStore has turns by session, the latest first, and what each session is a fork of.
type fakeStore struct {
	turns map[string][]*sessions.Turn
	of    map[string]*sessions.Session
}

func (f fakeStore) Session(id string) (*sessions.Session, error) {
	if f.of[id] == nil {
		return nil, errors.New("gone")
	}
	return f.of[id], nil
}

func (f fakeStore) Turns(session, before string, _ int) ([]*sessions.Turn, bool, error) {
	all := f.turns[session]
	for i, t := range all {
		if t.ID == before {
			all = all[i+1:]
			break
		}
	}
	return all[:min(1, len(all))], len(all) > 1, nil
}

func (f fakeStore) Turn(id string) (*sessions.Turn, error) {
	for _, all := range f.turns {
		for _, t := range all {
			if t.ID == id {
				return t, nil
			}
		}
	}
	return nil, errors.New("gone")
}

// TestInherited finds the turns that a fork of a fork has of both, through a session that is gone and without looking in circles.
func TestInherited(t *testing.T) {
	at := func(n int64) sessions.Time { return sessions.Time{Time: time.Unix(n, 0)} }
	turn := func(id string, n int64) *sessions.Turn { return &sessions.Turn{ID: id, CreatedAt: at(n), Prompt: "p"} }
	fork := func(id, of string, n int64) *sessions.Session {
		s := &sessions.Session{ID: id, CreatedAt: at(n)}
		if of != "" {
			s.ForkedFrom = &sessions.Fork{SessionID: of}
		}
		return s
	}
	a, b, c, d, round := fork("a", "", 1), fork("b", "a", 4), fork("c", "b", 6), fork("d", "gone", 9), fork("round", "round", 9)
	store := fakeStore{
		turns: map[string][]*sessions.Turn{
			"a": {turn("a8", 8), turn("a3", 3), turn("a2", 2)},
			"b": {turn("b7", 7), turn("b5", 5), turn("b3", 3), turn("b2", 2)},
			"c": {turn("c8", 8), turn("c5", 5), turn("c3", 3), turn("c2", 2)},
			"d": {turn("d2", 2)}, "round": {turn("r", 2)},
		},
		of: map[string]*sessions.Session{"a": a, "b": b, "c": c, "d": d, "round": round},
	}
	from, turns := Inherited(store, c)
	require.Equal(t, []string{"b", "a"}, from)
	require.Equal(t, map[string]string{"a2": "c2", "a3": "c3", "b2": "c2", "b3": "c3", "b5": "c5"}, turns)
	for _, s := range []*sessions.Session{a, d, round} {
		_, turns := Inherited(store, s)
		require.Empty(t, turns, s.ID)
	}
	for _, one := range []struct {
		known, told string
		earlier     bool
	}{
		{"c2", "a2", true}, {"c3", "b3", true}, {"b3", "a3", true}, {"c8", "a8", false}, // a8 came after the fork, and is another turn
		{"a2", "c2", false}, {"c3", "b2", false}, {"c7", "b7", false}, {"c2", "none", false}, {"d2", "a2", true},
	} {
		src := func(turn string) diffs.Source { return diffs.Source{SessionID: turn[:1], TurnID: turn} }
		require.Equal(t, one.earlier, Earlier(store)(src(one.known), src(one.told)), "%v", one)
	}
}

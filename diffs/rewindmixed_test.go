package diffs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cursord/diffs/internal/linetext"

	"github.com/stretchr/testify/require"
)

// TestRewindBeneathAWholeChange plays random edits of two sessions, some of which a person accepts, before a third session deletes the file, or makes
// something of it that has no lines. A rewind of that leads to what was before it, with the same lines pending. A rewind of one of the others is as if
// the third had changed what the file holds without that one.
func TestRewindBeneathAWholeChange(t *testing.T) {
	t.Parallel()
	for seed := range storiesOf(t, 1500) {
		if !t.Run(fmt.Sprint(seed), newSessionsStory(seed).playWhole) {
			return
		}
	}
}

func (s *sessionsStory) playWhole(t *testing.T) {
	s.t = t
	defer func() {
		if t.Failed() {
			t.Log(strings.Join(s.log, "\n"))
		}
	}()
	var base string
	for i := range 2 + s.rng.Intn(4) {
		base += fmt.Sprintf("b%d\n", i)
	}
	s.note("base %q", base)
	s.r = New(file(base))
	for range 1 + s.rng.Intn(4) {
		s.agent()
		if ids := hunkIDs(s.r); len(ids) > 0 && s.rng.Intn(2) == 0 {
			id := ids[s.rng.Intn(len(ids))]
			_, err := s.r.Decide([]uint64{id}, true, nil)
			require.NoError(t, err)
			s.r = restored(t, s.r)
			s.calls++
			s.note("accept %d", id)
		}
		if s.rng.Intn(4) == 0 {
			s.person()
		}
	}
	before := s.r.Copy()
	third := Undone{"d", []string{"d1"}}
	now := []Content{{}, {}, file("\x00"), {Exists: true, Target: "x"}}[s.rng.Intn(4)]
	s.r.Observe(now, by("d", "d1"))
	s.r = restored(t, s.r)
	s.note("d1: %q %q", now.Data, now.Target)
	if s.rng.Intn(2) == 0 {
		_, left, err := s.r.Rewind(third)
		require.NoError(t, err)
		require.Equal(t, Left{}, left)
		requireAsBefore(t, before, s.r)
		require.Equal(t, before.Origins(), s.r.Origins())
		return
	}
	u := Undone{Session: string("so"[s.rng.Intn(2)])}
	u.Turns = s.turns[u.Session]
	was := s.r.Copy()
	d, left, err := s.r.Rewind(u)
	s.note("rewind %v: %v %v: %q", u, err, left, s.r.Baseline().Data)
	require.Equal(t, was.Current(), s.r.Current())
	for _, l := range linetext.Split(string(s.r.Baseline().Data)) {
		require.NotContains(t, u.Turns, s.wrote[l], "who wrote %q", l)
	}
	for _, l := range linetext.Split(string(was.Baseline().Data)) {
		if !slices.Contains(u.Turns, s.wrote[l]) {
			require.Contains(t, string(s.r.Baseline().Data), l)
		}
	}
	_, _, none := before.Rewind(u)
	require.Equal(t, none == nil, err == nil, "as without the third")
	require.Equal(t, string(before.Baseline().Data), string(s.r.Baseline().Data), "as without the third")
	if err != nil {
		require.ErrorIs(t, err, ErrNotFound)
	} else {
		undone := s.r.Copy()
		require.NoError(t, undone.Undo(passed(t, d)))
		requireAsBefore(t, was, undone)
		_, err = undone.Redo(passed(t, d))
		require.NoError(t, err)
		requireAsBefore(t, s.r, undone)
	}
	s.r = restored(t, s.r)
	_, _, err = s.r.Rewind(third)
	require.NoError(t, err)
	s.note("rewind of the third: %q of %q", s.r.Current().Data, s.r.Baseline().Data)
	requireAsBefore(t, before, s.r)
}

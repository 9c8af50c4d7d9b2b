package diffs

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"cursord/diffs/internal/linetext"

	"github.com/stretchr/testify/require"
)

// TestRewindGoesBack plays random stories of three turns of one session in one file, with decisions that are undone, and takes the last
// turns back: the file is what it was when they began, nothing of them is pending, and what was pending then is pending again.
func TestRewindGoesBack(t *testing.T) {
	t.Parallel()
	for seed := range storiesOf(t, 1500) {
		s := story{t: t, rng: rand.New(rand.NewSource(int64(seed)))}
		if !t.Run(fmt.Sprint(seed), s.play) {
			return
		}
	}
}

// A story is a random one.
type story struct {
	t     *testing.T
	rng   *rand.Rand
	lines int
	log   []string
}

func (s *story) note(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

// content returns another content of a file.
func (s *story) content(now Content) Content {
	switch k := s.rng.Intn(12); {
	case k == 0:
		return Content{}
	case k == 1:
		return Content{Exists: true, Target: string("xyz"[s.rng.Intn(3)])}
	case k == 2 && now.Exists && now.Target == "":
		now.Mode ^= 0o111
		return now
	case k == 3:
		return file("\x00" + string("123"[s.rng.Intn(3)]))
	}
	mode := now.Mode
	if mode == 0 {
		mode = 0o644
	}
	lines := []string{"a\n", "b\n", "c\n"}
	if now.Exists && now.Target == "" && !strings.HasPrefix(string(now.Data), "\x00") && s.rng.Intn(3) > 0 {
		lines = linetext.Split(string(now.Data))
	}
	for range 1 + s.rng.Intn(2) {
		at := s.rng.Intn(len(lines) + 1)
		s.lines++
		l := fmt.Sprintf("l%d\n", s.lines)
		switch k := s.rng.Intn(4); {
		case k == 0 && at < len(lines):
			lines = slices.Delete(lines, at, at+1)
		case k == 1 && at < len(lines):
			lines[at] = l
		case k == 2:
			lines = slices.Insert(lines, at, l)
		}
	}
	return Content{Exists: true, Data: []byte(strings.Join(lines, "")), Mode: mode}
}

// decide makes a decision about all; with undo, it is taken back.
func (s *story) decide(r *Review, accept, undo bool) *Review {
	ids := hunkIDs(r)
	if len(ids) == 0 {
		return r
	}
	s.note("decide accept=%v undo=%v", accept, undo)
	was := r.Copy()
	d, err := r.Decide(ids, accept, nil)
	require.NoError(s.t, err)
	r = restored(s.t, r)
	if undo {
		require.NoError(s.t, r.Undo(passed(s.t, d)))
		r = restored(s.t, r)
		requireAsBefore(s.t, was, r)
	}
	return r
}

func (s *story) play(t *testing.T) {
	s.t = t
	defer func() {
		if t.Failed() {
			t.Log(strings.Join(s.log, "\n"))
		}
	}()
	base := s.content(s.content(Content{}))
	s.note("base %q %q %o", base.Data, base.Target, base.Mode)
	r := New(base)
	r.Rename("f", "f", nil)
	last := 2 + s.rng.Intn(2)
	from := 1 + s.rng.Intn(last)
	var began *Review
	accepted := false
	var turns []string
	between := func(r *Review) *Review {
		switch s.rng.Intn(6) {
		case 0:
			accepted = accepted || len(hunkIDs(r)) > 0
			return s.decide(r, true, false)
		case 1:
			return s.decide(r, true, true)
		case 2:
			return s.decide(r, false, true)
		}
		return r
	}
	for turn := 1; turn <= last; turn++ {
		r = between(r)
		if turn == from {
			began, accepted = r.Copy(), false
		}
		if turn >= from {
			turns = append(turns, fmt.Sprint(turn))
		}
		for range 1 + s.rng.Intn(3) {
			src := by("s", fmt.Sprint(turn))
			src.ItemID = string("ij"[s.rng.Intn(2)])
			if s.rng.Intn(6) == 0 && r.Current().Exists {
				was, to := r.Path(), string("fgh"[s.rng.Intn(3)])
				if was == "" {
					was = "f"
				}
				if to == was {
					to = "k"
				}
				s.note("turn %d: %s -> %s", turn, was, to)
				r.Rename(was, to, src)
			} else {
				c := s.content(r.Current())
				s.note("turn %d: %q %q %o", turn, c.Data, c.Target, c.Mode)
				r.Observe(c, src)
			}
			r = restored(t, r)
		}
	}
	r = between(r)
	s.note("rewind %v accepted=%v", turns, accepted)
	if !accepted {
		requireRewound(t, began, r, turns...)
		return
	}
	was := r.Copy()
	d, left, err := r.Rewind(Undone{"s", turns})
	require.Equal(t, Left{}, left)
	require.Equal(t, began.Current(), r.Current())
	require.Equal(t, began.Path(), r.Path())
	for _, h := range r.Hunks() {
		for _, src := range h.Sources {
			require.NotContains(t, turns, src.TurnID)
		}
	}
	if err == nil {
		require.NoError(t, r.Undo(passed(t, d)))
		requireSame(t, was, r)
	}
}

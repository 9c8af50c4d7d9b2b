package diffs

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"

	"github.com/stretchr/testify/require"
)

// TestUndoPutsLinesInTheirPlaces plays random stories of a decision, of a person who types after it, and of its undo. What comes back is between
// the lines that it was between, where a person's line in the place of another one counts as that one. A redo leads to what the person has typed.
func TestUndoPutsLinesInTheirPlaces(t *testing.T) {
	for seed := range storiesOf(t, 1500) {
		s := placesStory{story: story{rng: rand.New(rand.NewSource(int64(seed)))}, took: map[uint64]uint64{}}
		if !t.Run(fmt.Sprint(seed), s.play) {
			return
		}
	}
}

// TestUndoBesideRewrittenLines undoes a decision after a person, or a formatter, has rewritten the lines around it.
func TestUndoBesideRewrittenLines(t *testing.T) {
	for _, c := range []struct {
		name, before, agent string
		accept              bool
		typed, now, base    string
	}{
		{"above and below an added line", "a b", "a N b", false, "A B", "A N B", "A B"},
		{"two above, one below", "a b c", "a b N c", false, "A B C", "A B N C", "A B C"},
		{"at the top", "a b c", "N a b c", false, "A B C", "N A B C", "A B C"},
		{"at the end", "a b c", "a b c N", false, "A B C", "A B C N", "A B C"},
		{"the first of two removed lines", "a b c", "a c", true, "A C", "A C", "A b C"},
		{"removed at the top", "x y a b", "a b", true, "A B", "A B", "x y A B"},
		{"a part of what was replaced", "a b c", "a X Y", false, "a b C", "a C X Y", "a b C"},
		{"another text", "a b", "a N b", false, "A B C", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := func(words string) string { return strings.ReplaceAll(words, " ", "\n") + "\n" }
			r := New(file(text(c.before)))
			r.Observe(file(text(c.agent)), by("s", "1"))
			d, err := r.Decide(hunkIDs(r), c.accept, nil)
			require.NoError(t, err)
			r.Observe(file(text(c.typed)), nil)
			if err := r.Undo(passed(t, d)); c.now == "" {
				require.ErrorIs(t, err, ErrOvertaken)
				return
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, text(c.now), string(r.Current().Data))
			require.Equal(t, text(c.base), string(r.Baseline().Data))
		})
	}
}

// A placesStory is one of a decision, of what a person types then, and of its undo.
type placesStory struct {
	story
	r    *Review
	took map[uint64]uint64 // by id: whose place a person's line has
}

func (s *placesStory) agent(turn string) {
	lines := linetext.Split(string(s.r.Current().Data))
	for range 1 + s.rng.Intn(3) {
		at := s.rng.Intn(len(lines) + 1)
		to := min(at+s.rng.Intn(3), len(lines))
		var with []string
		for range s.rng.Intn(3) {
			s.lines++
			with = append(with, fmt.Sprintf("l%d\n", s.lines))
		}
		lines = slices.Replace(lines, at, to, with...)
	}
	s.note("%s: %q", turn, lines)
	s.r.Observe(file(strings.Join(lines, "")), by("s", turn))
}

// person puts lines in, removes some, or types others in their places.
func (s *placesStory) person() {
	var now []weave.Atom
	for _, a := range s.r.weave.Atoms {
		if a.On(weave.Current) {
			now = append(now, a)
		}
	}
	at := s.rng.Intn(len(now) + 1)
	to := min(at+s.rng.Intn(3), len(now))
	n := s.rng.Intn(3)
	if n > 0 && to > at { // each line in the place of one
		n = to - at
	}
	lines, typed := weave.Texts(now), map[string]uint64{}
	var with []string
	for k := range n {
		s.lines++
		l := fmt.Sprintf("p%d\n", s.lines)
		with = append(with, l)
		if at+k < to {
			typed[l] = now[at+k].ID
		}
	}
	lines = slices.Replace(lines, at, to, with...)
	s.note("person: %q", lines)
	s.r.Observe(file(strings.Join(lines, "")), nil)
	for _, a := range s.r.weave.Atoms {
		if old, is := typed[a.Text]; is {
			s.took[a.ID] = old
		}
	}
}

func (s *placesStory) play(t *testing.T) {
	s.t = t
	defer func() {
		if t.Failed() {
			t.Log(strings.Join(s.log, "\n"))
		}
	}()
	var base string
	for i := range 2 + s.rng.Intn(5) {
		base += fmt.Sprintf("b%d\n", i)
	}
	s.note("base %q", base)
	s.r = New(file(base))
	for turn := range 1 + s.rng.Intn(2) {
		s.agent(fmt.Sprint(turn + 1))
	}
	ids := hunkIDs(s.r)
	if len(ids) == 0 {
		return
	}
	if s.rng.Intn(3) == 0 {
		ids = ids[s.rng.Intn(len(ids)):][:1]
	}
	accept := s.rng.Intn(3) == 0
	before := slices.Clone(s.r.weave.Atoms)
	d, err := s.r.Decide(ids, accept, nil)
	require.NoError(t, err)
	s.note("decide %v accept=%v: %q", ids, accept, s.r.Current().Data)
	for range 1 + s.rng.Intn(3) {
		s.person()
	}
	s.r = restored(t, s.r)
	typed := slices.Clone(s.r.weave.Atoms)
	text := string(s.r.Current().Data)
	d = passed(t, d)
	if err := s.r.Undo(d); err != nil {
		s.note("undo: %v", err)
		require.ErrorIs(t, err, ErrOvertaken)
		return
	}
	s.note("undo: %q of %q", s.r.Current().Data, s.r.Baseline().Data)
	undone := slices.Clone(s.r.weave.Atoms)
	s.requirePlaces(before, typed, undone, d.atoms(func(a *decidedAtom) bool { return a.Gone }))
	if accept {
		require.Equal(t, text, string(s.r.Current().Data))
	}
	again, err := s.r.Redo(d)
	if err != nil {
		require.ErrorIs(t, err, ErrOvertaken)
		return
	}
	require.Equal(t, text, string(s.r.Current().Data), "after the redo")
	require.NoError(t, s.r.Undo(passed(t, again)))
	require.Equal(t, undone, s.r.weave.Atoms, "undone again")
}

// requirePlaces requires that lines which come back are in the order in which they were, beside the lines that they were beside, and, where
// each other line between two that stay has the place of one, also in the order with these.
func (s *placesStory) requirePlaces(before, typed, undone []weave.Atom, gone map[uint64]bool) {
	why := fmt.Sprintf("before: %s\ntyped:  %s\nundone: %s", s.words(before), s.words(typed), s.words(undone))
	place, was, there := map[uint64]int{}, map[uint64]int{}, map[uint64]bool{}
	for i, a := range undone {
		place[a.ID] = i
	}
	for i, a := range before {
		was[a.ID] = i
	}
	last := -1
	for _, a := range typed {
		if i, is := was[a.ID]; is && i < last {
			return // what is pending was put beside what the person has typed
		} else if is {
			last = i
		}
	}
	last = -1
	for _, a := range typed {
		there[a.ID] = true
		at, is := place[a.ID]
		require.True(s.t, is, "%q is gone\n%s", a.Text, why)
		require.Greater(s.t, at, last, "%q\n%s", a.Text, why)
		last = at
	}
	last = -1
	for _, a := range undone { // what comes back, and what stays of the lines before
		if i, is := was[a.ID]; is {
			require.Greater(s.t, i, last, "the order\n%s", why)
			last = i
		}
	}
	others := func(from, to int) (other []weave.Atom) {
		for _, a := range undone[from:to] {
			if _, is := was[a.ID]; !is {
				other = append(other, a)
			}
		}
		return other
	}
	for i, a := range before {
		if !gone[a.ID] || there[a.ID] {
			continue
		}
		at, back := place[a.ID]
		require.True(s.t, back, "%q does not come back\n%s", a.Text, why)
		from, to := i-1, i+1 // its neighbours
		for from >= 0 && gone[before[from].ID] {
			from--
		}
		for to < len(before) && gone[before[to].ID] {
			to++
		}
		missing, above := 0, 0 // in the gap
		first, end := from, to
		for ; first >= 0 && !there[before[first].ID]; first-- {
			if !gone[before[first].ID] {
				missing, above = missing+1, above+1
			}
		}
		for ; end < len(before) && !there[before[end].ID]; end++ {
			if !gone[before[end].ID] {
				missing++
			}
		}
		begin, stop := 0, len(undone)
		if first >= 0 {
			begin = place[before[first].ID] + 1
		}
		if end < len(before) {
			stop = place[before[end].ID]
		}
		over, under := others(begin, at), others(at, stop)
		switch all := append(slices.Clone(over), under...); {
		case missing > 0 && len(all) == missing && s.each(all, was):
			require.Len(s.t, over, above, "%q is not where it was\n%s", a.Text, why)
		case first == from && end == to:
			require.True(s.t, len(over) == 0 || len(under) == 0, "%q is beside neither line\n%s", a.Text, why)
		case first == from:
			require.Empty(s.t, over, "%q is not below its line\n%s", a.Text, why)
		case end == to:
			require.Empty(s.t, under, "%q is not above its line\n%s", a.Text, why)
		}
	}
	for i := 1; i < len(before); i++ {
		x, y := before[i-1], before[i]
		if gone[x.ID] && gone[y.ID] && !there[x.ID] && !there[y.ID] {
			require.Equal(s.t, place[x.ID]+1, place[y.ID], "%q and %q are apart\n%s", x.Text, y.Text, why)
		}
	}
}

// each reports whether each line has the place of one from before.
func (s *placesStory) each(lines []weave.Atom, was map[uint64]int) bool {
	last := -1
	for _, a := range lines {
		id := a.ID
		for s.took[id] != 0 {
			id = s.took[id]
		}
		i, is := was[id]
		if !is || i <= last {
			return false
		}
		last = i
	}
	return true
}

func (s *placesStory) words(atoms []weave.Atom) string {
	var all []string
	for _, a := range atoms {
		l := strings.TrimSpace(a.Text)
		if a.Ins != 0 {
			l = "+" + l
		}
		if a.Del != 0 {
			l = "-" + l
		}
		all = append(all, l)
	}
	return strings.Join(all, " ")
}

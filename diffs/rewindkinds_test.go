package diffs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cursord/diffs/internal/linetext"

	"github.com/stretchr/testify/require"
)

// TestRewindOfFilesOfAllKinds plays random stories of two sessions and a person in a file that is also deleted, made anew, and made binary, with
// decisions, rewinds and undos at any time. A rewind loses no line of others, takes all of its turns back where nothing is left, and is undone exactly.
func TestRewindOfFilesOfAllKinds(t *testing.T) {
	for seed := range storiesOf(t, 750) {
		s := &kindsStory{sessionsStory: *newSessionsStory(seed), removed: map[string]string{}}
		if !t.Run(fmt.Sprint(seed), s.play) {
			return
		}
	}
}

// TestRewindsOfFilesThatCameAndWent has such stories in short.
func TestRewindsOfFilesThatCameAndWent(t *testing.T) {
	const gone, binary = "-", noText
	for _, c := range []struct {
		name, base string
		steps      []string // "turn: text" or "accept" or "reject"; turn p is a person
		undone     string
		now, want  string // the present content, and what a reject of all leads to
		left       Left
	}{
		{"a person has written in a file that one call has made and removed", gone, []string{"s1: l1 l2", "p: l1 p l2", "s1: -"}, "s1", "p", "p", Left{Changed: true}},
		{"a person has removed the file that was made where the session had removed one", "b0 b1", []string{"o1: -", "accept", "s1: l", "p: -"}, "o1", "b0 b1", "b0 b1", Left{}},
		{"a file made where others have removed another twice", "b0 b1", []string{"s1: -", "p: p", "o1: -", "o2: l"}, "o2", gone, "b0 b1 p", Left{}},
		{"others have removed what a person had written in a file of the session", gone, []string{"s1: l", "p: l p", "o1: l"}, "s1", "", "p", Left{Changed: true}},
		{"others have made the file binary over what was pending", "b0 b1", []string{"s1: -", "p: p", "o1: " + binary}, "s1", binary, "p", Left{Changed: true}},
		{"binary, accepted, and then a text of others", "b0 b1", []string{"o1: " + binary, "accept", "s1: l"}, "o1", "l", "b0 b1", Left{}},
		{"a file moved over one that the session had removed", "b0 b1", []string{"s1: -", "o1: m1 m2"}, "s1", "m1 m2", "b0 b1", Left{}},
		{"a line comes back by a reject after a person has removed what had replaced it", "b0", []string{"o1: l1 l2", "accept", "s1: l1 l3 l4", "p: l1 l4", "reject"}, "o1", "b0", "b0", Left{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := func(words string) Content {
				switch words {
				case gone:
					return Content{}
				case "", binary:
					return file(words)
				}
				return file(strings.ReplaceAll(words, " ", "\n") + "\n")
			}
			r := New(content(c.base))
			for _, step := range c.steps {
				turn, words, _ := strings.Cut(step, ": ")
				switch turn {
				case "accept", "reject":
					_, err := r.Decide(hunkIDs(r), turn == "accept", nil)
					require.NoError(t, err)
				case "p":
					r.Observe(content(words), nil)
				default:
					r.Observe(content(words), by(turn[:1], turn))
				}
				r = restored(t, r)
			}
			was := r.Copy()
			d, left, err := r.Rewind(Undone{c.undone[:1], []string{c.undone}})
			require.NoError(t, err)
			require.Equal(t, c.left, left)
			r = restored(t, r)
			require.Equal(t, normal(content(c.now)), normal(r.Current()))
			undone := r.Copy()
			require.NoError(t, undone.Undo(passed(t, d)))
			requireAsBefore(t, was, undone)
			if r.Pending() {
				_, err = r.Decide(hunkIDs(r), false, nil)
				require.NoError(t, err)
			}
			require.Equal(t, normal(content(c.want)), normal(r.Current()))
		})
	}
}

// A kindsStory is one of a file that may be of any kind.
type kindsStory struct {
	sessionsStory
	removed map[string]string // by line, the turn that has removed it; "p" for a person, "d" for a decision
}

const noText = "\x00"

// linesOf returns the lines of a content; one that is no text counts as one line.
func linesOf(c Content) []string {
	if strings.HasPrefix(string(c.Data), noText) {
		return []string{string(c.Data)}
	}
	return linetext.Split(string(c.Data))
}

// next returns another content, by somebody whose lines begin with who.
func (s *kindsStory) next(now Content, who string) Content {
	lines := linesOf(now)
	line := func() string { s.lines++; return fmt.Sprintf("%s%d\n", who, s.lines) }
	switch k := s.rng.Intn(10); {
	case k == 0 && now.Exists && (who == "l" || s.rng.Intn(3) == 0):
		return Content{}
	case k == 1 && (who == "l" || s.rng.Intn(4) == 0):
		return file(noText + line())
	case !now.Exists || strings.HasPrefix(string(now.Data), noText):
		lines = []string{line()}
		if s.rng.Intn(2) == 0 {
			lines = append(lines, line())
		}
		return file(strings.Join(lines, ""))
	}
	for range 1 + s.rng.Intn(2) {
		at := s.rng.Intn(len(lines) + 1)
		to := min(at+s.rng.Intn(3), len(lines))
		var with []string
		for range s.rng.Intn(3) {
			with = append(with, line())
		}
		lines = slices.Replace(lines, at, to, with...)
	}
	return file(strings.Join(lines, ""))
}

// changes lets somebody write another content; src is nil for a person.
func (s *kindsStory) changes(src *Source) {
	who, turn := "l", "p"
	if src == nil {
		who = "p"
	} else {
		turn = src.TurnID
	}
	was := s.r.Current()
	c := s.next(was, who)
	for _, l := range linesOf(c) {
		if !slices.Contains(linesOf(was), l) {
			s.wrote[l] = turn
		}
		delete(s.removed, l)
	}
	s.r.Observe(c, src)
	s.r = restored(s.t, s.r)
	s.removes(was, turn)
	if !c.Exists || strings.HasPrefix(string(c.Data), noText) {
		for l := range s.removed {
			if turn == "p" || strings.Contains(l, "l") { // what the whole change of others has replaced is beneath it
				s.removed[l] = "over"
			}
		}
	}
	s.note("%s: %v %q of %v %q", turn, c.Exists, c.Data, s.r.Baseline().Exists, s.r.Baseline().Data)
	require.Equal(s.t, normal(c), normal(s.r.Current()))
	s.done = nil
}

// removes notes who has removed the lines of a content that are gone.
func (s *kindsStory) removes(was Content, who string) {
	now := linesOf(s.r.Current())
	for _, l := range linesOf(was) {
		if !slices.Contains(now, l) {
			s.removed[l] = who
		}
	}
}

func (s *kindsStory) agent() {
	of := string("so"[s.rng.Intn(2)])
	if s.rng.Intn(2) == 0 || len(s.turns[of]) == 0 {
		s.turns[of] = append(s.turns[of], fmt.Sprint(of, len(s.turns[of])+len(s.cuts)+1))
	}
	src := by(of, s.turns[of][len(s.turns[of])-1])
	src.ItemID = fmt.Sprint(s.calls, s.rng.Intn(2))
	s.changes(src)
}

func (s *kindsStory) decides(accept bool) {
	ids := hunkIDs(s.r)
	if len(ids) == 0 {
		return
	}
	if s.rng.Intn(2) == 0 {
		ids = ids[s.rng.Intn(len(ids)):][:1]
	}
	before := s.r.Copy()
	d, err := s.r.Decide(ids, accept, nil)
	s.note("decide %v accept=%v: %v: %q of %q", ids, accept, err, s.r.Current().Data, s.r.Baseline().Data)
	if err != nil {
		require.ErrorIs(s.t, err, ErrUserChanged)
		return
	}
	s.keeps(before, "the decision")
	s.removes(before.Current(), "d")
	for l := range s.removed {
		if strings.Contains(l, "l") && !accept {
			s.removed[l] = "d"
		}
	}
	s.did(d, before)
}

func (s *kindsStory) did(d Decision, before *Review) {
	s.calls++
	s.r = restored(s.t, s.r)
	s.done = append(s.done, step{passed(s.t, d), before, s.r.Copy()})
}

// keeps requires that a person's lines in the file are there still.
func (s *kindsStory) keeps(before *Review, what string) {
	for _, l := range linesOf(before.Current()) {
		if l[0] == 'p' {
			require.Contains(s.t, linesOf(s.r.Current()), l, what)
		}
	}
}

func (s *kindsStory) rewinds() {
	of := string("so"[s.rng.Intn(2)])
	if len(s.turns[of]) == 0 {
		return
	}
	u := Undone{of, slices.Clone(s.turns[of][s.rng.Intn(len(s.turns[of])):])}
	before := s.r.Copy()
	d, left, err := s.r.Rewind(u)
	now, base := s.r.Current(), s.r.Baseline()
	s.note("rewind %v: %v %v: %v %q of %v %q", u.Turns, err, left, now.Exists, now.Data, base.Exists, base.Data)
	s.keeps(before, "the rewind")
	for _, l := range linesOf(before.Current()) {
		if !slices.Contains(u.Turns, s.wrote[l]) {
			require.Contains(s.t, linesOf(now), l, "a line of others")
		}
	}
	for _, l := range linesOf(before.Baseline()) {
		if (l[0] == 'p' || l[0] == 'b') && !left.Changed {
			require.True(s.t, slices.Contains(linesOf(base), l) || slices.Contains(linesOf(now), l), "the line %q that a reject would bring back", l)
		}
	}
	for _, h := range s.r.Hunks() {
		for _, src := range h.Sources {
			require.False(s.t, u.Has(src), "%v is pending", src)
		}
	}
	for _, l := range append(linesOf(now), linesOf(base)...) {
		require.False(s.t, slices.Contains(u.Turns, s.wrote[l]) && (!left.Changed || slices.Contains(linesOf(now), l)), "who wrote %q", l)
	}
	if left == (Left{}) {
		for l, by := range s.removed {
			over := strings.HasPrefix(l, noText) && now.Exists && !slices.Contains(linesOf(now), l)
			if slices.Contains(u.Turns, by) && !slices.Contains(u.Turns, s.wrote[l]) && s.wrote[l] != "gone" && !over {
				require.True(s.t, slices.Contains(linesOf(base), l) || slices.Contains(linesOf(now), l), "%q of %q comes back", l, s.wrote[l])
			}
		}
	}
	s.cut2(u)
	if err != nil {
		require.ErrorIs(s.t, err, ErrNotFound)
		return
	}
	s.removes(before.Current(), "d")
	for _, l := range append(linesOf(now), linesOf(base)...) {
		if slices.Contains(u.Turns, s.removed[l]) {
			delete(s.removed, l)
		}
	}
	s.did(d, before)
}

func (s *kindsStory) cut2(u Undone) {
	for l, by := range s.wrote {
		if slices.Contains(u.Turns, by) {
			s.wrote[l] = "gone"
		}
	}
	s.turns[u.Session] = slices.DeleteFunc(s.turns[u.Session], func(turn string) bool { return slices.Contains(u.Turns, turn) })
	for _, turn := range u.Turns {
		s.cuts[turn] = true
	}
}

// undoes undoes all decisions, and makes them again.
func (s *kindsStory) undoes() {
	for i, st := range slices.Backward(s.done) {
		s.note("undo %d", i)
		require.NoError(s.t, s.r.Undo(st.d))
		s.r = restored(s.t, s.r)
		requireAsBefore(s.t, st.before, s.r)
		require.Equal(s.t, st.before.Origins(), s.r.Origins())
	}
	for i := range s.done {
		s.note("redo %d", i)
		d, err := s.r.Redo(s.done[i].d)
		require.NoError(s.t, err)
		s.r = restored(s.t, s.r)
		requireAsBefore(s.t, s.done[i].after, s.r)
		s.done[i].d = passed(s.t, d)
	}
}

func (s *kindsStory) play(t *testing.T) {
	s.t, s.cuts = t, map[string]bool{}
	defer func() {
		if t.Failed() {
			t.Log(strings.Join(s.log, "\n"))
		}
	}()
	base := file("b0\nb1\nb2\n")
	switch s.rng.Intn(5) {
	case 0:
		base = Content{}
	case 1:
		base = file(noText + "b\n")
	}
	s.note("base %v %q", base.Exists, base.Data)
	s.r = New(base)
	for range 6 + s.rng.Intn(9) {
		switch k := s.rng.Intn(12); {
		case k < 2:
			s.changes(nil)
		case k < 6:
			s.agent()
		case k < 8:
			s.rewinds()
		case k < 9:
			s.undoes()
		default:
			s.decides(k < 11)
		}
	}
	s.rewinds()
	s.undoes()
}

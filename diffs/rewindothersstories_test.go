package diffs

import (
	"flag"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"cursord/diffs/internal/linetext"

	"github.com/stretchr/testify/require"
)

// TestRewindAmongSessions plays random stories of two sessions that replace each other's lines of one text, and goes back in either of them,
// with decisions before and after that. A reject of all that is pending must bring back what the person had, each line is of who wrote it,
// and undoing and redoing all decisions must lead through the same states, also if the person types elsewhere in between.
func TestRewindAmongSessions(t *testing.T) {
	t.Parallel()
	for seed := range storiesOf(t, 1500) {
		if !t.Run(fmt.Sprint(seed), newSessionsStory(seed).play) {
			return
		}
	}
}

// TestARewoundTurnStaysAway plays such stories in which a turn that was taken back is over: nothing brings its lines back.
func TestARewoundTurnStaysAway(t *testing.T) {
	t.Parallel()
	for seed := range storiesOf(t, 750) {
		s := newSessionsStory(seed)
		s.cuts = map[string]bool{}
		if !t.Run(fmt.Sprint(seed), s.play) {
			return
		}
	}
}

// TestRewindOfWholeTexts plays such stories in which sessions also replace the whole text.
func TestRewindOfWholeTexts(t *testing.T) {
	t.Parallel()
	for seed := range storiesOf(t, 750) {
		s := newSessionsStory(seed)
		s.whole = 2 + 2*(seed%3)
		if !t.Run(fmt.Sprint(seed), s.play) {
			return
		}
	}
}

// TestAmongSessionsAgain plays a story in which another session has replaced a line of an edit, and more of that edit is farther down.
func TestAmongSessionsAgain(t *testing.T) {
	newSessionsStory(32156).play(t)
}

var stories = flag.Int("stories", 0, "how many random stories each test of them plays; 0: as many as the gate")

func storiesOf(t *testing.T, n int) int {
	if *stories > 0 {
		return *stories
	}
	if testing.Short() {
		return n / 10
	}
	return n
}

func newSessionsStory(seed int) *sessionsStory {
	return &sessionsStory{story: story{rng: rand.New(rand.NewSource(int64(seed)))}, turns: map[string][]string{}, wrote: map[string]string{}}
}

// A sessionsStory is one of several sessions.
type sessionsStory struct {
	story
	turns   map[string][]string // of each session
	wrote   map[string]string   // the turns of the sessions' lines
	r       *Review
	settled *Review // as it was when nothing was pending; nil: since then hunks were accepted one by one
	done    []step
	calls   int
	accepts bool            // hunks are accepted
	whole   int             // one change in so many replaces the whole text; 0: none does
	persons bool            // a person types
	cuts    map[string]bool // turns that a rewind has cut off; nil: turns go on after it
}

// A step is a decision that can be undone.
type step struct {
	d             Decision
	before, after *Review
}

// edited returns a text with some lines replaced, removed or put in.
func (s *sessionsStory) edited(text string) string {
	lines := linetext.Split(text)
	if s.whole > 0 && s.rng.Intn(s.whole) == 0 {
		lines = nil
		for range s.rng.Intn(5) {
			s.lines++
			lines = append(lines, fmt.Sprintf("l%d\n", s.lines))
		}
		return strings.Join(lines, "")
	}
	for range 1 + s.rng.Intn(2) {
		at := s.rng.Intn(len(lines) + 1)
		to := at
		if s.rng.Intn(5) > 0 {
			to = min(at+1+s.rng.Intn(2), len(lines))
		}
		var with []string
		for range min(s.rng.Intn(4), 2) {
			s.lines++
			with = append(with, fmt.Sprintf("l%d\n", s.lines))
		}
		lines = slices.Replace(lines, at, to, with...)
	}
	return strings.Join(lines, "")
}

// agent lets a session edit the text, in a new turn or in its latest one.
func (s *sessionsStory) agent() {
	of := string("so"[s.rng.Intn(2)])
	if s.rng.Intn(2) == 0 || len(s.turns[of]) == 0 {
		s.turns[of] = append(s.turns[of], fmt.Sprint(of, len(s.turns[of])+len(s.cuts)+1))
	}
	src := by(of, s.turns[of][len(s.turns[of])-1])
	src.ItemID = fmt.Sprint(s.calls, s.rng.Intn(2)) // no call goes on after a decision
	text := s.edited(string(s.r.Current().Data))
	s.note("%s: %q", src.TurnID, text)
	for _, l := range linetext.Split(text) {
		if l[0] == 'l' && s.wrote[l] == "" {
			s.wrote[l] = src.TurnID
		}
	}
	s.r.Observe(file(text), src)
	s.r = restored(s.t, s.r)
	s.done = nil // an undo would be about other lines now
}

// person puts a line in.
func (s *sessionsStory) person() {
	lines := linetext.Split(string(s.r.Current().Data))
	s.lines++
	text := strings.Join(slices.Insert(lines, s.rng.Intn(len(lines)+1), fmt.Sprintf("p%d\n", s.lines)), "")
	s.note("person: %q", text)
	s.r.Observe(file(text), nil)
	s.r = restored(s.t, s.r)
	s.done, s.settled = nil, nil
	s.calls++
}

// decides accepts or rejects all hunks or one.
func (s *sessionsStory) decides(accept bool) {
	ids := hunkIDs(s.r)
	if len(ids) == 0 {
		return
	}
	if s.rng.Intn(3) == 0 {
		ids = ids[s.rng.Intn(len(ids)):][:1]
	}
	before := s.r.Copy()
	d, err := s.r.Decide(ids, accept, nil)
	require.NoError(s.t, err)
	s.note("decide %v accept=%v", ids, accept)
	switch {
	case !s.r.Pending():
		s.settled = s.r.Copy()
	case accept:
		s.settled = nil
	}
	s.did(d, before)
}

func (s *sessionsStory) did(d Decision, before *Review) {
	s.calls++
	s.r = restored(s.t, s.r)
	s.done = append(s.done, step{passed(s.t, d), before, s.r.Copy()})
	s.requireWriters()
}

// rewinds takes turns of a session back.
func (s *sessionsStory) rewinds() {
	of := string("so"[s.rng.Intn(2)])
	if len(s.turns[of]) == 0 {
		return
	}
	u := Undone{of, slices.Clone(s.turns[of][s.rng.Intn(len(s.turns[of])):])}
	before := s.r.Copy()
	d, _, err := s.r.Rewind(u)
	s.note("rewind %v: %v: %q of %q", u.Turns, err, s.r.Current().Data, s.r.Baseline().Data)
	if !s.accepts {
		require.Equal(s.t, string(before.Baseline().Data), string(s.r.Baseline().Data), "what a reject of all brings back, without an accept")
	}
	now, base := linetext.Split(string(s.r.Current().Data)), linetext.Split(string(s.r.Baseline().Data))
	for _, l := range linetext.Split(string(before.Current().Data)) {
		if !slices.Contains(u.Turns, s.wrote[l]) {
			require.Contains(s.t, now, l, "a line of others")
		}
		if l[0] != 'l' {
			require.Contains(s.t, base, l, "a person's line")
		}
	}
	for _, l := range slices.Concat(now, base) {
		require.NotContains(s.t, u.Turns, s.wrote[l], "who wrote %q", l)
		require.False(s.t, s.cuts[s.wrote[l]], "who wrote %q", l)
	}
	s.requireWriters()
	if s.settled != nil {
		s.settled = s.settled.Copy()
		_, _, none := s.settled.Rewind(u)
		require.ElementsMatch(s.t, linetext.Split(string(s.settled.Baseline().Data)), base, "what a reject of all brings back")
		require.Equal(s.t, persons(s.settled), persons(s.r), "the order of the person's lines")
		if none != nil && err == nil {
			s.settled = nil // it still knows the turns
		}
	}
	for _, h := range s.r.Hunks() {
		for _, src := range h.Sources {
			require.False(s.t, u.Has(src), "%v is pending", src)
		}
	}
	if err != nil {
		require.ErrorIs(s.t, err, ErrNotFound)
		s.cut(u)
		return
	}
	s.did(d, before)
	s.cut(u)
}

// cut takes the turns of a rewind off their session.
func (s *sessionsStory) cut(u Undone) {
	if s.cuts == nil {
		return
	}
	s.turns[u.Session] = slices.DeleteFunc(s.turns[u.Session], func(turn string) bool { return slices.Contains(u.Turns, turn) })
	for _, turn := range u.Turns {
		s.cuts[turn] = true
	}
}

// requireWriters checks that each line is of who wrote it.
func (s *sessionsStory) requireWriters() {
	lines := linetext.Split(string(s.r.Current().Data))
	for _, o := range s.r.Origins() {
		for _, l := range lines[o.From:o.To] {
			by := ""
			if o.Source != nil {
				by = o.Source.TurnID
			}
			require.Equal(s.t, s.wrote[l], by, "who wrote %q", l)
		}
	}
}

// persons returns the person's lines that a reject of all brings back.
func persons(r *Review) []string {
	return slices.DeleteFunc(linetext.Split(string(r.Baseline().Data)), func(l string) bool { return l[0] == 'l' })
}

// steps undoes all decisions, and makes them again.
func (s *sessionsStory) steps() {
	for i, st := range slices.Backward(s.done) {
		s.note("undo %d", i)
		require.NoError(s.t, s.r.Undo(st.d))
		s.r = restored(s.t, s.r)
		requireAsBefore(s.t, st.before, s.r)
		s.requireWriters()
	}
	for i := range s.done {
		s.note("redo %d", i)
		d, err := s.r.Redo(s.done[i].d)
		require.NoError(s.t, err)
		s.r = restored(s.t, s.r)
		requireAsBefore(s.t, s.done[i].after, s.r)
		s.requireWriters()
		s.done[i].d = passed(s.t, d)
	}
}

// typesBetween undoes all decisions, has the person put a line in, away from what is pending, and makes the decisions again.
func (s *sessionsStory) typesBetween() {
	for _, st := range slices.Backward(s.done) {
		require.NoError(s.t, s.r.Undo(st.d))
		s.r = restored(s.t, s.r)
	}
	lines := linetext.Split(string(s.r.Current().Data))
	at := s.rng.Intn(len(lines) + 1)
	if slices.ContainsFunc(s.r.Places(), func(p Place) bool { return p.From <= at && at <= p.To }) {
		return
	}
	const typed = "typed\n"
	s.note("typed at %d", at)
	s.r.Observe(file(strings.Join(slices.Insert(lines, at, typed), "")), nil)
	var again []step
	for i, st := range s.done {
		s.note("redo %d", i)
		before := s.r.Copy()
		d, err := s.r.Redo(st.d)
		require.NoError(s.t, err)
		s.r = restored(s.t, s.r)
		for is, was := range map[string]string{string(s.r.Current().Data): string(st.after.Current().Data), string(s.r.Baseline().Data): string(st.after.Baseline().Data)} {
			require.Equal(s.t, 1, strings.Count(is, typed))
			require.Equal(s.t, was, strings.Replace(is, typed, "", 1))
		}
		s.requireWriters()
		again = append(again, step{passed(s.t, d), before, nil})
	}
	for _, st := range slices.Backward(again) {
		require.NoError(s.t, s.r.Undo(st.d))
		s.r = restored(s.t, s.r)
		requireAsBefore(s.t, st.before, s.r)
		s.requireWriters()
	}
}

func (s *sessionsStory) play(t *testing.T) {
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
	s.settled = s.r.Copy()
	s.accepts = s.rng.Intn(2) == 0
	s.persons = s.rng.Intn(3) == 0
	for range 4 + s.rng.Intn(8) {
		switch k := s.rng.Intn(8); {
		case k < 1 && s.persons:
			s.person()
		case k < 5:
			s.agent()
		case k < 6:
			s.rewinds()
		default:
			s.decides(s.accepts && k < 7)
		}
	}
	s.rewinds()
	for range s.rng.Intn(3) {
		if s.rng.Intn(3) == 0 {
			s.rewinds()
		} else {
			s.decides(s.accepts && s.rng.Intn(2) == 0)
		}
	}
	s.steps()
	s.steps()
	s.typesBetween()
}

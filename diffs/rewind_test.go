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

func file(text string) Content { return Content{Exists: true, Data: []byte(text), Mode: 0o644} }

func by(session, turn string) *Source { return &Source{SessionID: session, TurnID: turn, Via: ViaEdit} }

// TestRewind plays stories of a file, and goes back to before turn 2 of session s.
func TestRewind(t *testing.T) {
	one, two, three, other := by("s", "1"), by("s", "2"), by("s", "3"), by("o", "9")
	link := func(to string) Content { return Content{Exists: true, Target: to} }
	mode := func(c Content, m uint32) Content { c.Mode = m; return c }
	writes := func(c Content, by *Source) act { return func(r *Review) { r.Observe(c, by) } }
	saves := func(text string) act { return writes(file(text), nil) }
	all := func(accept bool) act {
		return func(r *Review) {
			var ids []uint64
			for _, h := range r.Hunks() {
				ids = append(ids, h.ID)
			}
			if len(ids) > 0 {
				_, err := r.Decide(ids, accept, nil)
				if err != nil {
					panic(err)
				}
			}
		}
	}
	accept, reject := all(true), all(false)
	gone := Content{}
	binary := file("\x00one")
	for _, c := range []struct {
		name string
		base Content
		acts []act
		want Content
		left Left
		none bool
		path string
	}{
		{name: "pending lines", base: file("a\nb\nc\n"), acts: []act{writes(file("a\nB\nc\nd\n"), two)}, want: file("a\nb\nc\n")},
		{name: "accepted lines", base: file("a\nb\nc\n"), acts: []act{writes(file("a\nB\nc\nd\n"), two), accept}, want: file("a\nb\nc\n")},
		{
			name: "a person's lines stay", base: file("a\nb\nc\n"),
			acts: []act{writes(file("a\nB\nc\nd\n"), two), accept, saves("me\na\nB\nc\nd\nme too\n")}, want: file("me\na\nb\nc\nme too\n"),
		},
		{
			name: "a line that a person has changed", base: file("a\nb\nc\n"),
			acts: []act{writes(file("a\nB\nc\nd\n"), two), accept, saves("a\nB mine\nc\nd\n")}, want: file("a\nB mine\nc\n"), left: Left{Changed: true},
		},
		{
			name: "a pending line that a person has changed", base: file("a\nb\nc\n"),
			acts: []act{writes(file("a\nB\nc\nd\n"), two), saves("a\nB mine\nc\nd\n")}, want: file("a\nB mine\nc\n"), left: Left{Changed: true},
		},
		{
			name: "a line among others that a person has changed", base: file("a\nb\nc\nd\n"),
			acts: []act{writes(file("A\nB\nC\nD\n"), two), accept, saves("A\nmine\nC\nD\n")}, want: file("a\nmine\nc\nd\n"), left: Left{Changed: true},
		},
		{
			name: "taken back by hand", base: file("a\nb\nc\n"),
			acts: []act{writes(file("a\nB\nc\n"), two), accept, saves("a\nb\nc\n")}, none: true,
		},
		{
			name: "an earlier turn's lines come back", base: file("a\nb\nc\n"),
			acts: []act{writes(file("a\nB1\nc\n"), one), writes(file("a\nB2\nc\n"), two), accept, writes(file("a\nB3\nB4\nc\n"), three)},
			want: file("a\nB1\nc\n"),
		},
		{
			name: "an earlier turn's pending lines stay pending", base: file("a\nb\nc\n"),
			acts: []act{writes(file("a\nB1\nc\n"), one), writes(file("a\nB1\nc\nd\n"), two)}, want: file("a\nB1\nc\n"),
		},
		{
			name: "another session's lines stay", base: file("a\nb\nc\n"),
			acts: []act{writes(file("a\nB\nc\n"), two), accept, writes(file("o\na\nB\nc\n"), other), accept}, want: file("o\na\nb\nc\n"),
		},
		{
			name: "another session has changed the line", base: file("a\nb\nc\n"),
			acts: []act{writes(file("a\nB\nc\nd\n"), two), accept, writes(file("a\nO\nc\nd\n"), other), accept}, want: file("a\nO\nc\n"), left: Left{Changed: true},
		},
		{name: "rejected", base: file("a\nb\n"), acts: []act{writes(file("a\nB\n"), two), reject}, none: true},
		{name: "a created file", base: gone, acts: []act{writes(file("x\n"), two), accept}, want: gone},
		{name: "a created file, pending", base: gone, acts: []act{writes(file("x\n"), two)}, want: gone},
		{
			name: "a created file in which a person has written", base: gone,
			acts: []act{writes(file("x\ny\n"), two), accept, saves("x\nmine\ny\n")}, want: file("mine\n"), left: Left{Changed: true},
		},
		{name: "an empty file", base: gone, acts: []act{writes(file(""), two), accept}, want: gone},
		{name: "a deleted file", base: file("a\nb"), acts: []act{writes(gone, two), accept}, want: file("a\nb")},
		{name: "a deleted file, pending", base: file("a\nb"), acts: []act{writes(gone, two)}, want: file("a\nb")},
		{
			name: "deleted and made again by a person", base: file("a\nb\n"), acts: []act{writes(gone, two), accept, saves("mine\n")}, none: true,
		},
		{
			name: "created and deleted", base: gone, acts: []act{writes(file("x\n"), two), accept, writes(gone, three), accept}, none: true,
		},
		{name: "no line end", base: file("a\nb"), acts: []act{writes(file("a\nb\nc\n"), two), accept}, want: file("a\nb")},
		{name: "a mode", base: file("a\n"), acts: []act{writes(mode(file("a\n"), 0o755), two), accept}, want: file("a\n")},
		{name: "a binary file", base: binary, acts: []act{writes(file("\x00two"), two), accept, writes(file("\x00three"), three)}, want: binary},
		{
			name: "a binary file that a person has changed", base: binary, acts: []act{writes(file("\x00two"), two), accept, saves("\x00mine")}, none: true,
		},
		{name: "a text made binary", base: file("a\nb\n"), acts: []act{writes(file("\x00two"), two), accept}, want: file("a\nb\n")},
		{name: "a text made a link", base: file("a\nb\n"), acts: []act{writes(link("x"), two), accept}, want: file("a\nb\n")},
		{name: "a link", base: link("x"), acts: []act{writes(link("y"), two), accept}, want: link("x")},
		{
			name: "a rename with changes", base: file("a\nb\nc\nd\n"),
			acts: []act{func(r *Review) { r.Rename("f", "g", two) }, writes(file("a\nb\nc\nD\n"), two), accept}, want: file("a\nb\nc\nd\n"), path: "f",
		},
		{
			name: "a rename, pending", base: file("a\nb\nc\nd\n"),
			acts: []act{func(r *Review) { r.Rename("f", "g", two) }}, want: file("a\nb\nc\nd\n"), path: "f",
		},
		{
			name: "lines that a person has moved", base: file("a\nb\nc\nd\n"),
			acts: []act{writes(file("a\nfunction\nb\nc\nd\n"), two), accept, saves("a\nb\nc\nd\nfunction\n")}, none: true,
		},
		{
			name: "a checkout of the old text and back", base: file("a\nb\n"),
			acts: []act{writes(file("a\nB\nb\n"), two), accept, saves("a\nb\n"), saves("a\nB\nb\n")}, want: file("a\nb\n"),
		},
		{
			name: "gone for a while", base: file("a\nb\n"),
			acts: []act{writes(file("a\nB\nb\n"), two), accept, writes(gone, nil), saves("a\nB\nb\n")}, want: file("a\nb\n"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := played(t, c.base, c.acts)
			was := r.Copy()
			d, left, err := r.Rewind(Undone{"s", []string{"2", "3"}})
			if c.none {
				require.ErrorIs(t, err, ErrNotFound)
				require.Equal(t, was.Marshal(), r.Marshal())
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.left, left)
			require.Equal(t, string(c.want.Data), string(r.Current().Data))
			require.Equal(t, c.want, r.Current())
			require.Equal(t, c.path, r.Path())
			for _, h := range r.Hunks() {
				for _, s := range h.Sources {
					require.NotContains(t, []string{"2", "3"}, s.TurnID)
				}
			}
			r = restored(t, r)
			require.Equal(t, c.want, r.Current())
			then := r.Copy()
			require.NoError(t, r.Undo(d))
			requireSame(t, was, r)
			again, err := r.Redo(d)
			require.NoError(t, err)
			requireSame(t, then, r)
			require.NoError(t, r.Undo(again))
			requireSame(t, was, r)
		})
	}
}

// An act is what happens to a file.
type act func(*Review)

// played returns the review of a file after some acts. It comes back from the store after each of them.
func played(t *testing.T, base Content, acts []act) *Review {
	r := New(base)
	for _, do := range acts {
		do(r)
		r = restored(t, r)
	}
	return r
}

// restored returns a review as it comes back from the store.
func restored(t *testing.T, r *Review) *Review {
	back, err := Unmarshal(r.Marshal(), r.Baseline().Data, r.Current().Data)
	require.NoError(t, err)
	require.NoError(t, back.RestoreHistory(r.History(7)))
	return back
}

// requireSame compares two reviews, but for their revisions and ids yet to be given out.
func requireSame(t *testing.T, want, got *Review) {
	require.Equal(t, want.Current(), got.Current())
	require.Equal(t, want.Baseline(), got.Baseline())
	require.Equal(t, want.Kind(), got.Kind())
	require.Equal(t, want.Path(), got.Path())
	require.Equal(t, len(want.Hunks()), len(got.Hunks()))
	require.Equal(t, want.Origins(), got.Origins())
}

// TestUndoOfARewindInAChangedFile takes a rewind back after a person has changed other lines, or the same ones.
func TestUndoOfARewindInAChangedFile(t *testing.T) {
	for _, c := range []struct{ saved, want string }{
		{"a\nb\nc\nd\ne\nmine\n", "a\nB\nc\nd\ne\nmine\n"},
		{"mine\na\nb\nc\nd\ne\n", "mine\na\nB\nc\nd\ne\n"},
		{"a\nmine\nc\nd\ne\n", ""},
	} {
		r := New(file("a\nb\nc\nd\ne\n"))
		r.Observe(file("a\nB\nc\nd\ne\n"), by("s", "1"))
		d, _, err := r.Rewind(Undone{"s", []string{"1"}})
		require.NoError(t, err)
		r.Observe(file(c.saved), nil)
		if err = r.Undo(d); c.want == "" {
			require.ErrorIs(t, err, ErrOvertaken)
			require.Equal(t, c.saved, string(r.Current().Data))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, string(r.Current().Data))
		require.Len(t, r.Hunks(), 1, "the agent's line is pending again")
	}
}

// TestRewindStories plays random stories of two sessions and a person in one file, and goes back in one of them. A person's
// lines are in upper case and an agent's in lower case; each has few texts, so that lines are often alike.
func TestRewindStories(t *testing.T) {
	for seed := range storiesOf(t, 1000) {
		rng := rand.New(rand.NewSource(int64(seed)))
		tellRewind(t, fmt.Sprint("seed ", seed), rng, seed%2 == 0)
	}
}

func tellRewind(t *testing.T, name string, rng *rand.Rand, unique bool) {
	n := 0
	line := func(letters string) string {
		n++
		if unique {
			return fmt.Sprintf("%c%d\n", letters[0], n)
		}
		return string(letters[rng.Intn(len(letters))]) + "\n"
	}
	change := func(text, letters string) string {
		lines := linetext.Split(text)
		for range 1 + rng.Intn(3) {
			at := rng.Intn(len(lines) + 1)
			switch k := rng.Intn(3); {
			case k == 0 && at < len(lines):
				lines = slices.Delete(lines, at, at+1)
			case k == 1 && at < len(lines):
				lines[at] = line(letters)
			default:
				lines = slices.Insert(lines, at, line(letters))
			}
		}
		if len(lines) > 0 && !strings.HasSuffix(lines[len(lines)-1], "\n") {
			lines[len(lines)-1] += "\n"
		}
		return strings.Join(lines, "")
	}
	base := ""
	for range rng.Intn(8) {
		base += line("b01")
	}
	r := New(file(base))
	turn, undone := 0, map[string]bool{}
	at := map[string]string{} // the text when a turn of s began
	disturbed := false
	wrote := map[string]string{} // a unique line's turn
	from := 1 + rng.Intn(4)
	for range 3 + rng.Intn(9) {
		text := string(r.Current().Data)
		switch k := rng.Intn(8); {
		case k < 4:
			turn++
			src := by([]string{"s", "s", "s", "o"}[rng.Intn(4)], fmt.Sprint(turn))
			if src.SessionID == "s" && turn >= from {
				if len(undone) == 0 {
					at["begin"], disturbed = text, false
				}
				undone[src.TurnID] = true
			} else {
				disturbed = true
			}
			next := change(text, "xyz")
			for _, l := range linetext.Split(next) {
				if wrote[l] == "" && !strings.Contains(text, l) {
					wrote[l] = src.TurnID
				}
			}
			r.Observe(file(next), src)
		case k < 6:
			disturbed = true
			r.Observe(file(change(text, "PQR")), nil)
		default:
			hunks := r.Hunks()
			if len(hunks) == 0 {
				continue
			}
			accept := rng.Intn(3) > 0
			disturbed = disturbed || !accept
			d, err := r.Decide([]uint64{hunks[rng.Intn(len(hunks))].ID}, accept, nil)
			require.NoError(t, err, name)
			if rng.Intn(3) == 0 {
				disturbed = true
				require.NoError(t, r.Undo(d), name)
			}
		}
		r = restored(t, r)
	}
	was := r.Copy()
	u := Undone{Session: "s"}
	for id := range undone {
		u.Turns = append(u.Turns, id)
	}
	count := func(text, letters string) (n int) {
		for l := range strings.Lines(text) {
			if strings.Contains(letters, l[:1]) {
				n++
			}
		}
		return n
	}
	before := string(r.Current().Data)
	d, left, err := r.Rewind(u)
	after := string(r.Current().Data)
	require.GreaterOrEqual(t, count(after, "PQR"), count(before, "PQR"), "%s: a person's line is lost:\n%s\n%s", name, before, after)
	if err != nil {
		require.ErrorIs(t, err, ErrNotFound, name)
		require.Equal(t, before, after, name)
	}
	if unique {
		for _, l := range linetext.Split(before) {
			switch by := wrote[l]; {
			case by != "" && undone[by]:
				require.NotContains(t, linetext.Split(after), l, "%s: a line of turn %s stays", name, by)
			default:
				require.Contains(t, linetext.Split(after), l, "%s: a line of others is gone", name)
			}
		}
	}
	if len(undone) > 0 && !disturbed {
		require.Equal(t, at["begin"], after, "%s", name)
		require.Equal(t, Left{}, left, name)
	}
	for _, h := range r.Hunks() {
		for _, s := range h.Sources {
			require.False(t, u.Has(s), "%s: %v is pending", name, s)
		}
	}
	if err != nil {
		return
	}
	r = restored(t, r)
	require.Equal(t, after, string(r.Current().Data), name)
	require.NoError(t, r.Undo(d), name)
	requireSame(t, was, r)
}

package diffs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewindKeepsAPersonsWholeFile takes a turn back that has changed a file as a whole, which a person has written since: it stays.
func TestRewindKeepsAPersonsWholeFile(t *testing.T) {
	bin := func(text string) Content { return file("SQLite\x00" + text) }
	link := func(to string) Content { return Content{Exists: true, Target: to} }
	long := strings.Repeat("a line\n", 30)
	limits := Limits{MaxBytes: 100}
	undone := Undone{"s", []string{"1"}}
	for _, c := range []struct {
		name              string
		base, agent, mine Content
	}{
		{"a new binary", Content{}, bin("v1"), bin("mine")},
		{"a new binary, appended to", Content{}, bin("v1"), bin("v1+")},
		{"a new binary, made a text", Content{}, bin("v1"), file("mine\n")},
		{"a new binary, made a link", Content{}, bin("v1"), link("mine")},
		{"a binary", bin("v0"), bin("v1"), bin("mine")},
		{"a text made a binary", file("a\n"), bin("v1"), bin("mine")},
		{"a new link", Content{}, link("a"), link("mine")},
		{"a link", link("x"), link("a"), link("mine")},
		{"a link made a text", link("x"), file("a\n"), file("mine\n")},
		{"a new large file", Content{}, file(long), file(long + "mine\n")},
		{"a large file", file(long), file(long + "more\n"), file(long + "mine\n")},
	} {
		for _, accepted := range []bool{false, true} {
			r := limits.New(c.base)
			r.Observe(c.agent, by("s", "1"))
			require.True(t, r.Pending(), c.name)
			r = restored(t, r)
			r.Observe(c.mine, nil)
			if accepted && r.Pending() {
				_, err := r.Decide(hunkIDs(r), true, nil)
				require.NoError(t, err, c.name)
			}
			r = restored(t, r)
			was := r.Copy()
			d, left, err := r.Rewind(undone)
			require.Equal(t, c.mine, r.Current(), c.name)
			require.True(t, left.Changed, c.name)
			if !was.Pending() {
				require.ErrorIs(t, err, ErrNotFound, c.name)
				continue
			}
			require.NoError(t, err, c.name)
			require.Zero(t, d.Size(), c.name)
			require.False(t, r.Pending(), c.name)
			r = restored(t, r)
			require.NoError(t, r.Undo(passed(t, d)), c.name)
			requireSame(t, was, r)

			r = limits.New(c.base)
			r.Observe(c.agent, by("s", "1"))
			d, left, err = r.Rewind(undone)
			require.NoError(t, err, c.name)
			require.Equal(t, Left{}, left, c.name)
			require.Equal(t, c.base, r.Current(), c.name)
			require.NoError(t, r.Undo(d), c.name)
			r.Observe(c.mine, nil)
			_, err = r.Redo(d)
			require.ErrorIs(t, err, ErrOvertaken, c.name)
			require.Equal(t, c.mine, r.Current(), c.name)
		}
	}
}

// TestRewindLeavesANewFileAlone takes back a turn that has edited and then removed a file, where a person has made another one of its
// name since.
func TestRewindLeavesANewFileAlone(t *testing.T) {
	old, mine := file("alpha\nbeta\ngamma\ndelta\n"), file("{\n  \"mine\": 1\n}\n")
	for _, edited := range []string{"alpha\ngamma\ndelta\n", "alpha\nBETA\ngamma\ndelta\n"} {
		for _, makes := range []string{"gone", "link"} {
			for _, accepted := range []bool{false, true} {
				t.Run(fmt.Sprint(len(edited), makes, accepted), func(t *testing.T) {
					acts := []told{{turn: "1", text: edited}, {turn: "2", do: makes, text: "x"}}
					if accepted {
						acts = append(acts, told{do: "accept"})
					}
					r := toldTo(t, New(old), append(acts, told{text: string(mine.Data)}))
					_, left, err := r.Rewind(Undone{"s", []string{"1", "2"}})
					if err != nil {
						require.ErrorIs(t, err, ErrNotFound)
					}
					require.Equal(t, mine, r.Current())
					require.Equal(t, Left{Changed: true}, left)
					r = toldTo(t, New(old), append(acts, told{text: edited + "mine\n"}))
					_, _, err = r.Rewind(Undone{"s", []string{"1", "2"}})
					require.NoError(t, err)
					require.Equal(t, string(old.Data)+"mine\n", string(r.Current().Data), "brought back")
				})
			}
		}
	}
}

// TestRewindCountsNoModeOfWhatIsGone takes a mode back of a file in whose place is nothing, or a link, since.
func TestRewindCountsNoModeOfWhatIsGone(t *testing.T) {
	for name, mine := range map[string]Content{"gone": {}, "a link": {Exists: true, Target: "x"}} {
		for _, accepted := range []bool{false, true} {
			acts := []told{{turn: "1", do: "exec"}}
			if accepted {
				acts = append(acts, told{do: "accept"})
			}
			r := toldTo(t, New(file("a\n")), acts)
			r.Observe(mine, nil)
			was := r.Copy()
			d, _, err := r.Rewind(Undone{"s", []string{"1"}})
			require.Equal(t, mine, r.Current(), name)
			if err != nil {
				require.ErrorIs(t, err, ErrNotFound)
				require.Equal(t, was.Marshal(), r.Marshal())
			} else {
				require.Zero(t, d.Size(), name)
			}
		}
	}
}

// TestRewindSaysThatAFileIsGone takes back a turn that has made or changed a file which a person has removed, or moved away, since.
func TestRewindSaysThatAFileIsGone(t *testing.T) {
	for _, base := range []Content{{}, file("a\nb\n"), file("\x00")} {
		for _, made := range []Content{file("some line\nb\n"), file("\x00made"), {Exists: true, Target: "x"}} {
			for _, decides := range []string{"", "accept", "reject"} {
				r := New(base)
				r.Observe(made, by("s", "1"))
				if decides != "" {
					_, err := r.Decide(hunkIDs(r), decides == "accept", nil)
					require.NoError(t, err)
				}
				r = restored(t, r)
				r.Observe(Content{}, nil)
				r = restored(t, r)
				_, left, err := r.Rewind(Undone{"s", []string{"2"}})
				require.ErrorIs(t, err, ErrNotFound)
				require.Equal(t, Left{}, left)
				_, left, err = r.Rewind(Undone{"s", []string{"1"}})
				require.ErrorIs(t, err, ErrNotFound)
				require.Equal(t, decides != "reject", left.Gone, "%q %q %s", base.Data, made.Data, decides)
				require.False(t, r.Current().Exists)
			}
		}
	}
}

// TestRewindTakesPendingLinesOfARewrittenText takes a turn back whose text a person has rewritten but for a pending line. The line goes, as by
// a reject, unless it is one that many texts have.
func TestRewindTakesPendingLinesOfARewrittenText(t *testing.T) {
	undone := Undone{"s", []string{"1", "2"}}
	for _, c := range []struct{ name, base, agent, mine, want string }{
		{"a text", "hotel mike\nyankee\n", "hotel mike\nyankee\nA1 one\nA2 two\n", "bravo\nkilo lima\nA2 two\n", "bravo\nkilo lima\n"},
		{"a line", "P1 hotel\n", "P1 hotel\nA1 one\nA2 two\n", "P12 bravo\nP13 kilo\nA2 two\n", "P12 bravo\nP13 kilo\n"},
		{"with lines that many texts have", "b0\nb1\n", "b0\nb1\nfunc load() {\n\treturn nil\n}\n", "m1 one\nm2 two\nm3 three\nm4 four\nm5 five\nfunc load() {\n\treturn nil\n}\n", "m1 one\nm2 two\nm3 three\nm4 four\nm5 five\n"},
		{"such lines alone", "base zero\nbase one\n", "base zero\nbase one\nfunc load() {\n\treturn nil\n}\n", "func mine() {\n\tm.one()\n\tm.two()\n\treturn nil\n}\n", "func mine() {\n\tm.one()\n\tm.two()\n\treturn nil\n}\n"},
	} {
		r := New(file(c.base))
		r.Observe(file(c.agent), by("s", "1"))
		r.Observe(file(c.mine), nil)
		r = restored(t, r)
		again := r.Copy()
		_, _, err := r.Rewind(undone)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, string(r.Current().Data), c.name)
		if c.want == c.mine {
			continue
		}
		rejected := again.Copy()
		_, err = rejected.Decide(hunkIDs(rejected), false, nil)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, string(rejected.Current().Data), c.name)
		again.Observe(file("agent's\n"), by("s", "2"))
		again = restored(t, again)
		_, _, err = again.Rewind(undone)
		require.NoError(t, err, c.name)
		require.NotContains(t, string(again.Current().Data), "A2 two", c.name+", over two turns")
	}
}

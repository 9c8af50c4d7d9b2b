package diffs

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinesOfACommitAreNotTheAgents: an agent merges somebody's commit. Its lines come under review as the turn's, but no prompt wrote them.
func TestLinesOfACommitAreNotTheAgents(t *testing.T) {
	const base, theirs, merged = "one\nlast\n", "one\ntheirs\nlast\n", "one\ntheirs\nmine\nlast\n"
	for _, accepts := range []bool{false, true} {
		r := New(file(base))
		r.Observe(file(merged), by("s", "1"))
		ours := func(s Source) bool { return s.TurnID == "1" }
		require.False(t, r.Copy().Brought(Version{Commit: "abc", Text: theirs}, func(Source) bool { return false }))
		require.False(t, r.Copy().Brought(Version{Commit: "abc", Text: theirs, Was: theirs}, ours), "it was there before the commit")
		require.True(t, r.Brought(Version{Commit: "abc", Text: theirs}, ours))
		require.False(t, r.Brought(Version{Commit: "abc", Text: theirs}, ours), "it is known already")
		if accepts {
			_, err := r.Decide([]uint64{r.Hunks()[0].ID}, true, nil)
			require.NoError(t, err)
		} else {
			require.Equal(t, []Source{*by("s", "1")}, r.Hunks()[0].Sources)
		}
		for _, r := range []*Review{r, restored(t, r)} {
			require.Equal(t, "- - 1 - ", writersIn(r.Origins()))
			require.Equal(t, "abc", r.Origins()[1].Commit)
			require.Equal(t, "- - 1 - ", writersIn(r.OriginsOf(merged)))
			require.Equal(t, 1, r.Known())
			require.Len(t, r.Written(ofSession("s")), 1)
			r.Observe(file("// head\n"+merged), by("s", "2"))
			require.Equal(t, "2 - - 1 - ", writersIn(r.Origins()))
			_, _, err := r.Rewind(Undone{Session: "s", Turns: []string{"1", "2"}})
			require.NoError(t, err)
			require.Equal(t, base, string(r.Current().Data), "a rewind takes the merge back")
		}
	}
}

// TestLinesThatACommitMayHaveBrought: nothing but its lines tells that a command has taken a text out of git. Lines that anybody writes prove
// nothing, and a line that an earlier turn wrote is of that turn, by its text.
func TestLinesThatACommitMayHaveBrought(t *testing.T) {
	const base = "one\nlast\n"
	ours := func(s Source) bool { return s.TurnID == "2" }
	for name, c := range map[string]struct {
		first, now string
		versions   []string // the oldest first, as a, b, c
		want       string
	}{
		"a line that tells itself":   {"", "one\ntheir words\nlast\n", []string{"their words\n"}, "- a - "},
		"lines that anybody writes":  {"", "one\n}\n\nlast\n", []string{"one\n}\n\nlast\n"}, "- 2 2 - "},
		"a brace beside one":         {"", "one\n}\ntheir words\nlast\n", []string{"}\ntheir words\n"}, "- a a - "},
		"a brace elsewhere":          {"", "one\n}\nmine\ntheir words\nlast\n", []string{"}\ntheir words\n"}, "- 2 2 a - "},
		"by several":                 {"", "one\ntheir words\n}\nother words\nlast\n", []string{"their words\n", "their words\n}\nother words\n"}, "- a b b - "},
		"what an earlier turn wrote": {"one\ntheir words\nlast\n", "one\ntheir words\nlast\n", []string{"their words\n"}, "- 1? - "},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(file(base))
			if c.first != "" {
				r.Observe(file(c.first), by("s", "1"))
				_, err := r.Decide([]uint64{r.Hunks()[0].ID}, true, nil)
				require.NoError(t, err)
				r.Observe(file(base), nil)
			}
			r.Observe(file(c.now), by("s", "2"))
			for i, text := range c.versions {
				r.Brought(Version{Commit: string(rune('a' + i)), Text: text, Perhaps: true}, ours)
			}
			said := ""
			for _, o := range r.Origins() {
				who := cmp.Or(o.Commit, "-")
				if o.Source != nil {
					require.Empty(t, o.Commit)
					who = o.Source.TurnID
				}
				if o.ByText {
					who += "?"
				}
				said += strings.Repeat(who+" ", o.To-o.From)
			}
			require.Equal(t, c.want, said)
		})
	}
}

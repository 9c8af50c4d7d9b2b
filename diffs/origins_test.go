package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFormer says what lines were before, of all or a part of them.
func TestFormer(t *testing.T) {
	r := New(file("a\nb\nc\nd\ne\n"))
	r.Observe(file("a\nB one\nB two\nB three\nd\nE\n"), by("s", "1"))
	accept := func() {
		for _, h := range r.Hunks() {
			_, err := r.Decide([]uint64{h.ID}, true, nil)
			require.NoError(t, err)
		}
	}
	accept()
	r.Observe(file("mine\na\nB one\nB two\nB three\nd\nE\n"), nil)
	r.Observe(file("mine\na\nB one\nB two\nB three\nd\nthen\n"), by("s", "2"))
	r = restored(t, r)
	former := func(from, to int) (lines []string) {
		for _, o := range r.Origins() {
			if o.From <= from && to <= o.To {
				o.From, o.To = from, to
				lines = append(lines, r.Former(o)...)
			}
		}
		return lines
	}
	require.Equal(t, []string{"b", "c"}, former(2, 5))
	require.Equal(t, []string{"b", "c"}, former(3, 4), "nobody knows which line replaced which")
	require.Equal(t, []string{"E"}, former(6, 7), "the earlier line of an agent")
	require.Empty(t, former(0, 1))
	accept()
	require.Equal(t, []string{"E"}, former(6, 7))
}

// TestCheckouts follows lines of an agent that checkouts take away and bring back, beside what else these change.
func TestCheckouts(t *testing.T) {
	one, two := by("s", "1"), by("s", "2")
	r := New(file("first\nlast\n"))
	r.Observe(file("first\nagent's line\n}\nagent's other line\nlast\n"), one)
	for _, h := range r.Hunks() {
		_, err := r.Decide([]uint64{h.ID}, true, nil)
		require.NoError(t, err)
	}
	agents := string(r.Current().Data)
	r.Observe(file("first\nlast\n"), nil) // another branch
	require.Nil(t, r.Origins()[0].Source)
	r.Observe(file("first\nof this branch\nlast\n"), two)
	r = restored(t, r)
	sources := func(origins []Origin) (by string) {
		for _, o := range origins {
			mark := "-"
			if o.Source != nil {
				mark = o.Source.TurnID
			}
			if o.ByText {
				mark += "?"
			}
			by += strings.Repeat(mark+" ", o.To-o.From)
		}
		return by
	}
	require.Equal(t, "- 1? - 1? - ", sources(r.OriginsOf(agents)), "a commit of the first branch")
	r.Observe(file("// head\nfirst\nagent's line\n}\nagent's other line\nlast\n"), nil)
	require.Equal(t, "- - 1? - 1? - ", sources(r.Origins()), "lines that may be anywhere are nobody's")
	require.Equal(t, "- 2? - ", sources(r.OriginsOf("first\nof this branch\nlast\n")))
	r.Observe(Content{}, nil)
	require.Equal(t, "- 1? - 1? - ", sources(r.OriginsOf(agents)))
	r.Observe(file("// head\nfirst\nagent's line\n}\nagent's other line\nlast\n"), nil)
	require.Equal(t, "- - 1? - 1? - ", sources(restored(t, r).Origins()))
}

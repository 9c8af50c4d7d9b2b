package diffs

import (
	"testing"

	"cursord/diffs/internal/linetext"

	"github.com/stretchr/testify/require"
)

// TestRewindLeavesWhatWasRejected rejects what a turn has written in place of what an earlier one had, and nobody had decided about: the
// reject is about both, and taking the later turn back brings nothing of it back.
func TestRewindLeavesWhatWasRejected(t *testing.T) {
	for _, c := range []struct{ name, base, one, two string }{
		{"a line", "a\nmine\nb\n", "a\nx\nb\n", "a\ny\nb\n"},
		{"a new line", "a\nb\n", "a\nx\nb\n", "a\ny\nb\n"},
		{"several lines", "a\nmine\nb\n", "a\nx\nz\nb\n", "a\ny\nw\nb\n"},
		{"one by several", "a\nmine\nb\n", "a\nx\nb\n", "a\ny\nw\nb\n"},
		{"beside one that stays", "a\nmine\nb\n", "a\nx\nz\nb\n", "a\ny\nz\nb\n"},
		{"at the end", "a\n", "a\nx\n", "a\ny\n"},
	} {
		for _, other := range []string{"s", "o"} {
			t.Run(c.name+" of "+other, func(t *testing.T) {
				r := New(file(c.base))
				r.Observe(file(c.one), by("s", "1"))
				r.Observe(file(c.two), by(other, "2"))
				r = restored(t, r)
				was := r.Copy()
				d, err := r.Decide(hunkIDs(r), false, nil)
				require.NoError(t, err)
				d = passed(t, d)
				r = restored(t, r)
				for _, u := range []Undone{{other, []string{"2"}}, {"s", []string{"1"}}} {
					again := r.Copy()
					_, _, _ = again.Rewind(u)
					require.Equal(t, c.base, string(again.Current().Data), u)
					require.Equal(t, c.base, string(again.Baseline().Data), u)
					require.False(t, again.Pending(), u)
				}
				typed := r.Copy()
				typed.Observe(file("typed\n"+c.base), nil)
				require.NoError(t, typed.Undo(d))
				typed = restored(t, typed)
				_, _, err = typed.Rewind(Undone{other, []string{"2"}})
				require.NoError(t, err)
				require.ElementsMatch(t, linetext.Split("typed\n"+c.one), linetext.Split(string(typed.Current().Data)), "after the undo, and typing before it")

				require.NoError(t, r.Undo(d))
				r = restored(t, r)
				requireAsBefore(t, was, r)
				_, _, err = r.Rewind(Undone{other, []string{"2"}})
				require.NoError(t, err)
				require.Equal(t, c.one, string(r.Current().Data), "after the undo")
			})
		}
	}
}

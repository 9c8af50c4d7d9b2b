package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewindLeavesWhatIsPending rewinds a turn that has changed what an earlier one had made, and nobody had decided about: that is to be
// reviewed again.
func TestRewindLeavesWhatIsPending(t *testing.T) {
	one, two := by("s", "1"), by("s", "2")
	ids := func(r *Review) (ids []uint64) {
		for _, h := range r.Hunks() {
			ids = append(ids, h.ID)
		}
		return ids
	}
	writes := func(c Content, by *Source) act { return func(r *Review) { r.Observe(c, by) } }
	accept := func(r *Review) {
		_, _ = r.Decide(ids(r), true, nil)
	}
	moves := func(by *Source) act { return func(r *Review) { r.Rename("f", "g", by) } }
	gone := Content{}
	for _, c := range []struct {
		name string
		base Content
		acts []act
		want string // the present text
		path string
		left string // the text after a reject of all; "absent" if there is no file
		of   string // what each hunk names
	}{
		{
			name: "a line that is changed again", base: file("a\nb\nc\n"),
			acts: []act{writes(file("a\nB1\nc\n"), one), writes(file("a\nB2\nc\n"), two)}, want: "a\nB1\nc\n", left: "a\nb\nc\n", of: "1",
		},
		{
			name: "a new line that is changed again", base: file("a\nc\n"),
			acts: []act{writes(file("a\nB1\nc\n"), one), writes(file("a\nB2\nc\n"), two)}, want: "a\nB1\nc\n", left: "a\nc\n", of: "1",
		},
		{
			name: "a line that is changed back", base: file("a\nb\nc\n"),
			acts: []act{writes(file("a\nB1\nc\n"), one), writes(file("a\nb\nc\n"), two)}, want: "a\nB1\nc\n", left: "a\nb\nc\n", of: "1",
		},
		{
			name: "a new line that is removed", base: file("a\nc\n"),
			acts: []act{writes(file("a\nB1\nc\n"), one), writes(file("a\nc\n"), two)}, want: "a\nB1\nc\n", left: "a\nc\n", of: "1",
		},
		{
			name: "beside an accepted line that is removed", base: file("a\nb\nc\nd\n"),
			acts: []act{writes(file("a\nb\nB1\nc\nd\n"), one), writes(file("a\nd\n"), two)}, want: "a\nb\nB1\nc\nd\n", left: "a\nb\nc\nd\n", of: "1",
		},
		{
			name: "what replaced it is accepted", base: file("a\nb\nc\n"),
			acts: []act{writes(file("a\nB1\nc\n"), one), writes(file("a\nB2\nc\n"), two), accept}, want: "a\nB1\nc\n", left: "a\nB1\nc\n",
		},
		{
			name: "a new file that is changed", base: gone,
			acts: []act{writes(file("a\n"), one), writes(file("a\nb\n"), two)}, want: "a\n", left: "absent", of: "1",
		},
		{
			name: "a new file that is deleted", base: gone,
			acts: []act{writes(file("a\nb\n"), one), writes(gone, two)}, want: "a\nb\n", left: "absent", of: "1",
		},
		{
			name: "a new file that is moved and changed", base: gone,
			acts: []act{writes(file("a\n"), one), moves(two), writes(file("a\nb\n"), two)}, want: "a\n", path: "f", left: "absent", of: "1",
		},
		{
			name: "a new file that is moved, then accepted", base: gone,
			acts: []act{writes(file("a\n"), one), moves(two), accept}, want: "a\n", path: "f", left: "a\n",
		},
		{
			name: "a new file that a person has moved", base: gone,
			acts: []act{writes(file("a\n"), one), moves(nil), writes(file("a\nb\n"), two)}, want: "a\n", path: "g", left: "absent", of: "1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := played(t, c.base, c.acts)
			was := r.Copy()
			d, left, err := r.Rewind(Undone{"s", []string{"2"}})
			require.NoError(t, err)
			require.Equal(t, Left{}, left)
			require.Equal(t, c.want, string(r.Current().Data))
			require.Equal(t, c.path, r.Path())
			require.Equal(t, c.of != "", r.Pending())
			for _, h := range r.Hunks() {
				var of string
				for _, s := range h.Sources {
					of += s.TurnID
				}
				require.Equal(t, c.of, of)
			}
			again := restored(t, r)
			if c.of != "" {
				_, err = again.Decide(ids(again), false, nil)
				require.NoError(t, err)
			}
			if c.left == "absent" {
				require.False(t, again.Current().Exists)
			} else {
				require.Equal(t, c.left, string(again.Current().Data))
			}
			require.NoError(t, r.Undo(d))
			requireSame(t, was, r)
		})
	}
}

// TestRewindOfAWholeFile: that a file goes, or is there again, is one change, however many lines it has.
func TestRewindOfAWholeFile(t *testing.T) {
	for name, c := range map[string]struct{ before, after Content }{
		"created": {Content{}, file("a\nb\nc\n")}, "deleted": {file("a\nb\nc\n"), Content{}},
	} {
		r := New(c.before)
		r.Observe(c.after, by("s", "2"))
		d, _, err := r.Rewind(Undone{Session: "s", Turns: []string{"2"}})
		require.NoError(t, err, name)
		require.Equal(t, c.before.Exists, r.Current().Exists, name)
		require.Equal(t, 1, d.Size(), name)
	}
}

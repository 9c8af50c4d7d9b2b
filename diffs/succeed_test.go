package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAFileMovedOntoADeletedOne has a person move a file to where an agent has deleted another one: what is pending of both stays pending, as
// whose it was.
func TestAFileMovedOntoADeletedOne(t *testing.T) {
	for name, c := range map[string]struct {
		base, mine         Content
		was                Content
		accepted           bool
		want, kept, writes string
	}{
		"pending":         {base: file("p1\np2\n"), was: file("g1\n"), want: "g1\np1\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
		"accepted":        {base: file("p1\np2\n"), was: file("g1\n"), accepted: true, want: "g1\np1\nadded\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
		"without an end":  {base: file("p1\np2\n"), was: file("g1\ng2"), want: "g1\ng2\np1\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
		"a file made":     {was: file("g1\n"), want: "g1\n", kept: "p1\nadded\np2\n", writes: "1 1 1 "},
		"of one line":     {base: file("p1\np2\n"), was: file("p1\n"), want: "p1\np1\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
		"an empty one":    {base: file("p1\np2\n"), was: file(""), want: "p1\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
		"one not of text": {base: file("p1\np2\n"), was: file("\x00"), want: "p1\np2\n", kept: "p1\nadded\np2\n", writes: "- 1 - "},
	} {
		t.Run(name, func(t *testing.T) {
			r, deleted := New(c.base), New(c.was)
			r.Observe(file("p1\nadded\np2\n"), by("s", "1"))
			if c.accepted {
				_, err := r.Decide(hunkIDs(r), true, nil)
				require.NoError(t, err)
			}
			deleted.Observe(Content{}, by("s", "2"))
			r.Rename("d", "g", nil)
			rev := r.Rev()
			r.Succeed(restored(t, deleted))
			require.GreaterOrEqual(t, r.Rev(), rev)
			r = restored(t, r)
			require.Equal(t, c.kept, string(r.Current().Data))
			require.Equal(t, c.writes, writersIn(r.Origins()))
			accepted := r.Copy()
			if accepted.Pending() {
				_, err := accepted.Decide(hunkIDs(accepted), true, nil)
				require.NoError(t, err)
			}
			require.Equal(t, c.kept, string(accepted.Current().Data))
			require.False(t, accepted.Pending())
			back := r.Copy()
			d, err := back.Decide(hunkIDs(back), false, nil)
			require.NoError(t, err)
			require.Equal(t, c.want, string(back.Current().Data))
			require.NoError(t, back.Undo(passed(t, d)))
			requireSame(t, r, back)
			_, _, err = back.Rewind(Undone{"s", []string{"1"}})
			require.NoError(t, err)
			require.NotContains(t, string(back.Current().Data), "added")
		})
	}
}

// TestAFileMovedBackToWhereItWas has an agent copy a file and delete the original, and a person move the copy back: what the original had is
// the person's again. Once the lines were the agent's, and a rewind removed the file.
func TestAFileMovedBackToWhereItWas(t *testing.T) {
	const was = "p1\np2\np3\nmine\n"
	for name, c := range map[string]struct {
		copy          string
		accepted      bool // the copy
		writes, hunks string
		edited        string // by an earlier turn, accepted
	}{
		"as it was":                              {copy: was, writes: "- - - - "},
		"as it was, accepted":                    {copy: was, accepted: true, writes: "- - - - "},
		"with one line changed":                  {copy: "p1\nP2\np3\nmine\n", writes: "- 1 - - ", hunks: "-p2\n+P2\n"},
		"with a line before":                     {copy: "new\n" + was, writes: "1 - - - - ", hunks: "+new\n"},
		"with a line after":                      {copy: was + "new\n", writes: "- - - - 1 ", hunks: "+new\n"},
		"without a line":                         {copy: "p1\np3\nmine\n", writes: "- - - ", hunks: "-p2\n"},
		"of an earlier turn":                     {edited: "p1\np2\n", copy: was, writes: "- - 0 0 "},
		"of an earlier turn, and a line changed": {edited: "p1\np2\n", copy: "p1\np2\np3\nMINE\n", writes: "- - 0 1 ", hunks: "-mine\n+MINE\n"},
	} {
		t.Run(name, func(t *testing.T) {
			deleted, r := New(file(was)), New(Content{})
			if c.edited != "" {
				deleted = New(file(c.edited))
				deleted.Observe(file(was), by("s", "0"))
				_, err := deleted.Decide(hunkIDs(deleted), true, nil)
				require.NoError(t, err)
			}
			r.Observe(file(c.copy), by("s", "1"))
			if c.accepted {
				_, err := r.Decide(hunkIDs(r), true, nil)
				require.NoError(t, err)
			}
			deleted.Observe(Content{}, by("s", "1"))
			r.Rename("copy", "f", nil)
			r.Succeed(restored(t, deleted))
			r = restored(t, r)
			require.Equal(t, c.copy, string(r.Current().Data))
			require.Equal(t, c.writes, writersIn(r.Origins()))
			hunks := ""
			for _, h := range r.Hunks() {
				for _, l := range h.Lines {
					if l[0] != ' ' {
						hunks += l + "\n"
					}
				}
			}
			require.Equal(t, c.hunks, strings.ReplaceAll(hunks, "\n\n", "\n"))
			if back := r.Copy(); back.Pending() {
				_, err := back.Decide(hunkIDs(back), false, nil)
				require.NoError(t, err)
				require.Equal(t, was, string(back.Current().Data))
			}
			back := r.Copy()
			d, _, err := back.Rewind(Undone{"s", []string{"1"}})
			require.Equal(t, was, string(back.Current().Data))
			if err == nil {
				require.NoError(t, back.Undo(passed(t, d)))
				requireSame(t, r, back)
			}
		})
	}
}

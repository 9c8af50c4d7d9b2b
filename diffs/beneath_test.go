package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPutBeneath gives an edit's hunk another old side: what a person's other text has there.
func TestPutBeneath(t *testing.T) {
	for _, c := range []struct {
		name, before, edited string
		from, to             int // the place in edited
		mine, rejected       string
		changed              string // lines of the hunks
	}{
		{"a line that both have changed", "a b c", "a X c", 1, 2, "Y", "a Y c", "-Y +X"},
		{"a line that the person has deleted", "a b c", "a X c", 1, 2, "", "a c", "+X"},
		{"a line that the agent has deleted", "a b c", "a c", 1, 1, "Y", "a Y c", "-Y"},
		{"lines that both have inserted", "a b", "a X b", 1, 2, "Y Z", "a Y Z b", "-Y -Z +X"},
		{"an old line that the person has left", "a b c d", "a X d", 1, 2, "Y c", "a Y c d", "-Y -c +X"},
		{"a line between, which is nobody's", "a b c d e", "a X c Y e", 1, 4, "M", "a M c e", "-M +X +Y"},
		{"a line between, which all have", "a b c d e", "a X c Y e", 1, 4, "M c N", "a M c N e", "-M +X -N +Y"},
		{"the same line", "a b c", "a X c", 1, 2, "X", "a X c", ""},
		{"another place", "a b c", "a X c", 2, 3, "Y", "a b c", "-b +X"},
		{"at the end, without a line end", "a b", "a X", 1, 2, "Y", "a Y", "-Y +X"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(spaced(c.before))
			r.Observe(spaced(c.edited), &Source{TurnID: "t"})
			var mine []string
			for _, l := range strings.Fields(c.mine) {
				mine = append(mine, l+"\n")
			}
			ids := r.PutBeneath(Side{r.Over(c.from, c.to), mine})
			require.Equal(t, spaced(c.edited), r.Current())
			changed := func() string {
				var all []string
				for _, h := range r.Hunks() {
					for _, l := range h.Lines {
						if l[0] != ' ' {
							all = append(all, l)
						}
					}
				}
				return strings.Join(all, " ")
			}
			require.Equal(t, c.changed, changed())
			require.Equal(t, spaced(c.rejected), r.Baseline())
			rewound := func() Content {
				back := r.Copy()
				if _, _, err := back.Rewind(Undone{Turns: []string{"t"}}); err != nil {
					require.ErrorIs(t, err, ErrNotFound)
				}
				return back.Current()
			}
			if len(ids) == 0 {
				return
			}
			require.Equal(t, spaced(c.rejected), rewound())
			sel := selection{atoms: make([]bool, len(r.weave.Atoms))}
			r.add(&sel, ids)
			d, err := r.decide(r.list(), sel, false)
			require.NoError(t, err)
			require.Equal(t, spaced(c.rejected), r.Current())
			r.Observe(spaced(c.rejected+" typed"), nil)
			require.NoError(t, r.Undo(d))
			require.Equal(t, spaced(c.edited+" typed"), r.Current())
			require.Equal(t, c.changed, changed())
			for range 2 {
				require.Equal(t, spaced(c.rejected+" typed"), rewound())
				_, err = r.Redo(d)
				require.NoError(t, err)
				require.Equal(t, spaced(c.rejected+" typed"), r.Current())
				require.Equal(t, spaced(c.rejected+" typed"), rewound())
				require.NoError(t, r.Undo(d))
				require.Equal(t, spaced(c.edited+" typed"), r.Current())
				require.Equal(t, c.changed, changed())
			}
		})
	}
}

// TestRegained: a text that has a line of a rejected hunk again, in its place, has not typed it; and one that has the same words
// elsewhere, has.
func TestRegained(t *testing.T) {
	r := New(spaced("a b } c"))
	r.Observe(spaced("a X } } c"), &Source{TurnID: "t"})
	d, err := r.Decide([]uint64{r.Places()[0].ID}, false, nil)
	require.NoError(t, err)
	for text, want := range map[string]bool{
		"a X } } c typed": true, "a X c": true, "typed a b X } } c": true, "a b } c": false, "a b } c typed": false, "a b c": false, "a b } c X": false,
	} {
		now := spaced(text)
		require.Equal(t, want, r.Regained(d, now, r.Typed(now)), text)
	}
}

// TestUndoOfARejectedDeletionOfAnEditsLine: the accept of a line is undone, and then the reject of its deletion, in that order.
func TestUndoOfARejectedDeletionOfAnEditsLine(t *testing.T) {
	r := New(spaced("a"))
	r.Observe(spaced("a X"), &Source{TurnID: "t"})
	accepted, err := r.Decide([]uint64{r.Places()[0].ID}, true, nil)
	require.NoError(t, err)
	r.Observe(spaced("a Y"), &Source{TurnID: "u"})
	rejected, err := r.Decide([]uint64{r.Places()[0].ID}, false, nil)
	require.NoError(t, err)
	require.NoError(t, r.Undo(accepted))
	require.NoError(t, r.Undo(rejected))
	require.Equal(t, spaced("a Y"), r.Current())
	require.Equal(t, spaced("a"), r.Baseline())
	_, err = Unmarshal(r.Marshal(), r.Baseline().Data, r.Current().Data)
	require.NoError(t, err, "a line is not both added and deleted")
}

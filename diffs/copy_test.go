package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLineEditsMakeOneTextTheOther(t *testing.T) {
	texts := []string{"", "a", "a\n", "a\nb", "a\nb\n", "b\na\n", "a\r\nb\r\n", "a\n\n\nb\n", "x\na\nb\nc\n", "\n"}
	for _, old := range texts {
		for _, now := range texts {
			lines := strings.SplitAfter(old, "\n")
			var b strings.Builder
			at := 0
			for _, e := range LineEdits(old, now) {
				b.WriteString(strings.Join(lines[at:e.From], ""))
				b.WriteString(e.Text)
				at = e.To
			}
			b.WriteString(strings.Join(lines[min(at, len(lines)):], ""))
			require.Equal(t, now, b.String(), "from %q", old)
		}
	}
}

func TestDecideFrom(t *testing.T) {
	text := func(s string) Content { return Content{Exists: true, Data: []byte(s)} }
	src := Source{TurnID: "t", Via: "edit"}
	disk := func() *Review {
		r := New(text("1\n2\n3\n4\n5\n6\n"))
		r.Observe(text("1\nA\nB\nC\n3\n4\n5\n6\nD\n"), &src)
		return r
	}
	for _, c := range []struct {
		name, buffer string
		hunk         int
		base, now    string // the sides of the review on disk
		left         int    // the number of hunks left
	}{
		{"nothing typed", "1\nA\nB\nC\n3\n4\n5\n6\nD\n", 0, "1\nA\nB\nC\n3\n4\n5\n6\n", "1\nA\nB\nC\n3\n4\n5\n6\nD\n", 1},
		{"typed elsewhere", "0\n1\nA\nB\nC\n3\n4\n5\n6\nD\n", 1, "1\n2\n3\n4\n5\n6\nD\n", "1\nA\nB\nC\n3\n4\n5\n6\nD\n", 1},
		{"typed between", "1\nA\nme\nB\nC\n3\n4\n5\n6\nD\n", 1, "1\n2\nB\nC\n3\n4\n5\n6\n", "1\nA\nB\nC\n3\n4\n5\n6\nD\n", 2},
		{"a line deleted", "1\nA\nC\n3\n4\n5\n6\nD\n", 0, "1\nA\nC\n3\n4\n5\n6\n", "1\nA\nB\nC\n3\n4\n5\n6\nD\n", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := disk()
			buffer := r.Copy()
			require.Equal(t, r.Marshal(), buffer.Marshal())
			buffer.Observe(text(c.buffer), nil)
			before := r.shape().sum()
			done, err := r.DecideFrom(buffer, []uint64{buffer.Hunks()[c.hunk].ID}, true, nil)
			require.NoError(t, err)
			require.Equal(t, c.now, string(r.Current().Data))
			require.Equal(t, c.base, string(r.Baseline().Data))
			require.Len(t, r.Hunks(), c.left)
			require.NoError(t, r.Undo(done))
			require.Equal(t, before, r.shape().sum())
		})
	}
	r := disk()
	_, err := r.DecideFrom(r, []uint64{999}, true, nil)
	require.ErrorIs(t, err, ErrNotFound)
	other := r.Copy()
	other.ObserveBaseline(text("0\n1\n2\n3\n4\n5\n6\n"))
	_, err = r.DecideFrom(other, []uint64{other.Hunks()[0].ID}, false, nil)
	require.NoError(t, err)
	require.Equal(t, "1\n2\n3\n4\n5\n6\nD\n", string(r.Current().Data))
}

// TestUndoOfAnAcceptInACopy: a copy accepts a hunk that the review itself has rejected. The undo of this accept leaves the
// file as it is.
func TestUndoOfAnAcceptInACopy(t *testing.T) {
	r := New(Content{Exists: true, Data: []byte("a\nb\nc\n")})
	r.Observe(Content{Exists: true, Data: []byte("a\nB\nc\n")}, &Source{TurnID: "t"})
	c := r.Copy()
	_, err := r.Decide([]uint64{r.Hunks()[0].ID}, false, nil)
	require.NoError(t, err)
	r.Observe(Content{Exists: true, Data: []byte("mine\na\nb\nc\n")}, nil)
	d, err := c.Decide([]uint64{c.Hunks()[0].ID}, true, nil)
	require.NoError(t, err)
	if err := r.Undo(d); err != nil {
		require.ErrorIs(t, err, ErrOvertaken)
	}
	require.Equal(t, "mine\na\nb\nc\n", string(r.Current().Data))
}

// TestRedoWhereALineWasReplaced: a copy in which a person had replaced a line accepts what the agent has put into its place. That is decided
// again in another copy, from before the person's change. The removed line stayed pending there, and then the person's line counted as it.
func TestRedoWhereALineWasReplaced(t *testing.T) {
	text := func(s string) Content { return Content{Exists: true, Data: []byte(s)} }
	r := New(text("1\n2\n3\n"))
	r.Observe(text("1\nA\n3\n"), &Source{TurnID: "t", Via: "edit"})
	buffer := r.Copy()
	buffer.ObserveBaseline(text("1\n2 mine\n3\n"))
	done, err := buffer.Decide([]uint64{buffer.Hunks()[0].ID}, true, nil)
	require.NoError(t, err)
	stem := r.Copy()
	before := stem.shape().sum()
	again, err := stem.Redo(r.ForOthers(done))
	require.NoError(t, err)
	require.Empty(t, stem.Hunks())
	undone := stem.Copy()
	require.NoError(t, undone.Undo(again))
	require.Equal(t, before, undone.shape().sum())
	stem.ObserveBaseline(text("1\n2 mine\nA\n3\n"))
	require.Empty(t, stem.Hunks())

	_, err = stem.Redo(r.ForOthers(done))
	require.ErrorIs(t, err, ErrOvertaken)
}
